/**
 * Plants secrets in every setting that takes one, through files, as the documents tell operators to do. Nothing that
 * leaves the process may contain them (contract/security.md, "Keys"): logs at trace level, metrics, the support bundle,
 * `/proc/PID/cmdline` and `/proc/PID/environ`.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { settingsHelp } from '../../src/settings/help.ts'
import { secretNames } from '../../src/settings/secret-files.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { bankAt } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { type Settings, sharedSettings, startProcess } from '../support/process.ts'
import { openShop } from '../support/world.ts'

const marker = (): string => `planted${randomBytes(16).toString('hex')}`

/**
 * Settings that contain no secret: switches, numbers, addresses, paths and names. A new setting must be added here or
 * be planted.
 */
const withoutSecret = [
  ...['HOST', 'PORT', 'PUBLIC_URL', 'DATABASE_POOL', 'DATA_DIR', 'PERKLINE_MODE', 'SAMPLE_DATA', 'MIGRATE_ON_START'],
  ...['MAIL_FROM', 'ALLOW_PLAINTEXT', 'RATE_LIMIT', 'API_RATE_LIMIT', 'OPEN_RESERVATIONS', 'RESERVATION_SHARE'],
  ...['PENDING_CAMPAIGNS', 'PENDING_CAMPAIGN_MIB', 'COMPLETE_AFTER_DAYS', 'PLATFORM_MFA', 'IDEMPOTENCY_HOURS'],
  ...['EVENT_RETENTION_DAYS', 'WEBHOOK_CONCURRENCY', 'WEBHOOK_PORTS', 'WEBHOOK_ALLOW_ADDRESSES', 'WEBHOOK_CA_FILE'],
  ...['AUDIT_RETENTION_YEARS', 'AUDIT_ANCHOR_FILE', 'KEEP_REPORT_LINES_DAYS', 'KEEP_SEGMENTS_DAYS', 'KEEP_MSISDN_DAYS'],
  ...['LOG_LEVEL', 'INSTANCE', 'SHUTDOWN_NOTICE', 'SHUTDOWN_LIMIT', 'METRICS_PORT', 'METRICS_HOST', 'ADMIN_PORT'],
  ...['ADMIN_HOST', 'ADMIN_URL', 'TRUSTED_PROXIES'],
]

test('every setting is known to hold a secret, or to hold none', () => {
  const names = settingsHelp.map(({ name }) => name)
  const planted = secretNames.flatMap(name => [name, `${name}_FILE`])
  assert.deepEqual(names.sort(), [...withoutSecret, ...planted].sort())
})

/** Returns the value of each secret setting, and the secrets in it. The test's database server accepts any password. */
function plant(databaseUrl: string): Record<(typeof secretNames)[number], { value: string; secrets: string[] }> {
  const [database, operator, operatorBefore, smtp, redis] = [marker(), marker(), marker(), marker(), marker()]
  const masterKeys = [randomBytes(32), randomBytes(32)]
  return {
    DATABASE_URL: { value: Object.assign(new URL(databaseUrl), { password: database }).href, secrets: [database] },
    // Settings that contain keys get two keys each, as during a key rotation.
    MASTER_KEY: {
      value: masterKeys.map(key => key.toString('base64')).join(','),
      secrets: masterKeys.flatMap(key => [key.toString('base64'), key.toString('base64url'), key.toString('hex')]),
    },
    OPERATOR_KEY: { value: `${operator},${operatorBefore}`, secrets: [operator, operatorBefore] },
    // Nothing listens at these ports, so the log also contains the errors of failed connections.
    SMTP_URL: { value: `smtp://shop:${smtp}@127.0.0.1:1`, secrets: [smtp] },
    REDIS_URL: { value: `redis://:${redis}@127.0.0.1:1`, secrets: [redis] },
  }
}

