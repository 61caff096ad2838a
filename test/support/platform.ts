/**
 * A whole platform for a test file: its own database, its own port, the real HTTP server. `call` sends requests as a
 * partner's backend would.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { profileLines } from '../../samples/make-profiles.ts'
import { issueCredential } from '../../src/access/operations.ts'
import { type Config, readConfig, type Service } from '../../src/config.ts'
import { importProfiles } from '../../src/esim/stock/operations.ts'
import { createLogger, type Logger } from '../../src/log.ts'
import { applyDirectory } from '../../src/partners/operations.ts'
import { createPlatform, type Platform } from '../../src/server/platform.ts'
import { createTestDatabase } from './database.ts'
import { platformPort, returnPort } from './free-port.ts'

export type Answer = { status: number; headers: Headers; text: string; body: any }
export type CallOptions = {
  token?: string | null
  body?: unknown
  raw?: string | Uint8Array
  headers?: Record<string, string>
}

export type TestPlatform = {
  url: string
  config: Config & { operatorKey: string }
  platform: Platform
  dataDir: string
  databaseUrl: string
  /** A request of a partner; `body` is sent as JSON, `raw` unchanged. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** A fresh token of a new credential. */
  bankToken(bank?: string, role?: 'ADMIN' | 'EDITOR' | 'VIEWER'): Promise<string>
  merchantToken(merchant?: string): Promise<string>
  /** A second platform on the same database, like another process. */
  sibling(settings?: Record<string, string>): Promise<TestPlatform>
  /**
   * Applies a directory. Before that, sets some fields of all entries to their defaults, because the directory may leave out
   * what an earlier test has changed.
   */
  applyDirectory(yaml: string): Promise<void>
  /** Loads this many new profiles. */
  addStock(operatorCode: string, tariffCode: string, count: number): Promise<void>
  close(): Promise<void>
}

/**
 * Three banks, two merchants and two mobile operators. The platform mails QR codes to the customers of beta (`qr_email`),
 * but not to those of alpha and gamma (`local`). Gamma sells the tariffs of only one operator.
 */
export const testDirectory = `
countries:
  - { code: UA, name: Ukraine, currency: { code: UAH, name: Hryvnia, symbol: ₴, icon: "" } }
paymentSystems:
  - { code: visa, name: Visa }
banks:
  - { code: alpha, name: Alpha Bank, logoUrl: https://alpha.example/logo.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }
  - { code: beta, name: Beta Bank, logoUrl: https://beta.example/logo.svg, apiVersion: "1.0", esim: { deliveryMode: qr_email, operators: all } }
  - { code: gamma, name: Gamma Bank, logoUrl: https://gamma.example/logo.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: [kyivstar] } }
merchants:
  - { code: grocer, name: Гросер, nameEn: Grocer }
  - { code: voltshop, name: Вольт }
esim:
  operators:
    - code: kyivstar
      nameUk: Київстар
      nameEn: Kyivstar
      logoUrl: https://kyivstar.example/logo.svg
      country: UA
      tariffs:
        - { code: eu-10gb, name: Europe 10 GB, description: Ten, price: 399.00, currency: UAH, dataVolumeMb: 10240, validityDays: 30 }
        - { code: ua-5gb, name: Ukraine 5 GB, description: Five, price: 199.90, currency: UAH, dataVolumeMb: 5120, validityDays: 14 }
        - { code: off, name: Switched off, price: 1, currency: UAH, validityDays: 1, onSale: false }
        - { code: empty, name: Without stock, price: 1, currency: UAH, validityDays: 1 }
    - code: roamwide
      nameUk: Роамвайд
      country: global
      tariffs:
        - { code: world, name: World, price: 25.5, currency: EUR, dataUnlimited: true, validityDays: 7 }
`

