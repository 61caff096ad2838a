/**
 * Finds connections to other machines that would carry passwords and customers' data unencrypted (live mode refuses
 * them).
 */
import { isLoopback } from './loopback.ts'

/** The addresses in the settings; each is a valid URL. */
export type Connections = {
  databaseUrl: string | null
  /** PGHOST: the host for a database URL without one. */
  databaseHost: string | undefined
  smtpUrl: string | null
  redisUrl: string | null
}

/** @returns one error for each connection to another machine without TLS */
export function plaintextErrors({ databaseUrl, databaseHost = '', smtpUrl, redisUrl }: Connections): string[] {
  const errors: string[] = []
  const refuse = (name: string, how: string) =>
    errors.push(`${name} must use TLS, as it leads to another machine: ${how}. ALLOW_PLAINTEXT=1 allows it without`)
  if (databaseUrl !== null && !isSafeDatabase(new URL(databaseUrl), databaseHost))
    refuse('DATABASE_URL', 'add ?sslmode=verify-full, and sslrootcert=FILE for a certificate authority of your own')
  if (smtpUrl !== null && !isSafeMailServer(new URL(smtpUrl)))
    refuse('SMTP_URL', 'start it with smtps://, or add ?requireTLS=true')
  if (redisUrl !== null && !isSafeRedis(new URL(redisUrl))) refuse('REDIS_URL', 'start it with rediss://')
  return errors
}

/**
 * Reads the host as the driver does: without one it is this machine, and one that begins with a slash is a socket's
 * folder.
 */
function isSafeDatabase(url: URL, defaultHost: string): boolean {
  const option = (name: string) => url.searchParams.get(name) ?? ''
  const host = option('host') || decodeURIComponent(url.hostname) || defaultHost
  if (host === '' || host.startsWith('/') || isLoopback(host)) return true
  if (option('sslmode') !== '') return option('sslmode') !== 'disable'
  const isFile = ['sslcert', 'sslkey', 'sslrootcert'].some(name => option(name) !== '')
  return isFile || ['true', '1', 'no-verify'].includes(option('ssl')) || option('sslnegotiation') === 'direct'
}

function isSafeMailServer(url: URL): boolean {
  const isOn = (name: string) => url.searchParams.get(name) === 'true'
  // `secure` does not count: with smtp:// the mail library ignores it.
  return url.protocol === 'smtps:' || isLoopback(url.hostname) || isOn('requireTLS')
}

const isSafeRedis = (url: URL): boolean =>
  url.protocol === 'rediss:' || url.hostname === '' || isLoopback(decodeURIComponent(url.hostname))
