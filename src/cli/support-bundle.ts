/** The command `perkline support-bundle`. */
import { rm, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { callAdmin } from './connection.ts'
import { existsError, writeError } from './files.ts'
import { type OutputOptions, print } from './output.ts'
import { tarOf } from './tar.ts'

type Support = { at: string }
type Overview = { campaigns: object; orders: object }

/**
 * `perkline support-bundle FILE.tar.gz`: writes information for support staff, without rows of the database and without
 * secrets. An existing file is not overwritten.
 */
export async function makeSupportBundle(path: string, options: OutputOptions): Promise<void> {
  const support = await callAdmin<Support>({ method: 'GET', path: '/support' })
  const { metrics } = await callAdmin<{ metrics: string }>({ method: 'GET', path: '/support/metrics' })
  const parts = {
    'support.json': support,
    'overview.json': await callAdmin<Overview>({ method: 'GET', path: '/overview' }),
    'stock.json': await callAdmin<object[]>({ method: 'GET', path: '/stock' }),
    'audit.json': await callAdmin<object>({ method: 'GET', path: '/audit/last' }),
  }
  const files = [
    ...Object.entries(parts).map(([name, value]) => ({
      name,
      content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
    })),
    { name: 'metrics.txt', content: Buffer.from(metrics) },
  ]
  const archive = gzipSync(tarOf(files, new Date(support.at)))
  await writeFile(path, archive, { mode: 0o600, flag: 'wx' }).catch(async error => {
    if (error.code === 'EEXIST') throw existsError(path)
    // Remove an incomplete file. Otherwise the next attempt would fail, because it does not overwrite an existing file.
    await rm(path, { force: true }).catch(() => {})
    throw writeError(path, error)
  })
  const names = files.map(({ name }) => name)
  print(options, { file: path, bytes: archive.length, files: names }, [`${path}: ${names.join(', ')}`])
}
