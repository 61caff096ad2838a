/**
 * Runs each `perkline` command and each SQL statement of the runbook (docs/runbook.md) against a running platform.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { perkline } from '../support/command.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { startShippedProxy } from '../support/shipped-proxy.ts'
import { openShop } from '../support/world.ts'

const run = promisify(execFile)
const page = await readFile(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const fences = (kind: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text)
const commands = new Set(
  [...page.matchAll(/`(perkline [^`]+)`/g)].map(([, command = '']) => command.replaceAll(/\s+/g, ' ')),
)
/** The page names these commands without their arguments. All others on the page are complete. */
const named = ['perkline credentials revoke', 'perkline users disable', 'perkline customers forget']

suite('the runbook', () => {
  let database: TestDatabase
  let folder: string
  let platform: PerklineProcess
  let settings: Settings
  let clientId: string
  /** The certificate that commands trust. */
  let authorities = ''

  before(async () => {
    database = await createTestDatabase()
    folder = await mkdtemp(join(tmpdir(), 'perkline-runbook-'))
    settings = { ...sharedSettings(database.url, folder), METRICS_PORT: String(await freePort()), LOG_LEVEL: 'error' }
    settings.PORT = String(await freePort())
    settings.PUBLIC_URL = `http://127.0.0.1:${settings.PORT}`
    platform = await startProcess(settings)
    await openShop(platform, { profiles: 20, seed: 7_998 })
    const partner = { bank: 'alpha', role: 'ADMIN', label: 'leaked' }
    clientId = (await platform.admin('POST', '/credentials', partner)).clientId
    await platform.admin('GET', '/audit')
    await writeFile(join(folder, 'customers.csv'), 'customerId\n4501\n')
    await run(
      process.execPath,
      [
        join(fileURLToPath(new URL('../../samples/', import.meta.url)), 'make-profiles.ts'),
        '--count',
        '5',
        '--seed',
        '4001',
      ],
      { encoding: 'utf8' },
    ).then(({ stdout }) => writeFile(join(folder, 'profiles.csv'), stdout))
  })
  after(async () => {
    await platform.kill()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The test's database server does not wait for the disk, and the doctor reports these settings. */
  const withoutDisk = / postgresql-(?:fsync|full_page_writes|synchronous_commit):/
  const shell = async (lines: string) => {
    const answer = await runShell(lines.replaceAll(/perkline doctor$/gm, 'perkline doctor || true'))
    const failed = answer.stdout.split('\n').filter(line => line.startsWith('FAIL') && !withoutDisk.test(line))
    assert.deepEqual(failed, [])
    return answer
  }
  const runShell = (lines: string) =>
    run('sh', ['-ec', lines.replaceAll(/(?<![\w/])perkline (?=[a-z])/g, `${program} `)], {
      cwd: folder,
      env: { ...settings, PATH: process.env.PATH ?? '', PERKLINE_URL: platform.url, NODE_EXTRA_CA_CERTS: authorities },
    })

  /** Starts the shipped proxy in front of the platform. @returns the address that partners use */
  const outside = async (t: TestContext): Promise<string> => {
    await run(join(fileURLToPath(new URL('../../deploy/container/', import.meta.url)), 'make-secrets'), [folder])
    const tlsFile = join(folder, 'tls.pem')
    const ports = [settings.PORT ?? '', settings.PORT ?? ''] as const
    const port = await freePort()
    const proxy = await startShippedProxy({ folder, port, tlsFile, serving: ports, staff: ports })
    t.after(proxy.close)
    const url = `https://localhost:${port}`
    authorities = tlsFile
    await until('the proxy leads to the platform', async () => {
      const asked = await perkline(['health', '--ready', '--url', url], { env: { NODE_EXTRA_CA_CERTS: tlsFile } })
      return asked.code === 0
    })
    return url
  }

  test('from outside, only whether a process is ready can be asked', () => {
    const asked = page.split('\n').filter(line => line.includes('--url'))
    assert.equal(asked.length, 2)
    for (const line of asked) assert.match(line, /health --ready --url/)
  })

  for (const command of [...commands].filter(each => !named.includes(each)))
    test(command, async t => {
      const isOutside = command.includes('https://…')
      if (isOutside && !(requireProgram(t, 'haproxy') && requireProgram(t, 'openssl'))) return
      const filled = command
        .replace('https://…', isOutside ? await outside(t) : '')
        .replace('FILE.csv --operator CODE --tariff CODE', 'profiles.csv --operator kyivstar --tariff eu-10gb')
        .replace('CLIENT_ID', clientId)
        .replace('export ID --bank CODE', 'export 4501 --bank alpha')
        .replace('FILE --bank CODE', 'customers.csv --bank alpha')
      assert.doesNotMatch(filled, /…|\b[A-Z]{4,}\b(?!:)/, 'every placeholder was filled')
      await shell(filled)
    })

  test('the lines for each alert', async () => {
    for (const lines of fences('sh')) {
      const here = lines
        .replace(/^export .*$/m, '')
        .replaceAll('http://127.0.0.1:9183', `http://127.0.0.1:${settings.METRICS_PORT}`)
      const { stdout } = await shell(here)
      assert.notEqual(stdout.trim(), '', lines)
    }
  })

  test('each statement of SQL', async () => {
    const statements = fences('sql')
    assert.ok(statements.length > 2)
    for (const statement of statements) await database.database.query(statement)
  })
})
