/**
 * The settings (operations.md, "Settings"): the only file that reads the environment. Every setting is read and checked at
 * start, and all faults are told at once, so that nobody mends them one restart at a time.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { parseEnv } from 'node:util'

export const services = ['auth', 'cashback', 'esim', 'portal', 'admin', 'worker'] as const
export type Service = (typeof services)[number]
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type Config = {
  host: string
  port: number
  /** Without a slash at its end. */
  publicUrl: string
  /** null: the embedded server below `dataDir`. */
  databaseUrl: string | null
  databasePool: number
  dataDir: string
  mode: 'sandbox' | 'live'
  sampleData: boolean
  migrateOnStart: boolean
  /** The first seals and signs, all of them open and verify. Empty when the embedded platform has to make its own. */
  masterKeys: Buffer[]
  operatorKey: string | null
  smtpUrl: string | null
  mailFrom: string | null
  redisUrl: string | null
  /** null: switched off. */
  rateLimit: { perSecond: number; burst: number } | null
  openReservations: number
  completeAfterDays: number
  logLevel: (typeof logLevels)[number]
  metrics: { host: string; port: number } | null
  trustedProxies: string[]
}

type Setting = { name: string; byDefault: string; meaning: string }

/** What `perkline help settings` prints, in this order. */
export const settingsHelp: readonly Setting[] = [
  { name: 'HOST', byDefault: '127.0.0.1', meaning: 'address to listen on' },
  { name: 'PORT', byDefault: '8080', meaning: 'port to listen on' },
  { name: 'PUBLIC_URL', byDefault: 'http://HOST:PORT', meaning: 'address that partners see, used in qrCodeUrl' },
  {
    name: 'DATABASE_URL',
    byDefault: 'embedded',
    meaning: 'PostgreSQL 15 or newer: postgres://user:password@host/name',
  },
  { name: 'DATABASE_POOL', byDefault: '10', meaning: 'database connections of one process' },
  { name: 'DATA_DIR', byDefault: './data', meaning: 'folder of the embedded database, the keys and the sandbox mail' },
  { name: 'PERKLINE_MODE', byDefault: 'sandbox if embedded, else live', meaning: 'sandbox or live' },
  { name: 'SAMPLE_DATA', byDefault: '1 if embedded sandbox', meaning: '1: an empty database gets the samples; 0: not' },
  { name: 'MIGRATE_ON_START', byDefault: '1', meaning: '0: only `perkline migrate` changes the schema' },
  {
    name: 'MASTER_KEY',
    byDefault: 'made if embedded',
    meaning: 'base64 of 32 bytes; several with commas: first used, others still read',
  },
  {
    name: 'OPERATOR_KEY',
    byDefault: 'made if embedded',
    meaning: 'key of the admin interface, at least 32 characters',
  },
  {
    name: 'SMTP_URL',
    byDefault: 'none',
    meaning: 'where QR e-mails go: smtp:// or smtps://; none: files in DATA_DIR/mail',
  },
  { name: 'MAIL_FROM', byDefault: 'none', meaning: 'sender of QR e-mails, required with SMTP_URL' },
  { name: 'REDIS_URL', byDefault: 'none', meaning: 'rate limits shared by all processes: redis:// or rediss://' },
  { name: 'RATE_LIMIT', byDefault: '100/200', meaning: 'eSIM requests a second / burst, per bank; 0: off' },
  { name: 'OPEN_RESERVATIONS', byDefault: '10000', meaning: 'live reservations that one bank may hold' },
  { name: 'COMPLETE_AFTER_DAYS', byDefault: '30', meaning: 'wait between compensationReceived and completed' },
  { name: 'LOG_LEVEL', byDefault: 'info', meaning: logLevels.join(', ') },
  { name: 'METRICS_PORT', byDefault: 'none', meaning: 'port of Prometheus /metrics' },
  { name: 'METRICS_HOST', byDefault: '127.0.0.1', meaning: 'address of Prometheus /metrics' },
  {
    name: 'TRUSTED_PROXIES',
    byDefault: 'none',
    meaning: 'addresses or networks, with commas, whose X-Forwarded-For is believed',
  },
]

/** Several faults of the settings, told in one message. */
export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(
      `The settings can't be used:\n${faults.map(fault => `  - ${fault}`).join('\n')}\nSee \`perkline help settings\`.`,
    )
    this.name = 'ConfigError'
  }
}

type Environment = Record<string, string | undefined>

/** The process' environment, with what a `.env` file in the working folder adds to it (the environment wins). */
export function environment(): Environment {
  for (const [name, value] of Object.entries(parseEnv(readDotEnv()))) process.env[name] ??= value ?? ''
  return process.env
}

