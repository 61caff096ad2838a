/** Which logins mails show (contract/people.md, "Mails"). */
import { readFileSync } from 'node:fs'

/**
 * Hides a login that looks like a web address. Mail programs would turn such a login into a link, but our own link must
 * be the only one in the mail. Logins cannot be trusted, because managers choose them for others.
 */
export const shownLogin = (login: string): string => (isLinkLike(asReadByPrograms(login)) ? '…' : login)

/**
 * The text as mail programs read it: they treat wide, ideographic and other compatible forms of letters, dots, slashes and
 * colons like the plain ones.
 */
const asReadByPrograms = (text: string): string => text.normalize('NFKC').replace(/\u3002/g, '.')

/** Matches an e-mail address. Logins of this form are shown: mail programs do not open a page for them. */
const address = /^[^\s@/:?#]+@[^\s@/:?#]+$/
/** The last part of a name with dots, and the character that begins a path or port: `ua` and `/` in `pay.bank.ua/login`. */
const afterLastDot = /[^\s.]\.([\p{L}\p{M}\p{N}-]+)(?!\.?[\p{L}\p{M}\p{N}-])([/:?#]?)/gu

/** Matches parts of a web address: two slashes, a colon with a slash, or `www.`. */
const marks = /\/\/|:\/|\bwww\./i
/** A host with a port, such as `localhost:8080`. */
const port = /[\p{L}\p{N}]:\d/u
const ipv4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/

/**
 * Whether mail programs may turn a part of the text into a link. They do so for names that end in a top-level domain, for
 * names with a path or a port, and for IPv4 addresses. A person's name with a dot (`olena.kovalenko`) is no web address.
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
