/** Which URLs an endpoint may have (contract/webhooks.md, "Endpoints"). Pure. */
import type { Rule } from '../error-rules.ts'
import { type AddressRules, literalOf } from './addresses.ts'

export type UrlRules = {
  addresses: AddressRules
  ports: readonly number[]
  /** A sandbox also allows http and any port. */
  isSandbox: boolean
}

const maxLength = 2_048
const defaultPorts: Record<string, number> = { 'https:': 443, 'http:': 80 }
/**
 * The beginning of a URL, with exactly two slashes. With fewer or more, the URL parser would take another part of the
 * text for the host.
 */
const beginning = /^[a-z]+:\/\/[^/\\?#]/i
/** The part of a URL before its port, and the port. It may be no number, or none that a port can have. */
const withPort = /^(\s*[a-z]+:\/\/[^/\\?#]*):[^:@\]/\\?#]*(?=[/\\?#]|$)/i
/** User info before the host. The URL parser drops empty user info, so we check the text. */
const userInfo = /^[a-z]+:\/\/[^/\\?#]*@/i

/**
 * @returns the rule that the URL breaks; null: it is valid. Names are not resolved here: their addresses are checked at
 *   each connection
 */
export function urlError(rules: UrlRules, text: string): Rule | null {
  if (text.length > maxLength) return { rule: 'max-length', params: { max: maxLength } }
  // Without an invalid port the URL can be parsed, so we can tell which rule it breaks.
  const url = parse(text) ?? parse(text.replace(withPort, '$1'))
  const schemes = rules.isSandbox ? ['https://', 'http://'] : ['https://']
  if (url === null || !schemes.includes(`${url.protocol}//`))
    return { rule: 'endpoint-scheme', params: { schemes: schemes.join(' or ') } }
  // The URL parser drops, escapes or replaces these characters, so the called address would differ from the text that people see.
  if (/[\p{Cc}\p{Cf}\s\\]/u.test(text)) return { rule: 'endpoint-characters', params: {} }
  if (userInfo.test(text)) return { rule: 'endpoint-user', params: {} }
  if (text.includes('#')) return { rule: 'endpoint-fragment', params: {} }
  if (!URL.canParse(text) || !hasCallablePort(rules, url)) return portError(rules)
  return hostError(rules, url)
}

const parse = (text: string): URL | null => (beginning.test(text.trim()) ? URL.parse(text) : null)

function hasCallablePort({ ports, isSandbox }: UrlRules, { protocol, port }: URL): boolean {
  const called = port === '' ? defaultPorts[protocol] : Number(port)
  return isSandbox ? called !== 0 : ports.includes(called ?? 0)
}

const portError = ({ ports, isSandbox }: UrlRules): Rule => ({
  rule: 'endpoint-port',
  params: { ports: isSandbox ? '1-65535' : ports.join(', ') },
})

function hostError({ addresses }: UrlRules, { hostname }: URL): Rule | null {
  const literal = literalOf(hostname)
  const isCallable = literal === null ? isName(hostname) : addresses.isAllowed(literal)
  return isCallable ? null : { rule: 'endpoint-host', params: {} }
}

/** The maximum length of a DNS name, and of each of its labels. */
const maxName = 253
const maxLabel = 63

/** Whether DNS can resolve a host name of this form. A full stop at the end is allowed. */
function isName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '')
  return name.length <= maxName && name.split('.').every(label => label !== '' && label.length <= maxLabel)
}
