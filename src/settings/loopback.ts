/** Decides which addresses never leave this machine. */
import { isIPv4, isIPv6 } from 'node:net'

/** @param host a name or an address; IPv6 with or without brackets, as in a URL's `hostname` or in a setting */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (plain === 'localhost' || plain.endsWith('.localhost')) return true
  if (isIPv4(plain)) return plain.startsWith('127.')
  return isIPv6(plain) && (/^[0:]+:0*1$/.test(plain) || /^::ffff:(?:127\.|7f[\da-f]{2}:)/.test(plain))
}

/** Whether clients on other machines can reach the platform, directly or through a proxy. */
export const isOpenToOthers = ({ host, publicUrl }: { host: string; publicUrl: string }): boolean =>
  !isLoopback(host) || !isLoopback(new URL(publicUrl).hostname)
