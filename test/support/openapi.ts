/**
 * The OpenAPI documents as the platform serves them. `node test/support/openapi.ts` rewrites the snapshots in
 * `docs/openapi/`, so that changes of the contract are visible in a review.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startPlatform } from './platform.ts'

const publicUrl = 'http://127.0.0.1:8080'
const folder = new URL('../../docs/openapi/', import.meta.url)

/** The file of each document, and the address of its page. */
export const documents = [
  { file: 'perkline.json', page: '/swagger' },
  { file: 'esim-sales.json', page: '/esim/v1/swagger' },
  { file: 'partner.json', page: '/partner/v1/swagger' },
  { file: 'operator.json', page: '/admin/swagger' },
] as const

export const snapshotUrl = (file: string): URL => new URL(file, folder)

/** The documents as text, in the form of the snapshots. */
export async function readDocuments(): Promise<Map<string, string>> {
  const platform = await startPlatform({ PUBLIC_URL: publicUrl }, { directory: null })
  try {
    const texts = new Map<string, string>()
    for (const { file, page } of documents) {
      const { status, body } = await platform.call('GET', `${page}/json`, { token: platform.config.operatorKey })
      if (status !== 200) throw new Error(`${page}/json answers ${status}`)
      texts.set(file, `${JSON.stringify(body, null, 2)}\n`)
    }
    return texts
  } finally {
    await platform.close()
  }
}

/**
 * Runs the linter on the snapshots, with the rules of `redocly.yaml`.
 * @returns its exit code and its output
 */
export function lint(): { status: number | null; output: string } {
  const paths = documents.map(({ file }) => fileURLToPath(snapshotUrl(file)))
  const program = fileURLToPath(new URL('../../node_modules/.bin/redocly', import.meta.url))
  const { status, stdout, stderr } = spawnSync(program, ['lint', ...paths], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return { status, output: stdout + stderr }
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of await readDocuments()) writeFileSync(snapshotUrl(file), text)
  const { status, output } = lint()
  console.log(output)
  if (status !== 0) {
    console.log('If an example is wrong: run `npm run examples`, then this again.')
    process.exitCode = 1
  }
}
