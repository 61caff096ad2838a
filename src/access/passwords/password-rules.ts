/**
 * The rules of a new password (contract/people.md, "Passwords"): it must be long, and must not be easy to guess. There
 * are no rules about kinds of characters. A password may contain a common word, but not consist only of common words.
 */
import { readFileSync } from 'node:fs'
import { type BrokenRule, broken, type RuleCode } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { plainPassword } from '../secrets.ts'

const minLength = 15
const maxLength = 256

/**
 * The maximum length of a password as typed. Normalisation (NFKC) may join up to four typed characters into one, and
 * `maxLength` limits the characters after it. So this limit refuses no password that `maxLength` allows.
 */
export const maxTypedLength = 4 * maxLength

/**
 * @param field the field's name in the request
 * @param names the login and the names of the account
 * @throws DomainError 'invalid' when the password breaks a rule. The error does not contain any part of the password
 */
export function requirePassword(field: string, password: string, names: readonly string[]): void {
  const violation = violationOf(field, password, names)
  if (violation) throw new DomainError('invalid', [violation])
}

/** Finds the rule that a password breaks. @returns null for a good password */
function violationOf(field: string, password: string, names: readonly string[]): BrokenRule | null {
  const plain = plainPassword(password)
  const length = [...plain].length
  if (length < minLength) return broken(field, 'min-length', { min: minLength })
  if (length > maxLength) return broken(field, 'max-length', { max: maxLength })
  const rule = guessableAs(folded(plain), names) ?? guessableAs(withoutSpaces(folded(plain)), names.map(withoutSpaces))
  return rule && broken(field, rule)
}

function guessableAs(password: string, names: readonly string[]): RuleCode | null {
  const letters = [...password]
  if (isRun(letters)) return 'password-run'
  if (isRepeated(letters)) return 'password-repeated'
  const words = new Set([...commonPasswords(), ...knownNames(names)])
  const isKnown = [password, withoutEnds(password)].some(text => text !== '' && isJoined(text, words))
  return isKnown ? 'password-known' : null
}

const folded = (text: string): string => plainPassword(text).toLowerCase()

/** Spaces between words make a password no harder to guess. */
const withoutSpaces = (text: string): string => text.replaceAll(/\p{Z}+/gu, '')

const withoutEnds = (text: string): string => text.replace(/^[\p{N}\p{P}\p{S}\p{Z}]+|[\p{N}\p{P}\p{S}\p{Z}]+$/gu, '')

/**
 * Whether a text repeats one character or one word, like `abcabc`. The function searches for the text in two joined
 * copies of it, from the second character on. A text that repeats is found before the second copy begins. Any other
 * text is found only where the second copy begins.
 */
function isRepeated(letters: string[]): boolean {
  const text = letters.join('')
  return `${text}${text}`.indexOf(text, 1) < text.length
}

/**
 * Characters in an order that people know: the digits, the keys of a keyboard along its rows and its columns, for each
 * layout, and alphabets whose order is not that of their code points.
 */
const rows = [
  '1234567890',
  'qwertyuiopasdfghjklzxcvbnm',
  'йцукенгшщзхїфівапролджєячсмитьбю',
  'йцукенгшщзхъфывапролджэячсмитьбю',
  // Columns from left to right: down, up, and in turn down and up, with the digits and without.
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'zaq1xsw2cde3vfr4bgt5nhy6mju7',
  '1qazxsw23edcvfr45tgbnhy67ujm',
  'zaq12wsxcde34rfvbgt56yhnmju7',
  'qazwsxedcrfvtgbyhnujm',
  'zaqxswcdevfrbgtnhymju',
  'йфяцічувскамепинртгоьшлбщдю',
  'йфяцычувскамепинртгоьшлбщдю',
  // Columns that lean to the other side, down and up.
  '0okm9ijn8uhb7ygv6tfc5rdx4esz3wa2q',
  'mko0nji9bhu8vgy7cft6xdr5zse4aw3q2',
  // Two neighbouring rows at once.
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'qwaszxerdfcvtyghbnuijkm',
  '1й2ц3у4к5е6н7г8ш9щ0з',
  'й1ц2у3к4е5н6г7ш8щ9з0',
  'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
]

/** The keys of the digits give these characters with Shift. */
const keyOf = new Map([...'!@#$%^&*()'].map((shifted, index) => [shifted, '1234567890'.charAt(index)]))

/**
 * Whether the characters follow each other in the alphabet or on the keyboard, forwards or backwards. Each may be
 * repeated, as in `111222333`.
 */
function isRun(typed: string[]): boolean {
  const keys = typed.map(letter => keyOf.get(letter) ?? letter)
  const letters = keys.filter((letter, index) => letter !== keys[index - 1])
  if (letters.length === 1) return false
  const text = letters.join('')
  const backwards = letters.toReversed().join('')
  if (
    [text, backwards].some(way => rows.some(row => row.repeat(Math.ceil(text.length / row.length) + 1).includes(way)))
  )
    return true
  const steps = letters
    .slice(1)
    .map((letter, index) => (letter.codePointAt(0) ?? 0) - (letters[index]?.codePointAt(0) ?? 0))
  return Math.abs(steps[0] ?? 0) === 1 && steps.every(step => step === steps[0])
}

/**
 * Returns words that are too easy to guess as a password: the product's name, the given names, and the part of each
 * name before the @. Names and parts are also returned without the digits and punctuation at their ends.
 */
function knownNames(names: readonly string[]): string[] {
  const input = names.flatMap(name => [name, name.split('@')[0] ?? '']).map(folded)
  return [...input, ...input.map(withoutEnds), 'perkline'].filter(name => name !== '')
}

/** Whether a text consists only of these words. The time is proportional to the length of the text. */
function isJoined(text: string, words: ReadonlySet<string>): boolean {
  const longest = Math.max(...[...words].map(word => word.length))
  const ends = new Set([0])
  for (let end = 1; end <= text.length; end++)
    for (let start = Math.max(0, end - longest); start < end; start++)
      if (ends.has(start) && words.has(text.slice(start, end))) {
        ends.add(end)
        break
      }
  return ends.has(text.length)
}

let common: readonly string[] | undefined

function commonPasswords(): readonly string[] {
  common ??= readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(folded)
  return common
}
