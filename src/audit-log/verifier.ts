/**
 * Checks a log entry by entry (contract/audit-log.md, "Checking"). Pure, as the command that checks a file needs no platform. What the
 * first entry that does not fit breaks is told; behind it nothing can be said.
 */
import { accountHashOf, firstHead, type Head, hashOf } from './chain.ts'
import type { Entry } from './entry.ts'

export const faultReasons = ['changed', 'missing', 'added', 'cut-off', 'forked', 'checkpoint'] as const
export type Fault = { seq: number; reason: (typeof faultReasons)[number] }

/** `seq` and `hash` are null in a partner's file, which is checked by its own chain. */
export type Line = {
  seq: number | null
  entry: string
  accountHash: Buffer
  hash: Buffer | null
  /** What the database has beside the text, as `columnsOf` writes it; undefined in a file. */
  columns?: string
}
/** What a checkpoint says of the place `seq`; null: it says nothing that can be believed. */
export type Anchor = { seq: number; hash: Buffer | null }

export type Verified = {
  ok: boolean
  entries: number
  /** The last entry that fits. */
  checkedUntil: { seq: number; at: string } | null
  fault: Fault | null
}

export type Start = {
  /** Where the chain of all begins; null: with whatever line comes first. */
  all: Head | null
  /** Where those of accounts begin. */
  ofAccount?: ReadonlyMap<string, Head>
}

type Chain = { head: Head; before: Head | null }

export const accountKeyOf = ({ type, id }: Entry['account']): string => `${type} ${id ?? ''}`

/** What the columns beside the text must say: they are what searches and removals go by. */
const columnsOf = ({ account, accountSeq, at }: Entry): string => `${accountKeyOf(account)} ${accountSeq} ${at}`

export type Verifier = {
  /** @returns false once something does not fit: the rest needs not be read */
  add(line: Line): boolean
  end(): Verified
}

/** @param anchors in any order; those of what lies before the first line are passed over */
export function createVerifier(start: Start, anchors: readonly Anchor[]): Verifier {
  const bySeq = Map.groupBy(anchors, ({ seq }) => seq)
  const lastAnchored = Math.max(0, ...anchors.map(({ seq }) => seq))
  const accounts = new Map<string, Chain>()
  for (const [key, head] of start.ofAccount ?? []) accounts.set(key, { head, before: null })
  let all: Chain | null = start.all && { head: start.all, before: null }
  let fault: Fault | null = anchors.some(anchor => anchor.hash === null) ? badAnchor() : null
  let entries = 0
  let checkedUntil: Verified['checkedUntil'] = null

  function badAnchor(): Fault {
    return { seq: anchors.find(({ hash }) => hash === null)?.seq ?? 0, reason: 'checkpoint' }
  }

  const check = (line: Line): Fault | null => {
    const read = readEntry(line.entry)
    const seq = line.seq ?? read?.accountSeq ?? (all?.head.seq ?? 0) + 1
    const isOwn = line.seq === null
    const expected = all === null ? seq : all.head.seq + 1
    if (seq > expected) return { seq: expected, reason: 'missing' }
    if (seq < expected) return { seq, reason: isForked(line, seq, all, isOwn) ? 'forked' : 'added' }
    if (read === null) return { seq, reason: 'changed' }
    const key = accountKeyOf(read.account)
    const account = accounts.get(key) ?? startOf(read, start.all === null)
    const fitsAccount = account === null || accountHashOf(account.head.hash, line.entry).equals(line.accountHash)
    const fitsAll =
      isOwn || all === null || hashOf(all.head.hash, seq, line.accountHash).equals(line.hash ?? firstHead.hash)
    const isNext = account === null || read.accountSeq === account.head.seq + 1
    if (!fitsAccount || !fitsAll || !isNext) {
      if (account?.before && accountHashOf(account.before.hash, line.entry).equals(line.accountHash))
        return { seq, reason: 'forked' }
      return { seq, reason: fitsAccount || fitsAll ? 'changed' : 'added' }
    }
    if (line.columns !== undefined && line.columns !== columnsOf(read)) return { seq, reason: 'changed' }
    accounts.set(key, { head: { seq: read.accountSeq, hash: line.accountHash }, before: account?.head ?? null })
    const hash = isOwn ? line.accountHash : (line.hash ?? firstHead.hash)
    const anchored = bySeq.get(seq) ?? []
    if (anchored.some(anchor => anchor.hash !== null && !anchor.hash.equals(hash))) return { seq, reason: 'checkpoint' }
    all = { head: { seq, hash }, before: all?.head ?? null }
    entries++
    checkedUntil = { seq, at: read.at }
    return null
  }

  return {
    add(line) {
      fault ??= check(line)
      return fault === null
    },
    end() {
      const reached = all?.head.seq ?? 0
      if (fault === null && lastAnchored > reached) fault = { seq: reached + 1, reason: 'cut-off' }
      return { ok: fault === null, entries, checkedUntil, fault }
    },
  }
}

/** A number that was there already, and an entry that continues what the one before it continued. */
function isForked(line: Line, seq: number, all: Chain | null, isOwn: boolean): boolean {
  if (!all?.before || seq !== all.head.seq) return false
  return isOwn
    ? accountHashOf(all.before.hash, line.entry).equals(line.accountHash)
    : hashOf(all.before.hash, seq, line.accountHash).equals(line.hash ?? firstHead.hash)
}

/** Of an account that was not met before: its beginning, or in a log without its own whatever comes first. */
const startOf = ({ accountSeq }: Entry, isPart: boolean): Chain | null =>
  isPart && accountSeq !== 1 ? null : { head: firstHead, before: null }

function readEntry(text: string): Entry | null {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null
    const isEntry = typeof entry?.accountSeq === 'number' && typeof entry.account?.type === 'string'
    return isEntry ? (entry as Entry) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
