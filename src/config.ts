/**
 * The settings (contract/operations.md, "Settings"). This is the only file that reads the environment. Every setting is
 * checked at the start, and all errors are reported at once, so that one restart is enough to fix them.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import process from 'node:process'
import { parseEnv } from 'node:util'
import { mfaRules } from './access/policy/policy-store.ts'
import { plaintextErrors, sslModeErrors } from './settings/encryption.ts'
import { logLevels, settingsHelp } from './settings/help.ts'
import { keepMasterKey, keepOperatorKey, masterKeyFile, operatorKeyFile } from './settings/key-files.ts'
import { isOperatorKey, operatorKeyError, readMasterKeys, splitKeys } from './settings/keys.ts'
import { isSecretGiven, readSecret, type SecretName, secretNames } from './settings/secret-files.ts'
import { createReaders } from './settings/values.ts'

export const services = ['auth', 'cashback', 'esim', 'partner', 'portal', 'admin', 'worker'] as const
export type Service = (typeof services)[number]

export type Config = {
  host: string
  port: number
  /** Without a slash at the end. */
  publicUrl: string
  /** The address of the portal for the platform's own people, without a slash at the end. */
  staffUrl: string
  /** The address of the database; null: the embedded server in `dataDir` is used. */
  databaseUrl: string | null
  databasePool: number
  dataDir: string
  mode: 'sandbox' | 'live'
  sampleData: boolean
  migrateOnStart: boolean
  /**
   * The first key encrypts and signs; all keys decrypt and verify. The list is empty when the embedded platform has
   * to make its own key.
   */
  masterKeys: Buffer[]
  /** The key that commands on this machine send; null when the embedded platform has to make its own key. */
  operatorKey: string | null
  /** Further accepted keys, so that the key can be changed without downtime. */
  furtherOperatorKeys: string[]
  smtpUrl: string | null
  mailFrom: string | null
  redisUrl: string | null
  /** Limit of eSIM requests per bank; null: switched off. */
  rateLimit: { perSecond: number; burst: number } | null
  /** Limit for all APIs except eSIM: per account, or per address for requests without a token; null: switched off. */
  apiRateLimit: { perSecond: number; burst: number } | null
  openReservations: number
  /** The share of a tariff's unsold stock that one bank may have reserved, in per cent. */
  reservationShare: number
  /** The maximum number of pending campaigns of a merchant: campaigns that no bank has approved yet. */
  pendingCampaigns: number
  /**
   * The maximum total size, in MiB, of a merchant's pending campaigns as banks receive them: with terminals, banners
   * and other terms.
   */
  pendingCampaignMib: number
  completeAfterDays: number
  webhooks: WebhookSettings
  /** Days that events are kept (contract/events.md, "The feed"). */
  eventRetentionDays: number
  /** How long the first answer is kept for an Idempotency-Key, in real time. */
  idempotencyHours: number
  /** The rule for second factors of the platform's own users, until the platform sets a policy. */
  platformMfa: (typeof mfaRules)[number]
  /** Years for which entries of the audit log are kept. */
  auditYears: number
  /** The file that checkpoints of the audit log are appended to. */
  auditAnchorFile: string | null
  retention: Retention
  logLevel: (typeof logLevels)[number]
  metrics: Address | null
  /** The address of the admin interface and the staff's portal; null: they are served at `host` and `port`. */
  admin: Address | null
  trustedProxies: string[]
  shutdown: Shutdown
  /** The names of the settings that are set, for support. */
  settingsGiven: string[]
  /** Distinguishes this process from others in logs and metrics. */
  instance: Instance
}

/** The time limits of a process that is told to end (contract/operations.md, "Settings"). */
export type Shutdown = {
  /** How long a load balancer may take to notice that this process is no longer ready. */
  noticeMs: number
  /** How long running requests may take to finish. */
  limitMs: number
}

export type Instance = {
  name: string
  /** Whether INSTANCE sets the name. Otherwise, it is the machine's name. */
  isGiven: boolean
}

/** The settings for requests to webhook endpoints (contract/webhooks.md, "Addresses"). */
export type WebhookSettings = {
  /** Maximum simultaneous requests of a process. */
  concurrency: number
  ports: number[]
  /** Networks that may be called in addition to public ones. */
  allowedAddresses: string[]
  /** PEM file of further certificate authorities. */
  caFile: string | null
}

type Address = { host: string; port: number }

/** The number of days for which personal data is kept; null: forever (contract/security.md, "Personal data"). */
export type Retention = {
  /** Lines and files of reports are kept for this many days after the end of their campaign. */
  reportLinesDays: number | null
  /** Segments are kept for this many days after the end of their campaign. */
  segmentsDays: number | null
  /** Phone numbers are kept for this many days after the order. */
  msisdnDays: number | null
}

