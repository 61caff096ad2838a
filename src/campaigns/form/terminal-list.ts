/**
 * Converts the terminals of a form to the JSON text that is stored and sent to readers. A list may be long, so it is
 * read only once. For a large body, another process does this.
 */
import { chunks } from '../../text/chunks.ts'
import { plainLine } from '../../text/text-rules.ts'

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
  /**
   * The texts that break the rule `plainLine`, as paths in the list, like `3.terminal_name`. The schema reports control characters in
   * `terminal_id`, so these are not here.
   */
  unfit: readonly string[]
}

/** The result of reading a form's terminals. `list` is null when some entry has no id. */
export type ReadTerminals = {
  list: TerminalList | null
  /** Positions of ids that also appear earlier in the list. */
  repeated: number[]
}

export const noTerminals: TerminalList = { count: 0, text: [Buffer.from('[]')], unfit: [] }
/** Maximum number of repeated ids that are reported. Nobody reads more. */
const maxRepeated = 100

/**
 * Reads the terminals of a form.
 *
 * @param value as it was sent, or the result of `readAside`
 * @returns undefined when the value is not a list
 */
export function readTerminals(value: unknown): ReadTerminals | undefined {
  if (isRead(value)) return value
  if (!Array.isArray(value)) return undefined
  const known = new Set<string>()
  const repeated: number[] = []
  const unfit: string[] = []
  const terminals: Terminal[] = []
  for (const [index, item] of value.entries()) {
    const terminal_id: unknown = item?.terminal_id
    if (typeof terminal_id !== 'string') continue
    if (known.has(terminal_id) && repeated.length < maxRepeated) repeated.push(index)
    known.add(terminal_id)
    const terminal = {
      terminal_id,
      terminal_name: item.terminal_name ?? null,
      terminal_location: item.terminal_location ?? null,
      merchant_id: item.merchant_id ?? null,
      merchant_name: item.merchant_name ?? null,
    }
    terminals.push(terminal)
    for (const [field, text] of Object.entries(terminal))
      if (typeof text === 'string' && !plainLine.holds(text) && !(field === 'terminal_id' && /\p{Cc}/u.test(text)))
        unfit.push(`${index}.${field}`)
  }
  const isWhole = terminals.length === value.length
  return { list: isWhole ? { count: terminals.length, text: textOf(terminals), unfit } : null, repeated }
}

/**
 * Replaces the terminals in a body by the result of reading them. Runs in the process that reads large bodies, and sends
 * them back in pieces.
 *
 * @returns `body`: the body as it was sent, but `terminals` is a `ReadTerminals` whose lists `text` and `unfit` are empty.
 *   `lists`: the entries of these two lists, in order and in pieces; `list` is the path of the list in `body`. If
 *   `terminals` is no list of terminals with ids, `body` is unchanged and `lists` is empty
 */
export function readAside(body: object): { body: object; lists: { list: string[]; entries: unknown[] }[] } {
  const terminals = 'terminals' in body ? readTerminals(body.terminals) : undefined
  const { list, repeated } = terminals ?? {}
  if (!list?.text) return { body, lists: [] }
  return {
    body: { ...body, terminals: { list: { count: list.count, text: [], unfit: [] }, repeated } },
    lists: [
      ...list.text.map(piece => ({ list: ['terminals', 'list', 'text'], entries: [piece] })),
      ...chunks(list.unfit, pathsOfPiece).map(entries => ({ list: ['terminals', 'list', 'unfit'], entries })),
    ],
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
/** How many paths a message contains. They are far shorter than `pieceBytes`. */
const pathsOfPiece = 1_000

function textOf(terminals: readonly Terminal[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(JSON.stringify(terminals))
  const count = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: count }, (_, place) => bytes.subarray(place * pieceBytes, (place + 1) * pieceBytes))
}
