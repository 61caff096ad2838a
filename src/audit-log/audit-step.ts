/**
 * The audit's check of the log: recomputes the chain of the last two days. The checking code (`verifier.ts`) and the
 * writing code share only the hash functions (`chain.ts`).
 */
import { type Account, platformAccountId } from '../caller.ts'
import { realMs } from '../clock.ts'
import type { Check, Step } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import type { Head } from './chain.ts'
import { findKeptAnchors } from './check.ts'
import { lineColumns } from './lines-store.ts'
import { findLostEntry } from './lost-entry-store.ts'
import { findEarlyRemoval, minYears } from './removals.ts'
import { accountKeyOf, createVerifier, type Fault, type Line } from './verifier.ts'

export const auditLogCheck: Check = {
  code: 'audit-log',
  name: 'the audit log of the last two days is as it was written',
  holds:
    'each entry continues the one before it, of all and of its account, and what was recorded since the last checkpoint is there',
}

const recentMs = 2 * 86_400_000
const linesAtOnce = 1_000

export const auditLogStep: Step = {
  name: auditLogCheck.code,
  table: 'audit_log',
  async next(database, after) {
    const from = after ? Number(after[0]) : await findStart(database, new Date(realMs() - recentMs))
    // Read the checkpoints before the entries. If we read the entries first, a checkpoint made after that could cover
    // entries that are missing in `lines`, and the audit would report that the log was cut off.
    const anchors = await findKeptAnchors(database, from)
    const early = after ? null : await findEarlyRemoval(database, { outside: [], years: minYears })
    const lines = await findLines(database, from)
    const isLast = lines.length < linesAtOnce
    const last = lines.at(-1)?.seq ?? from
    const start = { all: await findHead(database, from), ofAccount: await findAccountHeads(database, from, last) }
    const verifier = createVerifier(start, isLast ? anchors : anchors.filter(({ seq }) => seq <= last))
    const fits = lines.every(line => verifier.add(line))
    const broken = early ?? verifier.end().fault
    const fault = broken ?? (isLast ? await findLostEntry(database) : null)
    // After the first bad entry nothing can be proven, so the check ends there.
    const reached = fits && !isLast ? [String(last)] : null
    return {
      findings: fault ? [{ code: auditLogCheck.code, text: textOf(fault) }] : [],
      counts: {},
      rows: lines.length,
      reached,
    }
  },
}

const textOf = ({ seq, reason }: Fault): string => `entry ${seq} of the audit log does not fit: ${reason}`

/**
 * Returns the number of the last entry before an instant. If there is none, it returns the number of the last removed
 * entry, or 0 when no entry was ever removed.
 */
async function findStart(database: Queryable, before: Date): Promise<number> {
  const [row] = await database.query<{ seq: number }>(
    `select coalesce(
       (select seq from audit_log where at < $1 order by at desc, seq desc limit 1),
       (select seq from audit_anchors where kind = 'removed' and account_type is null order by anchor_id desc limit 1), 0) as seq`,
    [before],
  )
  return row?.seq ?? 0
}

const findLines = (database: Queryable, after: number): Promise<(Line & { seq: number })[]> =>
  database.query(`select ${lineColumns} from audit_log where seq > $1 order by seq limit ${linesAtOnce}`, [after])

/**
 * The head (number and hash) of the whole log at entry `seq`. If old entries up to `seq` were removed, the head comes
 * from the record of this removal. It is null when neither the entry nor such a record exists. Number 0 means the head
 * before the first entry.
 */
async function findHead(database: Queryable, seq: number): Promise<Head | null> {
  const [head] = await database.query<Head>(
    `select seq, hash from audit_log where seq = $1
     union all select seq, hash from audit_anchors where kind = 'removed' and account_type is null and seq = $1 limit 1`,
    [seq],
  )
  return head ?? (seq === 0 ? { seq: 0, hash: Buffer.alloc(32) } : null)
}

type AccountHead = Head & { type: 'bank' | 'merchant' | 'platform'; id: Account['id'] }

/**
 * The heads (number and hash) of the chains of all accounts that have entries after `from` and up to `last`. Each is
 * the account's last entry up to `from`.
 */
async function findAccountHeads(database: Queryable, from: number, last: number): Promise<Map<string, Head>> {
  const heads = await database.query<AccountHead>(
    `select type, id, head.seq, head.hash
     from (select distinct account_type as type, account_id as id from audit_log where seq > $1 and seq <= $2) as accounts
     cross join lateral (
       (select account_seq as seq, account_hash as hash from audit_log
        where account_type = type and account_id = id and audit_log.seq <= $1 order by audit_log.seq desc limit 1)
       union all
       (select seq, hash from audit_anchors
        where kind = 'removed' and account_type = type and account_id = id order by seq desc limit 1)
       order by seq desc limit 1
     ) as head`,
    [from, last],
  )
  return new Map(
    heads.map(({ type, id, seq, hash }) => [
      accountKeyOf({ type, id: id === platformAccountId ? null : id }),
      { seq, hash },
    ]),
  )
}