/** All errors of the settings, in one message. */
export class ConfigError extends Error {
  constructor(errors: string[]) {
    super(
      `The settings can't be used:\n${errors.map(error => `  - ${error}`).join('\n')}\nSee \`perkline help settings\`.`,
    )
    this.name = 'ConfigError'
  }
}

export type Environment = Record<string, string | undefined>

/**
 * The environment that the process was started with. Commands that call a running platform do not read `.env`, because
 * it may belong to another project.
 */
export const processEnvironment = (): Environment => process.env

/** Whether npm started this process, as `npm start` and `npx` do. */
export const startedByNpm = (env: Environment): boolean => env.npm_command !== undefined

/**
 * Returns the environment of the process. Variables that are not set there come from the `.env` file in the working
 * folder.
 */
export function environment(): Environment {
  for (const [name, value] of Object.entries(parseEnv(readDotEnv()))) process.env[name] ??= value ?? ''
  return process.env
}

/**
 * Reads the `.env` file. Returns an empty text when there is no such file, or when `.env` is a folder. Some editors
 * write a byte-order mark at the beginning of a file, so it is removed.
 */
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
 * @throws ConfigError with all errors at once
 */
export function readConfig(env: Environment): Config {
  const errors: string[] = []
  const input = givenText(env)
  const secrets = new Map<string, string | null>(secretNames.map(name => [name, readSecret(name, input, errors)]))
  const text = (name: string): string | null => (secrets.has(name) ? (secrets.get(name) ?? null) : input(name))
  const source: Source = { ...createReaders(text, errors), text, isGiven: name => isSecretGiven(name, input), errors }
  const { whole, duration, oneOf, url, rateLimit } = source

  const listening = { host: text('HOST') ?? '127.0.0.1', port: whole('PORT', 8080, 0, 65535) }
  const databaseUrl = url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const { mode, sampleData } = readMode(source)
  const keys = readKeys(source)
  const mail = readMail(source)
  const ownAddresses = readOwnAddresses(source, listening)
  const publicUrl = readOwnUrl(source, 'PUBLIC_URL') ?? defaultUrl(listening)
  const redisUrl = url('REDIS_URL', ['redis:', 'rediss:'])
  const allowsPlaintext = oneOf('ALLOW_PLAINTEXT', '0', ['0', '1']) === '1'
  errors.push(...sslModeErrors(databaseUrl))
  if (mode === 'live')
    errors.push(...encryptionErrors(env, { databaseUrl, smtpUrl: mail.smtpUrl, redisUrl, allowsPlaintext }))
  const auditAnchorFile = text('AUDIT_ANCHOR_FILE')
  const config: Config = {
    ...listening,
    publicUrl,
    staffUrl: readOwnUrl(source, 'ADMIN_URL') ?? (ownAddresses.admin ? defaultUrl(ownAddresses.admin) : publicUrl),
    databaseUrl,
    databasePool: whole('DATABASE_POOL', 10, 2, 500),
    dataDir: resolve(text('DATA_DIR') ?? './data'),
    mode,
    sampleData,
    migrateOnStart: oneOf('MIGRATE_ON_START', '1', ['0', '1']) === '1',
    ...keys,
    ...mail,
    redisUrl,
    rateLimit: rateLimit('RATE_LIMIT', '100/200'),
    apiRateLimit: rateLimit('API_RATE_LIMIT', '50/100'),
    ...readQuotas(source),
    completeAfterDays: whole('COMPLETE_AFTER_DAYS', 30, 0, 3650),
    idempotencyHours: whole('IDEMPOTENCY_HOURS', 24, 1, 168),
    auditYears: whole('AUDIT_RETENTION_YEARS', 7, 1, 30),
    auditAnchorFile: auditAnchorFile === null ? null : resolve(auditAnchorFile),
    eventRetentionDays: whole('EVENT_RETENTION_DAYS', 30, 7, 400),
    platformMfa: oneOf('PLATFORM_MFA', mode === 'live' ? 'required' : 'optional', mfaRules),
    webhooks: readWebhooks(source),
    retention: readRetention(source),
    logLevel: oneOf('LOG_LEVEL', 'info', logLevels),
    ...ownAddresses,
    trustedProxies: readNetworks('TRUSTED_PROXIES', text('TRUSTED_PROXIES') ?? '', errors),
    shutdown: {
      // In a sandbox there is no load balancer to notify.
      noticeMs: duration('SHUTDOWN_NOTICE', mode === 'live' ? 'PT3S' : 'PT0S'),
      limitMs: duration('SHUTDOWN_LIMIT', 'PT30S'),
    },
    settingsGiven: settingsHelp.flatMap(({ name }) => (input(name) === null ? [] : name)),
    instance: { name: readInstance(text('INSTANCE'), errors), isGiven: text('INSTANCE') !== null },
  }
  if (errors.length > 0) throw new ConfigError(errors)
  return config
}

