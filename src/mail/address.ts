/** Checks e-mail addresses. */
import { isIPv6 } from 'node:net'

const maxAddressLength = 254
const maxLocalPartLength = 64
const dotString = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const quotedString = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/
const domainLabel = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i
const ipv4Address = /^(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|[01]?\d?\d)){3}$/

/**
 * Whether a text is one valid mailbox of at most 254 characters (RFC 5321, 4.1.2; its lengths are in 4.5.3.1). This is
 * the rule for `customerEmail` (contract/esim.md, "Confirm"). Address literals and quoted local parts are allowed.
 * Addresses with non-ASCII characters are not, because they would need SMTPUTF8 (RFC 6531). It runs in linear time.
 */
export function isEmailAddress(text: string): boolean {
  if (text.length > maxAddressLength) return false
  // Only a quoted local part may contain "@".
  const at = text.lastIndexOf('@')
  return at > 0 && isLocalPart(text.slice(0, at)) && isDomain(text.slice(at + 1))
}

/**
 * Whether the SMTP client can send to an address. A quoted local part may contain angle brackets, but the client cannot
 * send them.
 */
export function isDeliverable(address: string): boolean {
  return isEmailAddress(address) && !/[<>]/.test(address)
}

function isLocalPart(text: string): boolean {
  return text.length <= maxLocalPartLength && (dotString.test(text) || quotedString.test(text))
}

function isDomain(text: string): boolean {
  if (text.startsWith('[') && text.endsWith(']')) return isAddressLiteral(text.slice(1, -1))
  return text.split('.').every(label => domainLabel.test(label))
}

/** An address literal is an IPv4 address, or an IPv6 address after the tag `IPv6:`. No other tag is registered (RFC 5321, 4.1.3). */
function isAddressLiteral(text: string): boolean {
  return /^ipv6:/i.test(text) ? isIpv6Literal(text.slice(5)) : ipv4Address.test(text)
}

/** Stricter than `isIPv6`: no zone, and "::" stands for at least two groups (RFC 5321, 4.1.3). */
function isIpv6Literal(text: string): boolean {
  if (text.includes('%') || !isIPv6(text)) return false
  if (!text.includes('::')) return true
  const groups = text.split(':').filter(group => group !== '')
  return groups.length + (text.includes('.') ? 1 : 0) <= 6
}
