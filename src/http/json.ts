/**
 * Reads a JSON body strictly (reliability.md, facts 1 and 2): what JSON.parse would let pass in silence (a name given twice, half a
 * surrogate pair, NUL, bytes that are no UTF-8) is a fault that names its field, because in a payment API two spellings of one
 * request must never become two meanings.
 */
import { DomainError } from '../errors.ts'
import { innerPath, shownName } from './field-name.ts'

const deepest = 32
/** No form has nearly as many fields; a body of nothing but names would keep everybody waiting. */
const usualMostNames = 1_000
/** More faults than anybody reads are not looked for. */
const mostFaults = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param mostNames how many fields an object may have
 * @returns the value; undefined for an empty body
 * @throws DomainError 'invalid'
 */
export function readJson(bytes: Buffer, mostNames = usualMostNames): unknown {
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
    const faults: string[] = []
    checkTexts(value, '', faults)
    if (faults.length > 0) throw new DomainError('invalid', faults)
  }
  return value
}

function decode(bytes: Buffer): string {
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
      if (levels.length === deepest)
        throw new DomainError('invalid', `The body must be nested at most ${deepest} levels deep`)
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
  const fault = (must: string) => new DomainError('invalid', [`${shownName(pathWithin(level))} must be ${must}`])
  if (!isText(name)) throw fault('well-formed text without NUL')
  if (name === '__proto__') throw fault('omitted')
  if (names?.has(name)) throw fault('given once only')
  names?.add(name)
  if (names && names.size > mostNames)
    throw new DomainError('invalid', [
      `${shownName(level.path) || 'body'} must be an object of at most ${mostNames} fields`,
    ])
}

function checkTexts(value: unknown, path: string, faults: string[]): void {
  if (faults.length === mostFaults) return
  if (typeof value === 'string') {
    if (!isText(value)) faults.push(`${shownName(path) || 'body'} must be well-formed text without NUL`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkTexts(inner, innerPath(path, name), faults)
  }
}

/** True for text that the database can keep and give back unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
