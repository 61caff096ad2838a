/** Which logins mails show (contract/people.md, "Mails"). */
import { readFileSync } from 'node:fs'

/**
 * Hides a login that looks like a web address. Mail programs would turn such a login into a link, but our own link must
 * be the only one in the mail. Logins are not safe, because a manager chooses the logins of others.
 */
export const shownLogin = (login: string): string => (isLinkLike(login) ? '…' : login)

/** An e-mail address. Mail programs offer to write to it, and open no page. */
const address = /^[^\s@/:?#]+@[^\s@/:?#]+$/
/** What follows a dot, up to the end of the name: in `pay.bank.ua/login` it is `ua`, and the slash after it. */
const afterLastDot = /[^\s.]\.([\p{L}\p{M}\p{N}-]+)(?!\.?[\p{L}\p{M}\p{N}-])([/:?#]?)/gu

/**
 * Whether mail programs may take a part of the text for a web address. They do so for names that end in a top-level
 * domain, and for names with a path. The name of a person with a dot (`olena.kovalenko`) is no web address.
 */
function isLinkLike(login: string): boolean {
  if (/:\/\/|\bwww\./i.test(login)) return true
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
