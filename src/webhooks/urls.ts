/** Which URLs an endpoint may have (docs/contract/webhooks.md, "Endpoints"). Pure. */
import { type AddressRules, literalOf } from './addresses.ts'

export type UrlRules = {
  addresses: AddressRules
  ports: readonly number[]
  /** A sandbox also allows http and any port. */
  isSandbox: boolean
}

const maxLength = 2_048
const defaultPorts: Record<string, number> = { 'https:': 443, 'http:': 80 }

/** @returns what the URL must be; null: it is valid. The addresses of a name are checked for each connection */
export function urlError({ addresses, ports, isSandbox }: UrlRules, text: string): string | null {
  if (text.length > maxLength) return `at most ${maxLength} characters long`
  const url = URL.canParse(text) ? new URL(text) : null
  const protocols = isSandbox ? ['https:', 'http:'] : ['https:']
  if (url === null || !protocols.includes(url.protocol))
    return `a URL that begins with ${isSandbox ? 'https:// or http://' : 'https://'}`
  // The URL parser drops or escapes them; the text is shown as it was written.
  if (/[\p{Cc}\s]/u.test(text)) return 'a URL without spaces and control characters'
  if (url.username !== '' || url.password !== '') return 'a URL without a user'
  if (text.includes('#')) return 'a URL without a fragment'
  const port = url.port === '' ? defaultPorts[url.protocol] : Number(url.port)
  if (!isSandbox && !ports.includes(port ?? 0)) return `a URL with one of the ports ${ports.join(', ')}`
  const literal = literalOf(url.hostname)
  return literal !== null && !addresses.isAllowed(literal) ? 'a URL of a host that may be called' : null
}
