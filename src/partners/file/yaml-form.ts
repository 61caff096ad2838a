/** Readers of YAML mappings and lists that report every error with its line. */
import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import type { BrokenRule, RuleCode, RuleParams } from '../../error-rules.ts'
import { firstCharacters } from '../../text/shown-text.ts'
import { addError, type FoundErrors } from './found-errors.ts'

/** The state of reading one YAML file: the errors so far, and the absent keys that a new entry must have. */
export type Reading = {
  found: FoundErrors
  missing: BrokenRule[]
  lineAt(offset: number): number
}

/** A position in the file, as errors name it. */
export type Place = { path: string; line: number; reading: Reading }

/** Reads one node. Errors are added to `place.reading`, and the returned value is then not used. */
export type Reader<T> = (node: unknown, place: Place) => T

/** A key of a mapping: the reader of its value, and the value when the key is absent or null. */
type Field<T> = { read: Reader<T>; leftOut(place: Place): T; whenNull(place: Place): T }
type Fields<F extends Record<string, Field<unknown>>> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/**
 * Reports an error at a place. The returned value is a placeholder that is never used, because `readDirectory`
 * returns no content for a file with errors.
 */
export function refuse<T>(place: Place, rule: RuleCode, params: RuleParams = {}): T {
  addError(place.reading.found, brokenAt(place, rule, params))
  return undefined as T
}

const brokenAt = ({ path, line }: Pick<Place, 'path' | 'line'>, rule: RuleCode, params: RuleParams): BrokenRule => ({
  field: path,
  line,
  rule,
  params,
})

const mustBeGiven = <T>(place: Place): T => refuse(place, 'given')
const notNull = <T>(place: Place): T => refuse(place, 'not-null')

/** A key that every entry must have. */
export function required<T>(read: Reader<T>): Field<T> {
  return { read, leftOut: mustBeGiven, whenNull: mustBeGiven }
}

/** A key that gets this default when it is absent or null. */
export function optional<T, const D>(read: Reader<T>, value: D): Field<D extends T ? T : T | D> {
  return { read, leftOut: () => value, whenNull: () => value } as unknown as Field<D extends T ? T : T | D>
}

/**
 * A key that only a new entry must have. Its value is undefined when it is absent. The reader does not know which
 * entries are new, so it adds an absent key to `reading.missing`.
 */
export function neededWhenNew<T>(read: Reader<T>): Field<T | undefined> {
  const leftOut = (place: Place) => {
    place.reading.missing.push(brokenAt(place, 'given', {}))
    return undefined
  }
  return { read, leftOut, whenNull: notNull }
}

/** A key that is undefined when it is absent. Null is an error, because this field is never empty. */
export function kept<T>(read: Reader<T>): Field<T | undefined> {
  return { read, leftOut: () => undefined, whenNull: notNull }
}

/** A key that is undefined when it is absent. Null clears the field. @param empty the value of a cleared field */
export function clearable<T, const E>(read: Reader<T>, empty: E): Field<(E extends T ? T : T | E) | undefined> {
  return { read, leftOut: () => undefined, whenNull: () => empty } as unknown as Field<
    (E extends T ? T : T | E) | undefined
  >
}

/**
 * A mapping that may have only these keys. Unknown and repeated keys are errors. The value of an absent key comes from
 * `leftOut` of its field.
 */
export function mapping<F extends Record<string, Field<unknown>>>(fields: F): Reader<Fields<F>> {
  const names = Object.keys(fields).join(', ')
  return (node, place) => {
    if (!isMap(node)) return refuse(place, 'mapping', { keys: names })
    const params = new Map<string, { value: unknown; place: Place }>()
    for (const { key, value } of node.items) {
      const name = textOf(key) ?? '?'
      const at = { ...place, path: pathOf(place, name), line: lineOf(key, place) }
      const first = params.get(name)
      if (first !== undefined) refuse(at, 'once', { line: first.place.line })
      else params.set(name, { value, place: at })
      if (!Object.hasOwn(fields, name)) refuse(at, 'known-key', { keys: names })
    }
    const read = Object.entries(fields).map(([name, field]) => {
      const found = params.get(name)
      if (found === undefined) return [name, field.leftOut({ ...place, path: pathOf(place, name) })]
      return [name, isNull(found.value) ? field.whenNull(found.place) : readNode(field.read, found.value, found.place)]
    })
    return Object.fromEntries(read)
  }
}

/**
 * A list of at most `max` items. `unique` names the keys whose values must be unique; without it, the items are texts
 * and must be unique themselves.
 */
export function list<T>(
  read: Reader<T>,
  { max, unique = [''] }: { max: number; unique?: string[] },
): Reader<readonly T[]> {
  return (node, place) => {
    if (!isSeq(node)) return refuse(place, 'list')
    if (node.items.length > max) return refuse(place, 'max-items', { max })
    const places = node.items.map((item, index) => ({
      ...place,
      path: `${place.path}[${index}]`,
      line: lineOf(item, place),
    }))
    const entries = node.items.map((item, index) => readNode(read, item, places[index] ?? place))
    for (const key of unique)
      refuseDoubles(key, entries, (index, at = places[index] ?? place) => keyPlace(key, node.items[index], at))
    return entries
  }
}

function refuseDoubles(key: string, entries: readonly unknown[], placeOf: (index: number) => Place): void {
  const firstLines = new Map<unknown, number>()
  for (const [index, entry] of entries.entries()) {
    const value = key === '' ? entry : (entry as Record<string, unknown> | undefined)?.[key]
    if (value === undefined) continue
    const place = placeOf(index)
    const firstLine = firstLines.get(value)
    if (firstLine === undefined) firstLines.set(value, place.line)
    else refuse(place, 'unique', { line: firstLine })
  }
}

/** Applies `then` to the result of `read`. */
export function refine<A, B>(read: Reader<A>, then: (value: A, place: Place) => B): Reader<B> {
  return (node, place) => {
    const value = read(node, place)
    return value === undefined ? (undefined as B) : then(value, place)
  }
}

function readNode<T>(read: Reader<T>, node: unknown, place: Place): T {
  return isAlias(node) ? refuse(place, 'no-alias') : read(node, place)
}

/** The text of a scalar; for a number, its characters in the file. */
export function textOf(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined
  return typeof node.value === 'number' ? node.source : typeof node.value === 'string' ? node.value : undefined
}

function isNull(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null)
}

function keyPlace(key: string, node: unknown, place: Place): Place {
  const pair = isMap(node) ? node.items.find(item => textOf(item.key) === key) : undefined
  return pair === undefined ? place : { ...place, path: pathOf(place, key), line: lineOf(pair.key, place) }
}

function lineOf(node: unknown, within: Place): number {
  return isNode(node) && node.range ? within.reading.lineAt(node.range[0]) : within.line
}

function pathOf({ path }: Place, key: string): string {
  const shown = /^[\w.-]{1,64}$/.test(key) ? key : JSON.stringify(firstCharacters(key, 64))
  return path === '' ? shown : `${path}.${shown}`
}
