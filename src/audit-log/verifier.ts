/**
 * Checks a log entry by entry (contract/audit-log.md, "Checking"). Needs no database, because the command that checks a file works
 * without a platform. Reports the first bad entry; nothing can be proven after it.
 */

import type { Entry } from '../outbox/audit-entry.ts'
import { accountHashOf, firstHead, type Head, hashOf } from './chain.ts'

export const faultReasons = ['changed', 'missing', 'added', 'cut-off', 'forked', 'checkpoint'] as const
export type Fault = { seq: number; reason: (typeof faultReasons)[number] }

/**
 * `seq` and `hash` are null in a file that a partner has exported. Such a file is checked by the chain of the
 * partner's account.
 */
export type Line = {
  seq: number | null
  entry: string
  accountHash: Buffer
  hash: Buffer | null
  /**
   * The database columns that repeat parts of `entry`, joined as `columnsOf` does it; undefined for a line of a file.
   */
  columns?: string
}
/**
 * The hash of entry `seq` according to a checkpoint; null when the checkpoint cannot be trusted. `at` is the time of
 * the checkpoint, if known.
 */
export type Anchor = { seq: number; hash: Buffer | null; at?: Date }

export type Verified = {
  ok: boolean
  entries: number
  /** The first entry that was checked and is right; null: none. */
  checkedFrom: { seq: number; at: string } | null
  /** The last entry that was checked and is right; null: none. */
  checkedUntil: { seq: number; at: string } | null
  fault: Fault | null
}

export type Start = {
  /** The head of the chain of the whole log before the first line; null: any first line is accepted. */
  all: Head | null
  /** The heads of the accounts' chains before the first line. */
  ofAccount?: ReadonlyMap<string, Head>
}

type Chain = { head: Head; before: Head | null }

export const accountKeyOf = ({ type, id }: Entry['account']): string => `${type} ${id ?? ''}`

/**
 * Returns the value that `Line.columns` must have for this entry; null for a text that is no entry. Searches and
 * removals use the columns and not the entry's text. So the check compares the columns too, in case somebody has
 * changed only them.
 */
function columnsOf(text: string): string | null {
  const entry = readEntry(text)
  if (entry === null) return null
  const { account, accountSeq, at, action, object, actor } = entry
  const values = [accountKeyOf(account), accountSeq, at, action, object?.type, actor?.id, object?.id]
  return values.map(value => value ?? '').join(' ')
}

export type Verifier = {
  /** @returns false after the first error; further lines need not be read */
  add(line: Line): boolean
  end(): Verified
  /**
   * How many entries could not be checked, because the hash before them is not known. If a log begins after number 1,
   * this is the first entry of each account whose own entry 1 is not in the log.
   */
  unproven(): number
}

/**
 * The number of the last entry that a checkpoint covers; 0 without checkpoints. The function does not pass all anchors
 * to `Math.max` at once, because a call cannot take so many arguments.
 */
export const lastOf = (anchors: readonly Anchor[]): number => anchors.reduce((last, { seq }) => Math.max(last, seq), 0)

/** @param anchors in any order. Anchors before the first line are ignored */
export function createVerifier(start: Start, anchors: readonly Anchor[]): Verifier {
  const bySeq = Map.groupBy(anchors, ({ seq }) => seq)
  const lastAnchored = lastOf(anchors)
  const accounts = new Map<string, Chain>()
  for (const [key, head] of start.ofAccount ?? []) accounts.set(key, { head, before: null })
  let all: Chain | null = start.all && { head: start.all, before: null }
  let isPart = start.all === null
  let unproven = 0
  let fault: Fault | null = anchors.some(anchor => anchor.hash === null) ? badAnchor() : null
  let entries = 0
  let checkedFrom: Verified['checkedFrom'] = null
  let checkedUntil: Verified['checkedUntil'] = null

  function badAnchor(): Fault {
    return { seq: anchors.find(({ hash }) => hash === null)?.seq ?? 0, reason: 'checkpoint' }
  }

  const check = (line: Line): Fault | null => {
    const read = readHead(line.entry)
    const seq = line.seq ?? read?.accountSeq ?? (all?.head.seq ?? 0) + 1
    const isOwn = line.seq === null
    if (all === null && seq === 1) {
      all = { head: firstHead, before: null }
      isPart = false
    }
    const expected = all === null ? seq : all.head.seq + 1
    if (seq > expected) return { seq: expected, reason: 'missing' }
    if (seq < expected) return { seq, reason: isForked(line, seq, all, isOwn) ? 'forked' : 'added' }
    if (read === null) return { seq, reason: 'changed' }
    const key = accountKeyOf(read.account)
    // A partner's file has the entries of one account only, so somebody has added this entry of another account.
    if (isOwn && accounts.size > 0 && !accounts.has(key)) return { seq, reason: 'added' }
    const account = accounts.get(key) ?? startOf(read, isPart)
    const linkFault = checkLink(line, read, { seq, account, all: isOwn ? null : all })
    if (linkFault !== null) return linkFault
    if (line.columns !== undefined && line.columns !== columnsOf(line.entry)) return { seq, reason: 'changed' }
    if (account === null) unproven++
    accounts.set(key, { head: { seq: read.accountSeq, hash: line.accountHash }, before: account?.head ?? null })
    const hash = isOwn ? line.accountHash : (line.hash ?? firstHead.hash)
    const anchored = bySeq.get(seq) ?? []
    if (anchored.some(anchor => anchor.hash !== null && !anchor.hash.equals(hash))) return { seq, reason: 'checkpoint' }
    all = { head: { seq, hash }, before: all?.head ?? null }
    entries++
    checkedUntil = { seq, at: read.at }
    checkedFrom ??= checkedUntil
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
      return { ok: fault === null, entries, checkedFrom, checkedUntil, fault }
    },
    unproven: () => unproven,
  }
}

