/**
 * A campaign's own terminals on their way from a form into the database: as the JSON text that is stored and that readers get. A list
 * may be long, so nothing walks over it beside other requests: it is read once, of a large body in the thread that reads it.
 */
import type { Terminal } from './terms.ts'

export type TerminalList = {
  count: number
  /** JSON in UTF-8; null: those that are stored. */
  text: Uint8Array | null
}

/** `list` null: not every entry has an id. */
export type ReadTerminals = {
  list: TerminalList | null
  /** Where ids stand that stand before, too. */
  repeated: number[]
}

export const noTerminals: TerminalList = { count: 0, text: Buffer.from('[]') }
/** More faults than anybody reads are not listed. */
const mostRepeated = 100

/** @param value as it came, or what `readAside` has made of it. @returns undefined for anything but a list */
export function readTerminals(value: unknown): ReadTerminals | undefined {
  if (isRead(value)) return value
  if (!Array.isArray(value)) return undefined
  const known = new Set<string>()
  const repeated: number[] = []
  const terminals: Terminal[] = []
  for (const [index, item] of value.entries()) {
    const terminal_id: unknown = item?.terminal_id
    if (typeof terminal_id !== 'string') continue
    if (known.has(terminal_id) && repeated.length < mostRepeated) repeated.push(index)
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

/** In the thread that reads a large body: the body, with its terminals read. */
export function readAside(body: object): { body: object; memory: ArrayBuffer[] } {
  const terminals = 'terminals' in body ? readTerminals(body.terminals) : undefined
  if (!terminals?.list?.text) return { body, memory: [] }
  return { body: { ...body, terminals }, memory: [terminals.list.text.buffer as ArrayBuffer] }
}

/** No JSON has bytes: nobody can send what looks like a list that was read. */
const isRead = (value: unknown): value is ReadTerminals =>
  (value as ReadTerminals | null)?.list?.text instanceof Uint8Array

/** In memory of its own, which another thread can take over. */
const bytesOf = (terminals: readonly Terminal[]): Uint8Array => new TextEncoder().encode(JSON.stringify(terminals))
