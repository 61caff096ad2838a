/** Network addresses as rate limits count them. An IPv6 client usually has a whole /64, so the /64 counts as one address. */
import { isIPv6 } from 'node:net'

/**
 * Returns the unit that a limit per address counts: a single IPv4 address, or an IPv6 /64.
 *
 * @param address as a socket reports it; IPv4 in IPv6 (`::ffff:192.0.2.1`) counts as IPv4
 */
export const addressUnit = (address: string): string => addressPrefixes(address)[1]

/**
 * Returns the network of an address, and the part that limits count as one client. IPv4: the /24, and the address itself.
 * IPv6: the /48, and the /64.
 */
export function addressPrefixes(address: string): [network: string, unit: string] {
  const own = plainAddress(address)
  if (isIPv6(own)) {
    const groups = firstGroups(own)
    return [`${groups.slice(0, 3).join(':')}::/48`, `${groups.join(':')}::/64`]
  }
  return [own.replace(/\.\d+$/, '.0/24'), own]
}

/** Returns an address without its port and zone. IPv4 in IPv6 (`::ffff:192.0.2.1`) becomes plain IPv4. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const plain = withoutPort(address).replace(/%.*$/, '')
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain
}

/**
 * Removes the port of the connection, which some proxies add. With the port, each connection would count as a separate
 * address.
 */
function withoutPort(address: string): string {
  return address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
}

/** The first four of the eight groups of an IPv6 address, each without leading zeros. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const dotted = after.at(-1)?.includes('.') ? 1 : 0
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length - dotted)
  const groups = [...before, ...Array<string>(missing).fill('0'), ...after].slice(0, 4)
  return groups.map(group => Number.parseInt(group, 16).toString(16))
}