/** Empty when there is none, or a folder of that name; some editors put a byte-order mark first, which is no part of a name. */
function readDotEnv(): string {
  try {
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EISDIR') return ''
    throw new ConfigError([`.env must be a file that this user may read (${message})`])
  }
}

/**
 * Reads and checks every setting.
 *
 * @throws ConfigError naming all faults at once
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const text = (name: string): string | null => env[name]?.trim() || null

  const whole = (name: string, byDefault: number, min: number, max: number): number => {
    const value = text(name)
    if (value === null) return byDefault
    if (/^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value)
    faults.push(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`)
    return byDefault
  }
  const oneOf = <T extends string>(name: string, byDefault: T, values: readonly T[]): T => {
    const value = text(name) ?? byDefault
    if ((values as readonly string[]).includes(value)) return value as T
    faults.push(`${name} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`)
    return byDefault
  }
  const url = (name: string, protocols: readonly string[]): string | null => {
    const value = text(name)
    if (value === null) return null
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol) && isDecodable(value)) return value
    const starts = protocols.map(protocol => `${protocol}//`).join(' or ')
    // The value itself stays unsaid: it may carry a password.
    faults.push(`${name} must be a URL that starts with ${starts}, with special characters percent-encoded`)
    return null
  }

  const host = text('HOST') ?? '127.0.0.1'
  const port = whole('PORT', 8080, 0, 65535)
  const databaseUrl = url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const embedded = text('DATABASE_URL') === null
  const mode = oneOf('PERKLINE_MODE', embedded ? 'sandbox' : 'live', ['sandbox', 'live'])
  const sampleData = oneOf('SAMPLE_DATA', embedded && mode === 'sandbox' ? '1' : '0', ['0', '1']) === '1'
  if (sampleData && mode === 'live') faults.push('SAMPLE_DATA must be 0 in live mode: samples have public secrets')

  const masterKeys = readMasterKeys(text('MASTER_KEY'), faults)
  const operatorKey = text('OPERATOR_KEY')
  if (operatorKey !== null && !isOperatorKey(operatorKey)) faults.push(operatorKeyFault)
  if (!embedded && text('MASTER_KEY') === null)
    faults.push('MASTER_KEY is required with DATABASE_URL (make one: openssl rand -base64 32)')
  if (!embedded && operatorKey === null)
    faults.push('OPERATOR_KEY is required with DATABASE_URL (make one: openssl rand -hex 32)')

  const smtpUrl = url('SMTP_URL', ['smtp:', 'smtps:'])
  const mailFrom = text('MAIL_FROM')
  if (smtpUrl !== null && mailFrom === null) faults.push('MAIL_FROM is required with SMTP_URL')
  if (mailFrom !== null && !isSender(mailFrom))
    faults.push('MAIL_FROM must be one address, with or without a name, like eSIM <no-reply@bank.example>')

  const shownHost = host.includes(':') ? `[${host}]` : host
  const metricsPort = text('METRICS_PORT') === null ? null : whole('METRICS_PORT', 0, 0, 65535)
  const metrics = metricsPort === null ? null : { host: text('METRICS_HOST') ?? '127.0.0.1', port: metricsPort }
  if (metrics && isTaken(metrics, { host, port }))
    faults.push('METRICS_PORT must be another than PORT, unless METRICS_HOST and HOST are two addresses')
  const config: Config = {
    host,
    port,
    publicUrl: (url('PUBLIC_URL', ['http:', 'https:']) ?? `http://${shownHost}:${port}`).replace(/\/+$/, ''),
    databaseUrl,
    databasePool: whole('DATABASE_POOL', 10, 2, 500),
    dataDir: resolve(text('DATA_DIR') ?? './data'),
    mode,
    sampleData,
    migrateOnStart: oneOf('MIGRATE_ON_START', '1', ['0', '1']) === '1',
    masterKeys,
    operatorKey,
    smtpUrl,
    mailFrom,
    redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
    rateLimit: readRateLimit(text('RATE_LIMIT') ?? '100/200', faults),
    openReservations: whole('OPEN_RESERVATIONS', 10_000, 1, 1_000_000_000),
    completeAfterDays: whole('COMPLETE_AFTER_DAYS', 30, 0, 3650),
    logLevel: oneOf('LOG_LEVEL', 'info', logLevels),
    metrics,
    trustedProxies: readTrustedProxies(text('TRUSTED_PROXIES') ?? '', faults),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

const everyAddress = ['0.0.0.0', '::']
type Address = { host: string; port: number }

/** Port 0 is whichever is free. */
function isTaken(address: Address, other: Address): boolean {
  const isSameHost = address.host === other.host || [address.host, other.host].some(host => everyAddress.includes(host))
  return address.port !== 0 && address.port === other.port && isSameHost
}

