/**
 * Converts the terminals of a form to the JSON text that is stored and sent to readers. A list may be long, so it is walked over
 * only once; for a large body this happens in a worker thread.
 */
import type { Terminal } from './terms.ts'

export type TerminalList = {
  count: number
  /** JSON in UTF-8; null: the stored terminals stay. */
  text: Uint8Array | null
}

/** `list` null: some entry has no id. */
export type ReadTerminals = {
  list: TerminalList | null
  /** Positions of ids that appear earlier in the list, too. */
  repeated: number[]
}

export const noTerminals: TerminalList = { count: 0, text: Buffer.from('[]') }
/** Further errors are not listed: nobody reads more. */
const maxRepeated = 100

/** @param value as it was sent, or the result of `readAside`. @returns undefined for anything but a list */
export function readTerminals(value: unknown): ReadTerminals | undefined {
  if (isRead(value)) return value
  if (!Array.isArray(value)) return undefined
  const known = new Set<string>()
  const repeated: number[] = []
  const terminals: Terminal[] = []
  for (const [index, item] of value.entries()) {
    const terminal_id: unknown = item?.terminal_id
    if (typeof terminal_id !== 'string') continue
    if (known.has(terminal_id) && repeated.length < maxRepeated) repeated.push(index)
    known.add(terminal_id)
    terminals.push({
      terminal_id,
      terminal_name: item.terminal_name ?? null,
      terminal_location: item.terminal_location ?? null,
      merchant_id: item.merchant_id ?? null,
      merchant_name: item.merchant_name ?? null,
    })
  }
  const isWhole = terminals.length === value.length
  return { list: isWhole ? { count: terminals.length, text: bytesOf(terminals) } : null, repeated }
}

/** Runs in the worker thread of a large body: returns the body with its terminals read. */
export function readAside(body: object): { body: object; memory: ArrayBuffer[] } {
  const terminals = 'terminals' in body ? readTerminals(body.terminals) : undefined
  if (!terminals?.list?.text) return { body, memory: [] }
  return { body: { ...body, terminals }, memory: [terminals.list.text.buffer as ArrayBuffer] }
}

/** Distinguishes a list that was read already from anything that a client can send: JSON cannot hold bytes. */
const isRead = (value: unknown): value is ReadTerminals =>
  (value as ReadTerminals | null)?.list?.text instanceof Uint8Array

/** In a buffer of its own, so that it can be transferred to another thread. */
const bytesOf = (terminals: readonly Terminal[]): Uint8Array => new TextEncoder().encode(JSON.stringify(terminals))