/**
 * Errors of settings that would send data without encryption or without checking certificates. Only live mode has these
 * errors.
 */
function encryptionErrors(
  env: Environment,
  urls: { databaseUrl: string | null; smtpUrl: string | null; redisUrl: string | null; allowsPlaintext: boolean },
): string[] {
  const errors: string[] = []
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    errors.push('NODE_TLS_REJECT_UNAUTHORIZED must not be 0: no certificate would be checked, webhooks included')
  if (!urls.allowsPlaintext) errors.push(...plaintextErrors({ ...urls, databaseHost: env.PGHOST }))
  return errors
}

const readQuotas = ({ whole }: Source) => ({
  openReservations: whole('OPEN_RESERVATIONS', 10_000, 1, 1_000_000_000),
  reservationShare: whole('RESERVATION_SHARE', 100, 1, 100),
  pendingCampaigns: whole('PENDING_CAMPAIGNS', 200, 1, 1_000_000),
  pendingCampaignMib: whole('PENDING_CAMPAIGN_MIB', 64, 1, 1_000_000),
})

const readWebhooks = ({ whole, text, errors }: Source): Config['webhooks'] => ({
  concurrency: whole('WEBHOOK_CONCURRENCY', 100, 1, 1_000),
  ports: readPorts(text('WEBHOOK_PORTS') ?? '443,8443', errors),
  allowedAddresses: readNetworks('WEBHOOK_ALLOW_ADDRESSES', text('WEBHOOK_ALLOW_ADDRESSES') ?? '', errors),
  caFile: text('WEBHOOK_CA_FILE'),
})

const readRetention = ({ days }: Source): Config['retention'] => ({
  reportLinesDays: days('KEEP_REPORT_LINES_DAYS'),
  segmentsDays: days('KEEP_SEGMENTS_DAYS'),
  msisdnDays: days('KEEP_MSISDN_DAYS'),
})

/** The functions with which the parts of `readConfig` read single settings. */
type Source = ReturnType<typeof createReaders> & {
  /** The text of a setting, or of the file that contains a secret; null when it is not set. */
  text(name: string): string | null
  isGiven(name: SecretName): boolean
  /** Collects all errors, in the order of reading. */
  errors: string[]
}

function readMode({ oneOf, isGiven, errors }: Source): Pick<Config, 'mode' | 'sampleData'> {
  const embedded = !isGiven('DATABASE_URL')
  const mode = oneOf('PERKLINE_MODE', embedded ? 'sandbox' : 'live', ['sandbox', 'live'])
  const sampleData = oneOf('SAMPLE_DATA', embedded && mode === 'sandbox' ? '1' : '0', ['0', '1']) === '1'
  if (sampleData && mode === 'live') errors.push('SAMPLE_DATA must be 0 in live mode: samples have public secrets')
  return { mode, sampleData }
}

function readKeys({
  text,
  isGiven,
  errors,
}: Source): Pick<Config, 'masterKeys' | 'operatorKey' | 'furtherOperatorKeys'> {
  const embedded = !isGiven('DATABASE_URL')
  const masterKeys = readMasterKeys(text('MASTER_KEY'), errors)
  const [operatorKey = null, ...furtherOperatorKeys] = splitKeys(text('OPERATOR_KEY'))
  if ([operatorKey, ...furtherOperatorKeys].some(key => key !== null && !isOperatorKey(key)))
    errors.push(operatorKeyError)
  if (!embedded && !isGiven('MASTER_KEY'))
    errors.push('MASTER_KEY is required with DATABASE_URL (make one: openssl rand -base64 32)')
  if (!embedded && !isGiven('OPERATOR_KEY'))
    errors.push('OPERATOR_KEY is required with DATABASE_URL (make one: openssl rand -hex 32)')
  return { masterKeys, operatorKey, furtherOperatorKeys }
}

function readMail({ text, url, errors }: Source): Pick<Config, 'smtpUrl' | 'mailFrom'> {
  const smtpUrl = url('SMTP_URL', ['smtp:', 'smtps:'])
  const mailFrom = text('MAIL_FROM')
  if (smtpUrl !== null && mailFrom === null) errors.push('MAIL_FROM is required with SMTP_URL')
  if (mailFrom !== null && !isSender(mailFrom))
    errors.push('MAIL_FROM must be one address, with or without a name, like eSIM <no-reply@bank.example>')
  return { smtpUrl, mailFrom }
}