const shortestOperatorKey = 32
const operatorKeyFault = `OPERATOR_KEY must have at least ${shortestOperatorKey} characters, of those that a header can carry (ASCII)`
/** It is sent in a header. */
const isOperatorKey = (key: string): boolean => key.length >= shortestOperatorKey && /^[\x20-\x7e]+$/.test(key)

/** Whether it is `address` or `name <address>` on one line; the address itself is read when mail is set up. */
function isSender(text: string): boolean {
  return text.length <= 200 && /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/.test(text)
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url)
    return true
  } catch {
    return false
  }
}

function readMasterKeys(value: string | null, faults: string[]): Buffer[] {
  if (value === null) return []
  return value.split(',').map((part, index) => {
    const key = Buffer.from(part.trim(), 'base64')
    // Decoding passes over what is no base64, so a key with a typing error would become another key.
    const isExact = withoutPadding(key.toString('base64')) === withoutPadding(part.trim())
    if (key.length !== 32 || !isExact)
      faults.push(`MASTER_KEY must be base64 of 32 bytes; its ${ordinal(index)} key is not`)
    return key
  })
}

const withoutPadding = (base64: string): string => base64.replace(/=+$/, '')

const ordinal = (index: number): string => ['first', 'second', 'third'][index] ?? `${index + 1}th`

function readTrustedProxies(value: string, faults: string[]): string[] {
  const networks = value.split(',').flatMap(part => part.trim() || [])
  const wrong = networks.filter(network => !isNetwork(network))
  if (wrong.length > 0)
    faults.push(`TRUSTED_PROXIES must be addresses or networks, like 10.0.0.0/8, with commas; not ${wrong.join(', ')}`)
  return networks
}

function isNetwork(text: string): boolean {
  const [, address = '', , prefix = '1'] = /^([0-9a-fA-F.:]+)(\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return Number(prefix) >= 1 && Number(prefix) <= bits
}

function readRateLimit(value: string, faults: string[]): Config['rateLimit'] {
  if (value === '0') return null
  const [, perSecond, burst] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(value) ?? []
  if (perSecond && burst) return { perSecond: Number(perSecond), burst: Number(burst) }
  faults.push(
    `RATE_LIMIT must be requests a second, a slash and the burst, like 100/200, or 0; not ${JSON.stringify(value)}`,
  )
  return null
}

/**
 * Fills in the keys that the embedded platform makes for itself at its first start (`DATA_DIR/master.key` and
 * `DATA_DIR/operator.key`, mode 600) and keeps ever after.
 */
export function withKeys(config: Config): Config & { operatorKey: string } {
  const kept = (file: string, make: () => string): string => {
    const path = join(config.dataDir, file)
    try {
      if (!existsSync(path)) keepFile(path, `${make()}\n`)
      return readFileSync(path, 'utf8').trim()
    } catch (error) {
      throw new ConfigError([
        `DATA_DIR must be a folder that this user may read and write (${(error as Error).message})`,
      ])
    }
  }
  const faults: string[] = []
  const operatorKey = config.operatorKey ?? kept('operator.key', () => randomBytes(32).toString('hex'))
  if (!isOperatorKey(operatorKey)) faults.push(`${join(config.dataDir, 'operator.key')}: ${operatorKeyFault}`)
  let { masterKeys } = config
  if (masterKeys.length === 0) {
    const keyFaults: string[] = []
    masterKeys = readMasterKeys(
      kept('master.key', () => randomBytes(32).toString('base64')),
      keyFaults,
    )
    faults.push(...keyFaults.map(fault => `${join(config.dataDir, 'master.key')}: ${fault}`))
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return { ...config, operatorKey, masterKeys }
}

/**
 * Makes a file that is whole from the moment it is there, of whichever process was first, and outlives a cut of power: what the
 * database holds cannot be read without its key.
 */
function keepFile(path: string, content: string): void {
  // Others may pass but not list: the embedded database's user has to, when we are root.
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** What the commands that talk to a running platform need: its address and the operator's key. */
export function readClientConfig(env: Environment): { url: string; operatorKey: string } {
  const url = (env.PERKLINE_URL?.trim() || 'http://127.0.0.1:8080').replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new ConfigError([`PERKLINE_URL must be a URL, not ${JSON.stringify(url)}`])
  const given = env.OPERATOR_KEY?.trim()
  if (given) return { url, operatorKey: given }
  const path = join(resolve(env.DATA_DIR?.trim() || './data'), 'operator.key')
  if (!existsSync(path))
    throw new ConfigError([`OPERATOR_KEY is not set, and ${path} is not there: start the platform first, or set it`])
  try {
    return { url, operatorKey: readFileSync(path, 'utf8').trim() }
  } catch (error) {
    throw new ConfigError([
      `OPERATOR_KEY is not set, and this user can't read it from DATA_DIR (${(error as Error).message}): set it, or ` +
        'call perkline as the user that runs the platform',
    ])
  }
}
