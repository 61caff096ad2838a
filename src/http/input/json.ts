/**
 * Reads JSON bodies. The values of a body are counted before it is parsed, so that no request blocks the others
 * (contract/http.md, "Request bodies"). Then it is read strictly (contract/reliability.md, "Facts"). JSON.parse silently accepts
 * repeated names, half a surrogate pair, NUL and invalid UTF-8. Here they are errors that name the field, because in a payment
 * API one request must never be read in two ways.
 */
import { type BrokenRule, broken, type RuleCode } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { innerPath, shownName } from './field-name.ts'

const deepest = 16
/**
 * The default limit of names in one object, far more than any valid object has. It matters where many values are allowed:
 * an object with very many names would block other requests.
 */
const defaultMaxNames = 1_000
/** The search for errors stops at this number, because nobody reads more. */
const maxErrors = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The maximum content of a body. `values` counts each scalar, object and array, but not names; `containers` counts objects and
 * arrays; `names` counts the names in one object.
 */
export type JsonBounds = { values: number; containers?: number; names?: number }

const defaultBounds: JsonBounds = { values: 500 }

/**
 * Counts the values of a body in one pass over its bytes. For invalid JSON it counts what looks like values.
 *
 * @returns the number of values
 * @throws DomainError 'invalid' as soon as a bound is exceeded
 */
export function countValues(
  bytes: Uint8Array,
  { values, containers = Number.POSITIVE_INFINITY }: JsonBounds = defaultBounds,
): number {
  let depth = 0
  let found = 0
  let opened = 0
  // A name is first counted as a value, like any string. It is subtracted again at the colon after it. So `found` can
  // be one too high for a moment.
  const max = values + 1
  let isWithinWord = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    switch (byte) {
      case 0x22 /* " */:
        isWithinWord = false
        found++
        for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c /* \ */) at++
        break
      case 0x7b /* { */:
      case 0x5b /* [ */:
        isWithinWord = false
        found++
        if (++depth > deepest) throw tooMuch(`be nested at most ${deepest} levels deep`)
        if (++opened > containers) throw tooMuch(`have at most ${containers} objects and arrays`)
        break
      case 0x7d /* } */:
      case 0x5d /* ] */:
        isWithinWord = false
        depth--
        break
      case 0x3a /* : */:
        isWithinWord = false
        found--
        break
      case 0x2c /* , */:
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        isWithinWord = false
        break
      default:
        if (!isWithinWord) found++
        isWithinWord = true
    }
    if (found > max) throw tooMuch(`have at most ${values} values`)
  }
  if (found > values) throw tooMuch(`have at most ${values} values`)
  return found
}

const tooMuch = (must: string) => new DomainError('invalid', `The body must ${must}`)

/**
 * Parses a body whose values were counted.
 *
 * @returns the value; undefined for an empty body
 * @throws DomainError 'invalid' when the body is not JSON, or breaks one of the stricter rules
 */
export function readJson(
  bytes: Uint8Array,
  { names: maxNames = defaultMaxNames }: JsonBounds = defaultBounds,
): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new DomainError('invalid', 'The body must be valid JSON')
  }
  const errors: BrokenRule[] = []
  checkNames(text, maxNames, errors)
  // Valid UTF-8 can become ill-formed text only through an escape.
  if (text.includes('\\u')) checkTexts(value, '', errors)
  if (errors.length > 0) throw new DomainError('invalid', errors.slice(0, maxErrors))
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new DomainError('invalid', 'The body must be valid UTF-8')
  }
}

type Level = { names: Set<string> | null; path: string; index: number; name: string }

/**
 * Adds wrong names and inexact numbers to `errors`. JSON.parse has accepted the text, so only strings, brackets, commas
 * and numbers need to be looked at.
 *
 * @throws DomainError 'invalid' for an object with too many names
 */