/** The command line and environment of all processes whose environment names this folder. */
async function processesThatName(folder: string): Promise<string[]> {
  const texts: string[] = []
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name) && name !== String(process.pid))) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
    const environ = await read('environ')
    if (environ.includes(folder)) texts.push(await read('cmdline'), environ)
  }
  return texts
}

test('nothing that was planted is in logs, metrics, the support bundle, command lines or environments', async () => {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-planted-'))
  const planted = plant(database.url)
  const files: Settings = {}
  for (const [name, { value }] of Object.entries(planted)) {
    files[`${name}_FILE`] = join(folder, name)
    await writeFile(join(folder, name), `${value}\n`, { mode: 0o600 })
  }
  const { DATABASE_URL: _1, MASTER_KEY: _2, OPERATOR_KEY: _3, ...rest } = sharedSettings(database.url, folder)
  const metricsPort = String(await freePort())
  const settings: Settings = {
    ...{ ...rest, ...files, MAIL_FROM: 'shop@bank.example', LOG_LEVEL: 'trace', METRICS_PORT: metricsPort },
  }
  const platform = await startProcess(settings)
  try {
    const [operatorKey = ''] = planted.OPERATOR_KEY.secrets
    const admin = async (method: string, path: string, body?: unknown) => {
      const csv = typeof body === 'string' && { raw: body, headers: { 'content-type': 'text/csv' } }
      const answer = await platform.call(method, `/admin${path}`, { token: operatorKey, ...(csv || { body }) })
      assert.ok(answer.status < 300, answer.text)
      return answer.body
    }
    const { alpha, beta } = await openShop({ ...platform, admin }, { profiles: 20, seed: 7_997 })
    const { clientId, secret } = await admin('POST', '/credentials', { bank: 'alpha', role: 'ADMIN', label: 'x' })
    const bank = bankAt(platform, alpha)
    const { orderId } = (await bank.reserve('planted')).body
    const { iccid, activationCode } = (await bank.confirm(orderId)).body.esim
    assert.match(activationCode, /^LPA:1\$/)
    const mailed = (await bankAt(platform, beta).reserve('mailed')).body
    const address = `${marker()}@mail.example`
    await bankAt(platform, beta).confirm(mailed.orderId, address)
    // These requests are refused. The refusal is recorded, but not the wrong secret.
    const wrong = marker()
    await platform.call('POST', '/getToken/auth', { body: { clientId, secret: wrong } })
    await platform.call('GET', '/admin/audit', { token: wrong })
    await admin('GET', '/audit')

    const env = { ...files, PERKLINE_URL: platform.url, OPERATOR_KEY: '' }
    const bundle = join(folder, 'support.tar.gz')
    const told = await perkline(['support-bundle', bundle], { env, cwd: folder })
    assert.equal(told.code, 0, told.stderr)
    const doctor = await perkline(['doctor'], { env: { ...settings, ...env }, cwd: folder })
    const seen: Record<string, string> = {
      bundle: gunzipSync(await readFile(bundle)).toString('latin1'),
      metrics: await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      processes: (await processesThatName(folder)).join('\n'),
      commands: told.stdout + told.stderr + doctor.stdout + doctor.stderr,
    }
    await platform.stop()
    seen.log = platform.output()
    assert.match(seen.log, /"level":"(?:trace|debug)"|"url"|"route"/, 'the log tells much')
    assert.ok(seen.processes?.includes('MASTER_KEY_FILE'), 'the process was found')

    const secrets = Object.entries(planted).flatMap(([name, { secrets }]) => secrets.map(text => [name, text]))
    const ofPartners = Object.entries({
      secret,
      alpha,
      beta,
      address,
      wrong,
      iccid,
      activationCode,
    })
    for (const [what, text] of [...secrets, ...ofPartners] as [string, string][])
      for (const [where, written] of Object.entries(seen)) {
        assert.ok(written.length > 100, `${where} was looked at`)
        assert.ok(!written.includes(text), `${what} is in ${where}`)
      }
  } finally {
    await platform.kill()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
