/** The embedded platform as a new user meets it: the first start with sample data, later starts, and its memory. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Case } from '../bench.ts'
import { startPlatform } from '../platform.ts'
import { memoryOf } from '../processes.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const firstTargetSeconds = 5
const laterTargetSeconds = 1.5
const memoryTargetMb = 150

export const startCase: Case = {
  name: 'start',
  async run(bench) {
    const first: Start[] = []
    const later: Start[] = []
    for (let round = 0; round < (bench.quick ? 1 : 3); round++) {
      const place = await freshPlace(bench, round)
      first.push(await start(place))
      later.push(await start(place), await start(place))
    }
    return [
      ...figures('first start, embedded, with sample data', first, firstTargetSeconds),
      ...figures('later starts, embedded', later, laterTargetSeconds),
    ]
  },
}

type Start = { seconds: number; memoryMb: number }

function figures(name: string, starts: Start[], targetSeconds: number): Figure[] {
  const took = median(starts.map(({ seconds }) => seconds))
  const memoryMb = Math.round(median(starts.map(({ memoryMb }) => memoryMb)))
  const plain = { limit: '', ratio: null }
  return [
    { name, ours: `${took.toFixed(2)} s`, ...plain, target: `<= ${targetSeconds} s`, pass: took <= targetSeconds },
    {
      name: `${name}: memory, without the database server`,
      ours: `${memoryMb} MB`,
      ...plain,
      target: `<= ${memoryTargetMb} MB`,
      pass: memoryMb <= memoryTargetMb,
    },
  ]
}

/** The settings of a first start, in a folder without data and without compiled code from an earlier start. */
async function freshPlace(bench: Bench, round: number): Promise<Record<string, string>> {
  const folder = join(bench.folder, `embedded-${round}`)
  await mkdir(join(folder, 'data'), { recursive: true, mode: 0o711 })
  return { DATA_DIR: join(folder, 'data'), NODE_COMPILE_CACHE: join(folder, 'compiled'), SAMPLE_DATA: '1' }
}

async function start(settings: Record<string, string>): Promise<Start> {
  const began = performance.now()
  const platform = await startPlatform(settings)
  const took = (performance.now() - began) / 1000
  await sleep(1_000)
  const { nowMb } = memoryOf(platform.child.pid)
  await platform.stop()
  return { seconds: took, memoryMb: nowMb }
}