/** The addresses of metrics and of the admin interface. @param listening the address of everything else */
function readOwnAddresses({ text, whole, errors }: Source, listening: Address): Pick<Config, 'metrics' | 'admin'> {
  const address = (name: 'METRICS' | 'ADMIN'): Address | null =>
    text(`${name}_PORT`) === null
      ? null
      : { host: text(`${name}_HOST`) ?? '127.0.0.1', port: whole(`${name}_PORT`, 0, 0, 65535) }
  const [metrics, admin] = [address('METRICS'), address('ADMIN')]
  if (metrics && isTaken(metrics, listening))
    errors.push('METRICS_PORT must be another than PORT, unless METRICS_HOST and HOST are two addresses')
  if (admin && isTaken(admin, listening))
    errors.push('ADMIN_PORT must be another than PORT, unless ADMIN_HOST and HOST are two addresses')
  if (admin && metrics && isTaken(admin, metrics))
    errors.push('ADMIN_PORT must be another than METRICS_PORT, unless ADMIN_HOST and METRICS_HOST are two addresses')
  return { metrics, admin }
}

/**
 * Returns an address of the platform, or null when it is not set. It has no slash at its end, because paths are
 * appended to it.
 */
function readOwnUrl({ url, errors }: Source, name: 'PUBLIC_URL' | 'ADMIN_URL'): string | null {
  const own = url(name, ['http:', 'https:'])
  if (own === null) return null
  const { username, password } = new URL(own)
  if (username !== '' || password !== '' || /[?#]/.test(own))
    errors.push(`${name} must have no user, no password, no query and no fragment`)
  return own.replace(/\/+$/, '')
}

/** The address that clients call when PUBLIC_URL or ADMIN_URL is not set. */
function defaultUrl({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns a function that reads a variable; null: it is not set, or blank. */
export const givenText =
  (env: Environment) =>
  (name: string): string | null =>
    env[name]?.trim() || null

const everyAddress = ['0.0.0.0', '::']

/**
 * Whether an address cannot be used because another address takes the same port. Port 0 means any free port, so it is
 * never taken.
 */
function isTaken(address: Address, other: Address): boolean {
  const isSameHost = address.host === other.host || [address.host, other.host].some(host => everyAddress.includes(host))
  return address.port !== 0 && address.port === other.port && isSameHost
}

/** Reads the setting INSTANCE: the name of this process, which is in every log line. */
function readInstance(input: string | null, errors: string[]): string {
  if (input === null) return hostname()
  if (!/^[\x21-\x7e]{1,100}$/.test(input))
    errors.push('INSTANCE must have 1 to 100 characters of ASCII, without spaces')
  return input
}

/** Whether a text is `address` or `name <address>` on one line. The address itself is checked when mail is set up. */
function isSender(text: string): boolean {
  return text.length <= 200 && /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/.test(text)
}

function readNetworks(name: string, value: string, errors: string[]): string[] {
  const networks = value.split(',').flatMap(part => part.trim() || [])
  const wrong = networks.filter(network => !isNetwork(network))
  if (wrong.length > 0)
    errors.push(`${name} must be addresses or networks, like 10.0.0.0/8, with commas; not ${wrong.join(', ')}`)
  return networks
}

function readPorts(value: string, errors: string[]): number[] {
  const ports = value.split(',').map(part => (/^\d{1,5}$/.test(part.trim()) ? Number(part) : 0))
  if (!ports.every(port => port >= 1 && port <= 65_535))
    errors.push(`WEBHOOK_PORTS must be ports with commas, like 443,8443; not ${value}`)
  return ports
}

function isNetwork(text: string): boolean {
  const [, address = '', , prefix = '1'] = /^([0-9a-fA-F.:]+)(\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return Number(prefix) >= 1 && Number(prefix) <= bits
}

/**
 * Adds the keys that an embedded platform makes at its first start and keeps (`settings/key-files.ts`).
 *
 * @throws ConfigError when they can't be read or written, or are invalid
 */
export function withKeys(config: Config): Config & { operatorKey: string } {
  const kept = (keep: (dataDir: string) => string): string => {
    try {
      return keep(config.dataDir)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw new ConfigError([(error as Error).message])
      throw new ConfigError([
        `DATA_DIR must be a folder that this user may read and write (${(error as Error).message})`,
      ])
    }
  }
  const errors: string[] = []
  const operatorKey = config.operatorKey ?? kept(keepOperatorKey)
  if (!isOperatorKey(operatorKey)) errors.push(`${operatorKeyFile(config.dataDir)}: ${operatorKeyError}`)
  let { masterKeys } = config
  if (masterKeys.length === 0) {
    const keyErrors: string[] = []
    masterKeys = readMasterKeys(kept(keepMasterKey), keyErrors)
    errors.push(...keyErrors.map(error => `${masterKeyFile(config.dataDir)}: ${error}`))
  }
  if (errors.length > 0) throw new ConfigError(errors)
  return { ...config, operatorKey, masterKeys }
}
