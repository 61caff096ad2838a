/** Which logins mails show (contract/people.md, "Mails"). */
import { readFileSync } from 'node:fs'

/**
 * Hides a login that looks like a web address. Mail programs would turn such a login into a link, but our own link must
 * be the only one in the mail. Logins are not safe, because a manager chooses the logins of others.
 */
export const shownLogin = (login: string): string => (isLinkLike(asReadByPrograms(login)) ? '…' : login)

/**
 * The text as programs read it that look for addresses: with plain letters, dots, slashes and colons instead of their wide,
 * ideographic and other compatible forms.
 */
const asReadByPrograms = (text: string): string => text.normalize('NFKC').replace(/\u3002/g, '.')

/** An e-mail address. Mail programs offer to write to it, and open no page. */
const address = /^[^\s@/:?#]+@[^\s@/:?#]+$/
/** What follows a dot, up to the end of the name: in `pay.bank.ua/login` it is `ua`, and the slash after it. */
const afterLastDot = /[^\s.]\.([\p{L}\p{M}\p{N}-]+)(?!\.?[\p{L}\p{M}\p{N}-])([/:?#]?)/gu

/** Two slashes, a scheme with a slash, or the usual name of a web server. */
const marks = /\/\/|:\/|\bwww\./i
/** A host with a port, such as `localhost:8080`. */
const port = /[\p{L}\p{N}]:\d/u
const ipv4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/

/**
 * Whether mail programs may take a part of the text for a web address. They do so for names that end in a top-level
 * domain, for names with a path or a port, and for IPv4 addresses. The name of a person with a dot (`olena.kovalenko`) is no web
 * address.
 */
function isLinkLike(login: string): boolean {
  if (marks.test(login) || port.test(login) || ipv4.test(login)) return true
  if (address.test(login)) return false
  const ends = [...login.toLowerCase().matchAll(afterLastDot)]
  return ends.some(([, end = '', path = '']) => path !== '' || end.startsWith('xn--') || topLevelDomains().has(end))
}

let domains: ReadonlySet<string> | undefined

function topLevelDomains(): ReadonlySet<string> {
  domains ??= new Set(
    readFileSync(new URL('top-level-domains.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter(line => !line.startsWith('#'))
      .flatMap(line => line.split(' ')),
  )
  return domains
}
