/**
 * Importing a stock file through the admin interface, compared with COPY of the same encrypted rows into the same table
 * with its indexes.
 */
import { createWriteStream, openAsBlob } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { type Bench, type Case, type Served, serve, using } from '../bench.ts'
import { memoryOf } from '../processes.ts'
import { compare } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const database = 'bench_import'
const target = 3
const memoryTargetMb = 200
const columns = 'tariff_id, iccid_hash, msisdn, sealed, imported_at, activation_hash'

export const importCase: Case = {
  name: 'import',
  async run(bench) {
    const count = bench.quick ? 100_000 : 1_000_000
    await bench.server.create(database, (await bench.world()).template)
    const file = join(bench.folder, 'profiles.csv')
    await pipeline(Readable.from(profileLines({ count, seed: 2 })), createWriteStream(file))
    return using(serve(bench, database), platform => measure(bench, platform, { file, count }))
  },
}

async function measure(bench: Bench, platform: Served, stock: { file: string; count: number }) {
  const { operatorKey } = await bench.world()
  const copies = join(bench.folder, 'copies')
  // The database server runs as another user, and it must be able to write into this folder.
  await mkdir(copies)
  await chmod(copies, 0o777)
  const sealed = `'${join(copies, 'profiles')}' (format binary)`
  const run = (...statements: string[]) => bench.server.run(database, ...statements)
  const timed = async (work: () => Promise<void>) => {
    await run('truncate profiles', 'checkpoint')
    const start = performance.now()
    await work()
    return (performance.now() - start) / 1000
  }
  const { pid } = platform.child
  const before = memoryOf(pid)
  // Resets the peak of the process's memory.
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})

  const compared = await compare(
    bench.quick ? 1 : 2,
    async () => {
      const seconds = await timed(() => upload(platform, operatorKey, stock))
      await run(`copy (select ${columns} from profiles order by profile_id) to ${sealed}`)
      return seconds
    },
    () => timed(() => run(`copy profiles (${columns}) from ${sealed}`)),
  )
  const { peakMb } = memoryOf(pid)
  const name = `import of ${stock.count.toLocaleString('en')} profiles`
  return [
    {
      name: `${name}, against COPY of the sealed rows`,
      ours: `${compared.ours.toFixed(1)} s`,
      limit: `${compared.limit.toFixed(1)} s`,
      ratio: compared.ratio,
      target: `<= ${target}`,
      pass: compared.ratio <= target,
    },
    {
      name: `${name}: peak memory of the process (${Math.round(before.nowMb)} MB before)`,
      ours: `${Math.round(peakMb)} MB`,
      limit: '',
      ratio: null,
      target: `<= ${memoryTargetMb} MB`,
      pass: peakMb <= memoryTargetMb,
    },
  ]
}

async function upload(platform: Served, operatorKey: string, stock: { file: string; count: number }): Promise<void> {
  const answer = await fetch(`${platform.url}/admin/profiles?operator=${operatorCode}&tariff=${tariffCode}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'text/csv' },
    body: await openAsBlob(stock.file),
  })
  const text = await answer.text()
  if (!text.includes(`"imported":${stock.count}`))
    throw new Error(`The import answered ${answer.status}: ${text.slice(0, 500)}`)
}
