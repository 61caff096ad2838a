/** The rule that every query is well-formed text: percent-encoded UTF-8 without NUL (contract/http.md, "Addresses"). */
import { type BrokenRule, broken } from '../error-rules.ts'
import { shownName } from './input/field-name.ts'
import { isText } from './input/json.ts'

/** The parameters of an address whose names or values are not well-formed text. @param url as requested */
export function unreadableParameters(url = ''): BrokenRule[] {
  const at = url.indexOf('?')
  if (at === -1 || decoded(url.slice(at + 1)) !== null) return []
  const pairs = url.slice(at + 1).split('&')
  return pairs
    .filter(pair => decoded(pair) === null)
    .map(pair => {
      const [name = ''] = pair.split('=', 1)
      return broken(shownName(decoded(name) ?? name) || 'the parameter without a name', 'json-text')
    })
}

/** @returns the decoded text; null when it is not well-formed */
function decoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return isText(plain) ? plain : null
  } catch {
    return null
  }
}
