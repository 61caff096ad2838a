/** Large JSON bodies: read in a thread of their own, and handed over some entries of their lists at a time. */
import { DomainError } from '../errors.ts'
import { piecesOfThread } from '../worker-pieces.ts'
import type { JsonBounds } from './json.ts'

/** A fault; or the value with its long lists empty, and then their entries. */
export type JsonPiece = { fault: string | string[] } | { value: unknown } | { list: string; entries: unknown[] }

/** Taken in within some milliseconds. */
const entriesOfPiece = 500

/** As `countValues` and `readJson`, beside this thread. @throws DomainError 'invalid' */
export async function readJsonAside(bytes: Uint8Array, bounds: JsonBounds | undefined): Promise<unknown> {
  let value: unknown
  const pieces = piecesOfThread<JsonPiece>(new URL('./json-worker.ts', import.meta.url), { bytes, bounds })
  for await (const piece of pieces) {
    if ('fault' in piece) throw new DomainError('invalid', piece.fault)
    if ('value' in piece) value = piece.value
    else (value as Record<string, unknown[]>)[piece.list]?.push(...piece.entries)
  }
  return value
}

/** The pieces of a value, of which those lists are long that an object has as its own fields. */
export function splitValue(value: unknown): JsonPiece[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ value }]
  const head: Record<string, unknown> = {}
  const entries: JsonPiece[] = []
  for (const [name, inner] of Object.entries(value)) {
    const isLong = Array.isArray(inner) && inner.length > entriesOfPiece
    head[name] = isLong ? [] : inner
    for (let from = 0; isLong && from < inner.length; from += entriesOfPiece)
      entries.push({ list: name, entries: inner.slice(from, from + entriesOfPiece) })
  }
  return [{ value: head }, ...entries]
}