/**
 * Finds out whether an entry continues both chains.
 *
 * @param at.account the chain of its account; null when the account's previous entry is not known
 * @param at.all the chain of the whole log; null when it is not known, or the file is of one account only
 */
function checkLink(
  line: Line,
  read: EntryHead,
  { seq, account, all }: { seq: number; account: Chain | null; all: Chain | null },
): Fault | null {
  const fitsAccount = account === null || accountHashOf(account.head.hash, line.entry).equals(line.accountHash)
  const fitsAll = all === null || hashOf(all.head.hash, seq, line.accountHash).equals(line.hash ?? firstHead.hash)
  const isNext = account === null || read.accountSeq === account.head.seq + 1
  if (fitsAccount && fitsAll && isNext) return null
  // Another entry has already continued the account's chain from the same earlier entry.
  if (account?.before && accountHashOf(account.before.hash, line.entry).equals(line.accountHash))
    return { seq, reason: 'forked' }
  return { seq, reason: fitsAccount || fitsAll ? 'changed' : 'added' }
}

/** How many checkpoints confirm the checked entries, the last entry that they confirm, and how many entries come after it. */
export type Covered = { checkpoints: number; until: number | null; uncovered: number }

export function coveredBy(
  anchors: readonly Anchor[],
  { entries, checkedUntil }: Pick<Verified, 'entries' | 'checkedUntil'>,
): Covered {
  const last = checkedUntil?.seq ?? 0
  const before = last - entries
  const fitting = anchors.filter(({ seq, hash }) => hash !== null && seq > before && seq <= last)
  const until = fitting.reduce<number | null>((max, { seq }) => Math.max(max ?? 0, seq), null)
  // A file may contain the same checkpoint several times.
  const checkpoints = new Set(fitting.map(({ seq, at }) => `${seq} ${at?.getTime()}`)).size
  return { checkpoints, until, uncovered: last - (until ?? before) }
}

/** The id of the account in the text of an entry; null for the platform, and for a text that is no entry. */
export const accountIdOf = (text: string): string | null => readHead(text)?.account.id ?? null

/**
 * Whether this entry and the one before it in the log have the same number, and both continue the chain correctly from
 * the same earlier entry. Then there are two versions of the log.
 */
function isForked(line: Line, seq: number, all: Chain | null, isOwn: boolean): boolean {
  if (!all?.before || seq !== all.head.seq) return false
  return isOwn
    ? accountHashOf(all.before.hash, line.entry).equals(line.accountHash)
    : hashOf(all.before.hash, seq, line.accountHash).equals(line.hash ?? firstHead.hash)
}

/**
 * Returns the state of an account's chain before the account's first line. It is null (unknown) when the log in the
 * file begins after entry 1 (`isPart`) and this line is not the account's entry 1. Such a line is accepted as it is.
 * Otherwise, the chain is empty.
 */
const startOf = ({ accountSeq }: EntryHead, isPart: boolean): Chain | null =>
  isPart && accountSeq !== 1 ? null : { head: firstHead, before: null }

/** The fields of an entry that the chain uses. */
type EntryHead = Pick<Entry, 'accountSeq' | 'at' | 'account'>

/** Matches the fields of `EntryHead`. The platform writes them first, so that most of the text need not be parsed. */
const headPattern =
  /^\{"accountSeq":(\d{1,15}),"at":"([^"\\]*)","account":\{"type":"([a-z]+)","id":(?:"([^"\\]*)"|null)\},/

function readHead(text: string): EntryHead | null {
  const [, accountSeq, at = '', type, id = null] = headPattern.exec(text) ?? []
  if (accountSeq === undefined) return readEntry(text)
  return { accountSeq: Number(accountSeq), at, account: { type, id } as Entry['account'] }
}

function readEntry(text: string): (EntryHead & Partial<Entry>) | null {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null
    const isEntry = Number.isSafeInteger(entry?.accountSeq) && typeof entry?.account?.type === 'string'
    return isEntry ? (entry as Entry) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