const directoryDefaults = [
  `update banks set status = 'active', esim_time_zone = 'UTC', esim_commission_percentage = 0`,
  `update merchants set status = 'active'`,
  `update mobile_operators set status = 'active', logo_url = null`,
  `update tariffs set on_sale = true, description = '', data_volume_mb = 0, data_unlimited = false, voice_minutes = 0,
     voice_unlimited = false, sms_count = 0, sms_unlimited = false`,
]

let nextSeed = 1

type StartOptions = { only?: Service[]; logger?: Logger; prepare?: (platform: Platform) => Promise<void> }

/**
 * @param settings environment variables; they add to the defaults of the tests or replace them
 * @param options.directory the directory to apply before the start; null: none
 * @param options.user the user of the database server
 * @param options.prepare runs before the platform's jobs start
 */
export async function startPlatform(
  settings: Record<string, string> = {},
  options: StartOptions & { directory?: string | null; user?: string } = {},
): Promise<TestPlatform> {
  const database = await createTestDatabase()
  const url = options.user ? Object.assign(new URL(database.url), { username: options.user }).href : database.url
  const dataDir = await mkdtemp(join(tmpdir(), 'perkline-platform-'))
  const env = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PERKLINE_MODE: 'sandbox',
    MASTER_KEY: randomBytes(32).toString('base64'),
    OPERATOR_KEY: randomBytes(32).toString('hex'),
    RATE_LIMIT: '0',
    API_RATE_LIMIT: '0',
    DATABASE_POOL: '6',
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const first = await start(env, options)
  const close = first.close
  const directory = options.directory === undefined ? testDirectory : options.directory
  if (directory !== null) await first.applyDirectory(directory)
  return {
    ...first,
    async close() {
      await close()
      returnPort(first.config.port)
      await database.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function start(env: Record<string, string>, options: StartOptions = {}): Promise<TestPlatform> {
  const port = await platformPort()
  const config = readConfig({ ...env, PORT: String(port) }) as Config & { operatorKey: string }
  const logger = options.logger ?? createLogger(config.logLevel)
  const platform = await createPlatform(config, logger, options.only ?? null)
  await options.prepare?.(platform)
  platform.startJobs()
  await platform.app.listen({ port, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${port}`

  const call: TestPlatform['call'] = async (method, path, { token, body, raw, headers = {} } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...((body !== undefined || raw !== undefined) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(raw !== undefined && { body: raw as string }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const text = bytes.toString()
    const json = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text !== '' ? JSON.parse(text) : bytes,
    }
  }
  const tokenOf = async (
    partner: { bank: string } | { merchant: string },
    role: 'ADMIN' | 'EDITOR' | 'VIEWER' | 'gateway',
  ) => {
    const issued = await issueCredential({ database: platform.database }, { partner, role, label: 'test' })
    const answer = await call('POST', '/getToken/auth', { body: issued })
    return answer.body.access_token as string
  }
  const { admin } = platform.deps

  return {
    url,
    config,
    platform,
    dataDir: env.DATA_DIR ?? '',
    databaseUrl: env.DATABASE_URL ?? '',
    call,
    bankToken: (bank = 'alpha', role = 'ADMIN') => tokenOf({ bank }, role),
    merchantToken: (merchant = 'grocer') => tokenOf({ merchant }, 'gateway'),
    sibling: (settings = {}) => start({ ...env, ...settings }, options),
    async applyDirectory(yaml) {
      for (const statement of directoryDefaults) await platform.database.execute(statement)
      await applyDirectory(admin, { directory: yaml, files: new Map(), dryRun: false })
      await admin.catalogue.refresh()
      await admin.refusals.refresh()
    },
    async addStock(operatorCode, tariffCode, count) {
      const tariff = admin.catalogue.operatorByCode(operatorCode)?.tariffs.get(tariffCode)
      if (!tariff) throw new Error(`No tariff ${tariffCode}`)
      const source = Readable.from(profileLines({ count, seed: nextSeed++ }))
      await importProfiles(admin, { tariffId: tariff.tariffId, source, skipInvalid: false })
    },
    close: () => platform.close(),
  }
}
