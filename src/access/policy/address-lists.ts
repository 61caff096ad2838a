/** Networks from which an account accepts its people and systems. */
import { BlockList, isIP } from 'node:net'
import { plainAddress } from '../../text/addresses.ts'

export type AddressList = {
  /** @param address from a socket or a trusted proxy */
  has(address: string): boolean
}

/** Whether a text is a network like `192.0.2.0/24` or `2001:db8::/32`, or one address. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/')
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (maxBits < 0 || address.includes('%') || others.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
}

/** Makes an address list. @param networks texts that `isNetwork` accepts */
export function createAddressList(networks: readonly string[]): AddressList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return {
    has(input) {
      const address = plainAddress(input)
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
    },
  }
}