function checkNames(text: string, maxNames: number, errors: BrokenRule[]): void {
  const levels: Level[] = []
  let nameNext = false
  for (let at = 0; at < text.length && errors.length < maxErrors; at++) {
    const char = text.charCodeAt(at)
    const level = levels.at(-1)
    if (char === 0x22 /* " */) {
      const end = endOfString(text, at)
      if (nameNext && level?.names) {
        level.name = readString(text.slice(at, end + 1))
        checkName(level, maxNames, errors)
        nameNext = false
      }
      at = end
    } else if (char === 0x7b /* { */ || char === 0x5b /* [ */) {
      const inObject = char === 0x7b
      levels.push({ names: inObject ? new Set() : null, path: level ? pathWithin(level) : '', index: 0, name: '' })
      nameNext = inObject
    } else if (char === 0x7d /* } */ || char === 0x5d /* ] */) {
      levels.pop()
      nameNext = false
    } else if (char === 0x2c /* , */ && level) {
      level.index++
      nameNext = level.names !== null
    } else if (isDigit(char)) {
      const end = endOfNumber(text, at)
      if (isRounded(text.slice(at, end)))
        errors.push(broken((level && shownName(pathWithin(level))) || 'body', 'exact-number'))
      at = end - 1
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c /* \ */ ? 2 : 1
  return at
}

/** The value of a JSON string. Most names have no escape; for them a copy is much quicker than the parser. */
const readString = (text: string): string => (text.includes('\\') ? JSON.parse(text) : text.slice(1, -1))

const isDigit = (char: number): boolean => char >= 0x30 && char <= 0x39

function endOfNumber(text: string, start: number): number {
  let at = start
  while (/[\d.eE+-]/.test(text.charAt(at))) at++
  return at
}

/**
 * Whether JSON.parse has changed the value of a number that has a decimal point or an exponent. For example,
 * `100.00000000000000001` becomes 100. The number 100 may obey a rule that the sent number breaks. An integer without
 * an exponent is not checked: if it is too large to be exact, it exceeds every limit and gets another error.
 */
function isRounded(number: string): boolean {
  const hasExponent = /[eE]/.test(number)
  if (!hasExponent && (number.length <= maxExactDigits || !number.includes('.'))) return false
  const kept = Number(number)
  if (!Number.isFinite(kept)) return false
  const [digits, exponent] = digitsOf(number)
  const [keptDigits, keptExponent] = digitsOf(String(kept))
  return digits !== keptDigits || (digits !== '' && exponent !== keptExponent)
}

/**
 * A number without an exponent and with at most this many digits is never rounded. A number with an exponent can be: 1e-400
 * becomes 0.
 */
const maxExactDigits = 15

/** The digits without zeros at either end, and the power of ten of the last digit. */
function digitsOf(number: string): [digits: string, exponent: number] {
  const [mantissa = '', power = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = `${whole}${fraction}`
  // Do not use /0+$/ here: at a long run of zeros in the middle it would try again from each zero, in quadratic time.
  let end = all.length
  while (all.charCodeAt(end - 1) === 0x30) end--
  return [all.slice(0, end).replace(/^0+/, ''), Number(power) - fraction.length + all.length - end]
}

const pathWithin = ({ path, names, name, index }: Level): string => innerPath(path, names ? name : index)

function checkName(level: Level, maxNames: number, errors: BrokenRule[]): void {
  const { names, name } = level
  const rule = brokenRuleOf(names, name)
  if (rule) {
    const field = shownName(pathWithin(level))
    // Report each wrong name only once, even if it occurs many times.
    if (!errors.some(error => error.field === field && error.rule === rule)) errors.push(broken(field, rule))
  }
  names?.add(name)
  if (names && names.size > maxNames)
    throw new DomainError('invalid', [broken(shownName(level.path) || 'body', 'max-fields', { max: maxNames })])
}

function brokenRuleOf(names: Level['names'], name: string): RuleCode | null {
  if (!isText(name)) return 'json-text'
  if (name === '__proto__') return 'omitted'
  return names?.has(name) ? 'given-once' : null
}

function checkTexts(value: unknown, path: string, errors: BrokenRule[]): void {
  if (errors.length >= maxErrors) return
  if (typeof value === 'string') {
    if (!isText(value)) errors.push(broken(shownName(path) || 'body', 'json-text'))
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkTexts(inner, innerPath(path, name), errors)
  }
}

/** True for text that the database can store and return unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
