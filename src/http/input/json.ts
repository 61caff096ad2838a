/**
 * Bodies in JSON. How much a body holds is counted before it is parsed, so that nobody keeps the others waiting (contract/http.md, "Request bodies").
 * Then it is read strictly (contract/reliability.md, "Facts"): what JSON.parse would let pass in silence (a name given twice, half a
 * surrogate pair, NUL, bytes that are no UTF-8) is a fault that names its field, because in a payment API two spellings of one
 * request must never become two meanings.
 */
import { type BrokenRule, broken, type RuleCode } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { innerPath, shownName } from './field-name.ts'

const deepest = 16
/** No form has nearly as many fields; a body of nothing but names would keep everybody waiting. */
const usualMostNames = 1_000
/** More faults than anybody reads are not looked for. */
const mostFaults = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** How much a body may hold. `values`: each scalar, object and array; names are not counted. */
export type JsonBounds = { values: number; containers?: number; names?: number }

const usualBounds: JsonBounds = { values: 500 }

/**
 * Counts what a body holds in one pass over its bytes. Of a body that is no JSON it counts what looks like it.
 *
 * @returns the number of values
 * @throws DomainError 'invalid' as soon as a bound is passed
 */
export function countValues(
  bytes: Uint8Array,
  { values, containers = Number.POSITIVE_INFINITY }: JsonBounds = usualBounds,
): number {
  let depth = 0
  let found = 0
  let opened = 0
  // Each colon makes a name of the text before it, which is found and taken back.
  const most = values + 1
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
    if (found > most) throw tooMuch(`have at most ${values} values`)
  }
  if (found > values) throw tooMuch(`have at most ${values} values`)
  return found
}

const tooMuch = (must: string) => new DomainError('invalid', `The body must ${must}`)

/**
 * Reads a body whose values were counted.
 *
 * @returns the value; undefined for an empty body
 * @throws DomainError 'invalid'
 */
export function readJson(bytes: Uint8Array, { names: mostNames = usualMostNames }: JsonBounds = usualBounds): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new DomainError('invalid', 'The body must be valid JSON')
  }
  checkNames(text, mostNames)
  // Text that was valid UTF-8 can only become ill-formed through an escape.
  if (text.includes('\\u')) {
    const faults: BrokenRule[] = []
    checkTexts(value, '', faults)
    if (faults.length > 0) throw new DomainError('invalid', faults)
  }
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

/** Walks over text that JSON.parse has accepted, so that only strings and brackets need a look. */
function checkNames(text: string, mostNames: number): void {
  const levels: Level[] = []
  let nameNext = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    const level = levels.at(-1)
    if (char === 0x22 /* " */) {
      const end = endOfString(text, at)
      if (nameNext && level?.names) {
        level.name = JSON.parse(text.slice(at, end + 1)) as string
        checkName(level, mostNames)
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
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c /* \ */ ? 2 : 1
  return at
}

const pathWithin = ({ path, names, name, index }: Level): string => innerPath(path, names ? name : index)

function checkName(level: Level, mostNames: number): void {
  const { names, name } = level
  const fault = (rule: RuleCode) => new DomainError('invalid', [broken(shownName(pathWithin(level)), rule)])
  if (!isText(name)) throw fault('json-text')
  if (name === '__proto__') throw fault('omitted')
  if (names?.has(name)) throw fault('given-once')
  names?.add(name)
  if (names && names.size > mostNames)
    throw new DomainError('invalid', [broken(shownName(level.path) || 'body', 'max-fields', { max: mostNames })])
}

function checkTexts(value: unknown, path: string, faults: BrokenRule[]): void {
  if (faults.length === mostFaults) return
  if (typeof value === 'string') {
    if (!isText(value)) faults.push(broken(shownName(path) || 'body', 'json-text'))
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkTexts(inner, innerPath(path, name), faults)
  }
}

/** True for text that the database can keep and give back unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
