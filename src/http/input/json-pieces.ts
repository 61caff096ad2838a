/** Reads and checks large JSON bodies in a separate process, which sends back the entries of their lists in pieces. */
import type { BrokenRule } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { createAsideProcess } from '../../work/aside-process.ts'
import type { JsonBounds } from './json.ts'
import { noteErrors, type SchemaError } from './validation.ts'

/**
 * One message of the process. If it refuses the body, it sends only the reason. Otherwise it first sends the value and
 * its schema errors, with long lists left empty, and then the entries of these lists.
 */
export type JsonPiece =
  | { refusedFor: string | readonly (string | BrokenRule)[] }
  | { value: object; errors: SchemaError[] }
  | ListPiece
/** `list` is the path of a list. `entries` are the entries that follow those of the earlier messages. */
type ListPiece = { list: readonly string[]; entries: unknown[] }

/**
 * The function `readAside`, which the module of a route's `asideReader` exports. The separate process calls it with
 * each large body that it has parsed. The function does further work on the fields, so that the main process need not
 * do it. It returns the body with the results in place of these fields. Long lists of results must be empty in this
 * body. Their entries are in `lists`, so that they are sent in several messages.
 */
export type AsideReader = (body: object) => { body: object; lists: ListPiece[] }

export type JsonJob = {
  bounds: JsonBounds | undefined
  /** The JSON Schema as text. The process uses it as the key of the compiled schema. */
  schemaText: string
  /** The URL of the module that exports the `AsideReader`. */
  reader: string | undefined
}

const schemaTexts = new WeakMap<object, string>()

function textOf(schema: object): string {
  const text = schemaTexts.get(schema) ?? JSON.stringify(schema)
  schemaTexts.set(schema, text)
  return text
}

const aside = createAsideProcess(new URL('./json-process.ts', import.meta.url))

/**
 * How many entries of a list one message contains. The main process needs a few milliseconds to receive such a message.
 */
const entriesOfPiece = 500

/**
 * Does the work of `countValues`, `readJson` and the schema check in a separate process. It returns only the fields
 * that the operation reads (`neededFields`).
 *
 * @throws DomainError 'invalid' for invalid JSON, or when the body exceeds `bounds`; 'unavailable' when the process was
 *   killed
 */
export async function readJsonAside(
  bytes: Uint8Array,
  { bounds, schema, reader }: { bounds?: JsonBounds | undefined; schema: object; reader?: URL | undefined },
): Promise<object> {
  let value: object = {}
  const job: JsonJob = { bounds, schemaText: textOf(schema), reader: reader?.href }
  for await (const piece of aside.pieces<JsonPiece>(job, bytes)) {
    if ('refusedFor' in piece) throw new DomainError('invalid', piece.refusedFor)
    if ('value' in piece) {
      value = piece.value
      noteErrors(value, piece.errors)
    } else listAt(value, piece.list).push(...piece.entries)
  }
  return value
}

function listAt(value: object, path: readonly string[]): unknown[] {
  let inner: unknown = value
  for (const name of path) inner = (inner as Record<string, unknown>)[name]
  return inner as unknown[]
}

/**
 * Returns the fields of a body that the operation reads: the fields with a type in the schema. A field with an error is
 * undefined. For a body that is not an object, it returns an empty list.
 */
export function neededFields(
  value: unknown,
  { properties = {} }: { properties?: Record<string, object> },
  errors: readonly SchemaError[],
): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const invalid = new Set(errors.map(({ instancePath }) => instancePath.split('/')[1]))
  const isTyped = (name: string): boolean => ['type', 'anyOf'].some(rule => rule in (properties[name] ?? {}))
  const needed = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name) && isTyped(name))
  return Object.fromEntries(needed.map(([name, inner]) => [name, invalid.has(name) ? undefined : inner]))
}

/** Splits a value into messages. Only long lists that are direct fields of the object are split. */
export function splitValue(value: object, errors: SchemaError[]): JsonPiece[] {
  if (Array.isArray(value)) return [{ value, errors }]
  const head: Record<string, unknown> = {}
  const entries: JsonPiece[] = []
  for (const [name, inner] of Object.entries(value)) {
    const isLong = Array.isArray(inner) && inner.length > entriesOfPiece
    head[name] = isLong ? [] : inner
    for (let from = 0; isLong && from < inner.length; from += entriesOfPiece)
      entries.push({ list: [name], entries: inner.slice(from, from + entriesOfPiece) })
  }
  return [{ value: head, errors }, ...entries]
}
