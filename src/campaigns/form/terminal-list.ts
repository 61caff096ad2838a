/**
 * Converts the terminals of a form to the JSON text that is stored and sent to readers. A list may be long, so it is
 * read only once. For a large body, another process does this.
 */
/** One element of `terminals`, with the contract's field names. */
export type Terminal = {
  terminal_id: string
  terminal_name: string | null
  terminal_location: string | null
  merchant_id: string | null
  merchant_name: string | null
}

export type TerminalList = {
  count: number
  /** JSON in UTF-8, in pieces of at most 60 KiB, because it may be long; null: the stored terminals stay. */
  text: readonly Uint8Array[] | null
}

/** The result of reading a form's terminals. `list` is null when some entry has no id. */
export type ReadTerminals = {
  list: TerminalList | null
  /** Positions of ids that also appear earlier in the list. */
  repeated: number[]
}

export const noTerminals: TerminalList = { count: 0, text: [Buffer.from('[]')] }
/** Maximum number of repeated ids that are reported. Nobody reads more. */
const maxRepeated = 100

/**
 * Reads the terminals of a form. @param value as it was sent, or the result of `readAside` @returns undefined when the
 * value is not a list
 */
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
  return { list: isWhole ? { count: terminals.length, text: textOf(terminals) } : null, repeated }
}

/**
 * Replaces the terminals in a body by the result of reading them. Runs in the process that reads large bodies. `lists`
 * has the pieces of the terminals' text.
 */
export function readAside(body: object): { body: object; lists: { list: string[]; entries: unknown[] }[] } {
  const terminals = 'terminals' in body ? readTerminals(body.terminals) : undefined
  if (!terminals?.list?.text) return { body, lists: [] }
  const { list, repeated } = terminals
  return {
    body: { ...body, terminals: { list: { count: list.count, text: [] }, repeated } },
    lists: terminals.list.text.map(piece => ({ list: ['terminals', 'list', 'text'], entries: [piece] })),
  }
}

/**
 * Whether the value is a list that `readAside` has read. Such a list contains bytes, which JSON cannot contain, so no
 * client can send one.
 */
const isRead = (value: unknown): value is ReadTerminals =>
  (value as ReadTerminals | null)?.list?.text?.[0] instanceof Uint8Array

/**
 * The size of a piece of text. The process that receives the pieces reads up to 64 KiB at once. A message with one
 * piece fits into one read, so the process need not join parts of a message, which would take memory.
 */
const pieceBytes = 60 * 1024

function textOf(terminals: readonly Terminal[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(JSON.stringify(terminals))
  const count = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: count }, (_, place) => bytes.subarray(place * pieceBytes, (place + 1) * pieceBytes))
}
