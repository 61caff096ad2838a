/** Reads and checks large JSON bodies in a worker thread, which sends the entries of their lists in pieces. */
import type { BrokenRule } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { piecesOfThread } from '../../work/worker-pieces.ts'
import type { JsonBounds } from './json.ts'
import { noteErrors, type SchemaError } from './validation.ts'

/** A JSON error; or the value with its long lists emptied and its schema errors, followed by the entries of those lists. */
export type JsonPiece =
  | { refusedFor: string | readonly (string | BrokenRule)[] }
  | { value: object; errors: SchemaError[] }
  | { list: string; entries: unknown[] }

/**
 * The export `readAside` of the module that a route names as its `asideReader`. It replaces a body's fields by something that
 * this thread processes faster. `memory` is transferred with the result.
 */
export type AsideReader = (body: object) => { body: object; memory: ArrayBuffer[] }

/** This thread receives so many entries in a few milliseconds. */
const entriesOfPiece = 500

/**
 * Does the work of `countValues`, `readJson` and the schema check in a worker thread. Only the fields that are needed come back
 * (`neededFields`).
 *
 * @param bytes transferred to the thread, so unusable afterwards
 * @throws DomainError 'invalid' for invalid JSON, or too much of it
 */
export async function readJsonAside(
  bytes: Uint8Array<ArrayBuffer>,
  { bounds, schema, reader }: { bounds?: JsonBounds | undefined; schema: object; reader?: URL | undefined },
): Promise<object> {
  let value: object = {}
  const file = new URL('./json-worker.ts', import.meta.url)
  for await (const piece of piecesOfThread<JsonPiece>(file, { bytes, bounds, schema, reader: reader?.href }, [
    bytes.buffer,
  ])) {
    if ('refusedFor' in piece) throw new DomainError('invalid', piece.refusedFor)
    if ('value' in piece) {
      value = piece.value
      noteErrors(value, piece.errors)
    } else (value as Record<string, unknown[]>)[piece.list]?.push(...piece.entries)
  }
  return value
}

/**
 * The fields of a body that the operation reads: those with a type in the schema, set to undefined when they have an error.
 * Returns nothing of a body that is no object.
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

/** The pieces of a value. Only long lists that are direct fields of the object are split. */
export function splitValue(value: object, errors: SchemaError[]): JsonPiece[] {
  if (Array.isArray(value)) return [{ value, errors }]
  const head: Record<string, unknown> = {}
  const entries: JsonPiece[] = []
  for (const [name, inner] of Object.entries(value)) {
    const isLong = Array.isArray(inner) && inner.length > entriesOfPiece
    head[name] = isLong ? [] : inner
    for (let from = 0; isLong && from < inner.length; from += entriesOfPiece)
      entries.push({ list: name, entries: inner.slice(from, from + entriesOfPiece) })
  }
  return [{ value: head, errors }, ...entries]
}
