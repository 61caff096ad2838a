/** The embedded platform as a newcomer meets it: first start with sample data, later starts, and its memory. */
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
    const starts = { first: [] as number[], later: [] as number[], memory: [] as number[] }
    for (let round = 0; round < (bench.quick ? 1 : 3); round++) {
      const place = await freshPlace(bench, round)
      starts.first.push((await start(place)).seconds)
      for (let again = 0; again < 2; again++) {
        const later = await start(place)
        starts.later.push(later.seconds)
        starts.memory.push(later.memoryMb)
      }
    }
    return [
      seconds('first start, embedded, with sample data', median(starts.first), firstTargetSeconds),
      seconds('later starts, embedded', median(starts.later), laterTargetSeconds),
      {
        name: 'memory after the start, without the database server',
        ours: `${Math.round(median(starts.memory))} MB`,
        limit: '',
        ratio: null,
        target: `<= ${memoryTargetMb} MB`,
        pass: median(starts.memory) <= memoryTargetMb,
      },
    ]
  },
}

const seconds = (name: string, value: number, target: number): Figure => ({
  name,
  ours: `${value.toFixed(2)} s`,
  limit: '',
  ratio: null,
  target: `<= ${target} s`,
  pass: value <= target,
})

/** No data, and no compiled code that an earlier start left behind. */
async function freshPlace(bench: Bench, round: number): Promise<Record<string, string>> {
  const folder = join(bench.folder, `embedded-${round}`)
  await mkdir(join(folder, 'data'), { recursive: true, mode: 0o711 })
  return { DATA_DIR: join(folder, 'data'), NODE_COMPILE_CACHE: join(folder, 'compiled'), SAMPLE_DATA: '1' }
}

async function start(settings: Record<string, string>): Promise<{ seconds: number; memoryMb: number }> {
  const began = performance.now()
  const platform = await startPlatform(settings)
  const took = (performance.now() - began) / 1000
  await sleep(1_000)
  const { nowMb } = memoryOf(platform.child.pid)
  await platform.stop()
  return { seconds: took, memoryMb: nowMb }
}
