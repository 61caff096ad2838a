/**
 * Large JSON bodies: read and checked in a thread of their own, and handed over some entries of their lists at a time.
 */
import type { BrokenRule } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { piecesOfThread } from '../../work/worker-pieces.ts'
import type { JsonBounds } from './json.ts'
import { noteFaults, type SchemaFault } from './validation.ts'

/** A fault of the JSON; or the value with its long lists empty and its faults by the schema, and then the entries of those lists. */
export type JsonPiece =
  | { fault: string | readonly (string | BrokenRule)[] }
  | { value: object; faults: SchemaFault[] }
  | { list: string; entries: unknown[] }

/**
 * What a module that a route names as its `asideReader` exports as `readAside`: makes of a body's fields what is shorter to go over.
 * `memory` is handed over with it.
 */
export type AsideReader = (body: object) => { body: object; memory: ArrayBuffer[] }

/** Taken in within some milliseconds. */
const entriesOfPiece = 500

/**
 * As `countValues` and `readJson`, beside this thread, and checked by the schema already. Only the fields that are
 * still needed are handed over (`neededFields`).
 *
 * @param bytes are gone afterwards
 * @throws DomainError 'invalid' for what is no JSON, or too much
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
    if ('fault' in piece) throw new DomainError('invalid', piece.fault)
    if ('value' in piece) {
      value = piece.value
      noteFaults(value, piece.faults)
    } else (value as Record<string, unknown[]>)[piece.list]?.push(...piece.entries)
  }
  return value
}

/**
 * The fields of a body that somebody will look at: those that the schema knows and has a type for, undefined where it has found a
 * fault. Of anything but an object nothing is left.
 */
export function neededFields(
  value: unknown,
  { properties = {} }: { properties?: Record<string, object> },
  faults: readonly SchemaFault[],
): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const faulty = new Set(faults.map(({ instancePath }) => instancePath.split('/')[1]))
  const isTyped = (name: string): boolean => ['type', 'anyOf'].some(rule => rule in (properties[name] ?? {}))
  const needed = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name) && isTyped(name))
  return Object.fromEntries(needed.map(([name, inner]) => [name, faulty.has(name) ? undefined : inner]))
}

/** The pieces of a value, of which those lists are long that an object has as its own fields. */
export function splitValue(value: object, faults: SchemaFault[]): JsonPiece[] {
  if (Array.isArray(value)) return [{ value, faults }]
  const head: Record<string, unknown> = {}
  const entries: JsonPiece[] = []
  for (const [name, inner] of Object.entries(value)) {
    const isLong = Array.isArray(inner) && inner.length > entriesOfPiece
    head[name] = isLong ? [] : inner
    for (let from = 0; isLong && from < inner.length; from += entriesOfPiece)
      entries.push({ list: name, entries: inner.slice(from, from + entriesOfPiece) })
  }
  return [{ value: head, faults }, ...entries]
}
