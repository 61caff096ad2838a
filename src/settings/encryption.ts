/**
 * Finds connections to other machines that would carry passwords and customers' data without encryption, or without a
 * check of the other machine's certificate. Live mode refuses such connections.
 */
import { isLoopback } from './loopback.ts'

/** The settings that hold addresses of servers. Each address is a valid URL. */
export type Connections = {
  databaseUrl: string | null
  /** PGHOST: the host for a database URL that has no host. */
  databaseHost: string | undefined
  smtpUrl: string | null
  redisUrl: string | null
}

/**
 * What is wrong with a connection to another machine. `plain`: it uses no TLS; `unverified`: it uses TLS but does not
 * check the certificate.
 */
type Weakness = 'plain' | 'unverified'

/** @returns one error for each connection to another machine that uses no TLS or does not check the certificate */
export function plaintextErrors({ databaseUrl, databaseHost = '', smtpUrl, redisUrl }: Connections): string[] {
  const errors: string[] = []
  const refuse = (name: string, weakness: Weakness | null, how: Record<Weakness, string>) => {
    if (weakness !== null)
      errors.push(`${name} must ${wanted[weakness]}: ${how[weakness]}. ALLOW_PLAINTEXT=1 allows it without`)
  }
  const verifyFull = 'add ?sslmode=verify-full, and sslrootcert=FILE for a certificate authority of your own'
  refuse('DATABASE_URL', databaseUrl === null ? null : databaseWeakness(new URL(databaseUrl), databaseHost), {
    plain: verifyFull,
    unverified: verifyFull,
  })
  refuse('SMTP_URL', smtpUrl === null ? null : mailWeakness(new URL(smtpUrl)), {
    plain: 'start it with smtps://, or add ?requireTLS=true',
    unverified: 'leave out tls.rejectUnauthorized; NODE_EXTRA_CA_CERTS=FILE names a certificate authority of your own',
  })
  refuse('REDIS_URL', redisUrl === null || isSafeRedis(new URL(redisUrl)) ? null : 'plain', {
    plain: 'start it with rediss://',
    unverified: '',
  })
  return errors
}

const wanted: Record<Weakness, string> = {
  plain: 'use TLS, as it leads to another machine',
  unverified: 'check the certificate of the other machine',
}

/** The values of `sslmode` that the driver knows. It would ignore any other. */
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** @returns an error when the address of the database has an unknown `sslmode` */
export function sslModeErrors(databaseUrl: string | null): string[] {
  const mode = databaseUrl === null ? '' : optionsOf(new URL(databaseUrl), -1)('sslmode')
  if (mode === '' || sslModes.includes(mode)) return []
  return [`DATABASE_URL must have one of these after sslmode=: ${sslModes.join(', ')}`]
}

/** The parameters of an address that the driver knows. */
const knownParameters = [
  'host port user password application_name fallback_application_name client_encoding options keepAlive',
  'ssl sslmode sslcert sslkey sslrootcert sslnegotiation uselibpqcompat',
  'statement_timeout query_timeout lock_timeout idle_in_transaction_session_timeout',
].flatMap(names => names.split(' '))

/** @returns a warning when the address of the database has parameters that the driver ignores */
export function unknownParameters(databaseUrl: string | null): string[] {
  const names = databaseUrl === null ? [] : [...new Set(new URL(databaseUrl).searchParams.keys())]
  const unknown = names.filter(name => !knownParameters.includes(name)).map(name => JSON.stringify(name))
  return unknown.length === 0 ? [] : [`DATABASE_URL has parameters that have no effect: ${unknown.join(', ')}`]
}

/**
 * Returns a function that reads an option of a URL as the drivers do.
 * @param place which value counts if an option is given several times: 0 the first, -1 the last
 */
const optionsOf =
  (url: URL, place: 0 | -1) =>
  (name: string): string =>
    url.searchParams.getAll(name).at(place) ?? ''

/**
 * Returns what is wrong with the database connection; null when it is safe. The host is read as the driver reads it.
 * Without a host, the server is on this machine. A host that begins with a slash is the folder of a socket.
 */
function databaseWeakness(url: URL, defaultHost: string): Weakness | null {
  const option = optionsOf(url, -1)
  const host = option('host') || decodeURIComponent(url.hostname) || defaultHost
  if (host === '' || host.startsWith('/') || isLoopback(host)) return null
  const isFile = ['sslcert', 'sslkey', 'sslrootcert'].some(name => option(name) !== '')
  if (option('sslmode') === '' && !isFile) return weaknessWithoutMode(option)
  if (option('sslmode') === 'disable') return 'plain'
  return isUnverifiedMode(option) ? 'unverified' : null
}

function weaknessWithoutMode(option: (name: string) => string): Weakness | null {
  if (option('ssl') === 'no-verify') return 'unverified'
  return ['true', '1'].includes(option('ssl')) || option('sslnegotiation') === 'direct' ? null : 'plain'
}

/**
 * Whether the driver does not check the server's certificate. With `uselibpqcompat`, the driver treats modes as libpq
 * does: `prefer` checks nothing, and `require` checks the certificate only if `sslrootcert` is given.
 */
function isUnverifiedMode(option: (name: string) => string): boolean {
  const mode = option('sslmode')
  if (option('uselibpqcompat') !== 'true') return mode === 'no-verify'
  return mode === 'prefer' || (mode === 'require' && option('sslrootcert') === '')
}

function mailWeakness(url: URL): Weakness | null {
  const option = optionsOf(url, 0)
  if (isLoopback(url.hostname)) return null
  // The option `secure` does not count, because the mail library ignores it with smtp://.
  if (url.protocol !== 'smtps:' && option('requireTLS') !== 'true') return 'plain'
  return option('tls.rejectUnauthorized') === 'false' ? 'unverified' : null
}

/** Whether a connection to Redis is safe. With TLS, the certificate of a Redis server is always checked. */
const isSafeRedis = (url: URL): boolean => {
  const host = decodeURIComponent(url.hostname) || optionsOf(url, -1)('host')
  return url.protocol === 'rediss:' || host === '' || isLoopback(host)
}
