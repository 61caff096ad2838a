/**
 * Which addresses endpoints may have (contract/webhooks.md, "Addresses"): a partner's URL must not reach the
 * platform's own network. We use our own resolver, because `dns.lookup` runs on four threads without a time limit,
 * and a dead name server would block them.
 */
import { getServers, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** The name resolves to an address that may not be called. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError'
}
/** The name does not resolve. */
export class NameError extends Error {
  override name = 'NameError'
}

const refusedIPv4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const
const refusedIPv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const
const globalIPv6 = ['2000::', 3] as const

export type AddressRules = { isAllowed(address: string): boolean }

/** @param allowed networks allowed in addition to the public ones, as `address/prefix` or a single address */
export function createAddressRules(allowed: readonly string[]): AddressRules {
  const [refused4, refused6, global6] = [new BlockList(), new BlockList(), new BlockList()]
  for (const [network, prefix] of refusedIPv4) refused4.addSubnet(network, prefix, 'ipv4')
  for (const [network, prefix] of refusedIPv6) refused6.addSubnet(network, prefix, 'ipv6')
  global6.addSubnet(...globalIPv6, 'ipv6')
  const [own4, own6] = [new BlockList(), new BlockList()]
  for (const network of allowed) {
    const [address = '', prefix] = network.split('/')
    if (isIPv4(address)) own4.addSubnet(address, Number(prefix ?? 32), 'ipv4')
    else own6.addSubnet(address, Number(prefix ?? 128), 'ipv6')
  }
  return {
    isAllowed(address) {
      if (isIPv4(address)) return own4.check(address, 'ipv4') || !refused4.check(address, 'ipv4')
      if (!isIPv6(address) || address.includes('%')) return false
      // IPv4-mapped IPv6 addresses are never allowed: they are not public, and no allowed network includes them.
      if (own6.check(address, 'ipv6') && !isMapped(address)) return true
      return global6.check(address, 'ipv6') && !refused6.check(address, 'ipv6')
    },
  }
}

const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')
const isMapped = (address: string): boolean => mapped.check(address, 'ipv6')

/** The IP address of a URL's host, without brackets; null when the host is a name. */
export function literalOf(hostname: string): string | null {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) === 0 ? null : plain
}

const nameWaitMs = 3_000
const hostsFile = '/etc/hosts'

/**
 * All addresses of a host.
 *
 * @param hostname of a URL: a name or an IP address
 * @throws AddressRefusedError when one of them may not be called; NameError when the name has no address or could not
 *   be resolved
 */
export async function resolveAllowed(rules: AddressRules, hostname: string): Promise<string[]> {
  const literal = literalOf(hostname)
  const addresses = literal === null ? await resolveName(hostname) : [literal]
  if (addresses.length === 0) throw new NameError('The name has no address')
  if (!addresses.every(address => rules.isAllowed(address)))
    throw new AddressRefusedError('The address may not be called')
  return addresses
}

async function resolveName(name: string): Promise<string[]> {
  const plain = name.replace(/\.$/, '').toLowerCase()
  if (plain === 'localhost' || plain.endsWith('.localhost')) return ['127.0.0.1', '::1']
  const own = await inHostsFile(plain)
  if (own.length > 0) return own
  return askNameServers(plain)
}

/** Asks each name server once, for three seconds at most in total. The resolver's own limit applies to each server separately. */
async function askNameServers(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: Math.floor(nameWaitMs / Math.max(1, getServers().length)), tries: 1 })
  const over = setTimeout(() => resolver.cancel(), nameWaitMs)
  try {
    const answers = await Promise.all([resolver.resolve4(name), resolver.resolve6(name)].map(noneAsEmpty))
    return answers.flat()
  } finally {
    clearTimeout(over)
  }
}

const noAddress = new Set(['ENODATA', 'ENOTFOUND'])

/**
 * Returns an empty list when the name has no address of this family (IPv4 or IPv6). It may have addresses of the other
 * family.
 */
const noneAsEmpty = (answer: Promise<string[]>): Promise<string[]> =>
  answer.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== undefined && noAddress.has(error.code)) return []
    throw new NameError('The name could not be resolved', { cause: error })
  })

async function inHostsFile(name: string): Promise<string[]> {
  const content = await readFile(hostsFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return content.split('\n').flatMap(line => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) !== 0 && names.some(one => one.toLowerCase() === name) ? [address] : []
  })
}
