/**
 * Whether what is gone from the beginning of the log was old enough (contract/audit-log.md, "Checking"). Whoever can write rows can also
 * write that something was removed because of its age. A checkpoint knows better: what came behind it is not older than it.
 */
import { realMs } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import type { Anchor, Fault } from './verifier.ts'

/** No setting keeps entries for a shorter time; the database's function refuses it, too. */
export const leastYears = 1

/** Between the time of an entry and its chaining: a long transaction, a worker that was away. */
const slackMs = 86_400_000

const yearMs = 365 * 86_400_000

export type TimedAnchor = Anchor & { at: Date }

/**
 * The first entry that was removed too early; null: none.
 *
 * @param given.outside checkpoints from outside of the database, beside those that it keeps
 * @param given.years how long entries are kept
 */
export async function findEarlyRemoval(
  database: Queryable,
  { outside, years }: { outside: readonly TimedAnchor[]; years: number },
): Promise<Fault | null> {
  const removed = await findRemoved(database)
  if (removed === null) return null
  const kept = await findFirstRecent(database, removed.seq, new Date(realMs() - years * yearMs + slackMs))
  const believed = outside.filter(({ hash }) => hash !== null)
  const covering = [...believed, ...kept].filter(
    ({ at, seq }) => isYoung(at.getTime() - slackMs, years) && seq < removed.seq,
  )
  const isTold = removed.entryAt !== null && !isYoung(removed.entryAt.getTime(), leastYears)
  const early = [...covering.map(({ seq }) => seq + 1), ...(isTold ? [] : [removed.seq])]
  return early.length === 0 ? null : { seq: Math.min(...early), reason: 'missing' }
}

const isYoung = (ms: number, years: number): boolean => ms > realMs() - years * yearMs

async function findRemoved(database: Queryable): Promise<{ seq: number; entryAt: Date | null } | null> {
  const [row] = await database.query<{ seq: number; entryAt: Date | null }>(
    `select seq, entry_at as "entryAt" from audit_anchors
     where kind = 'removed' and account_type is null order by seq desc limit 1`,
  )
  return row ?? null
}

/** The first kept checkpoint that is younger. */
function findFirstRecent(database: Queryable, before: number, since: Date): Promise<{ seq: number; at: Date }[]> {
  return database.query(
    `select seq, at from audit_anchors where kind = 'checkpoint' and at > $2 and seq < $1 order by at limit 1`,
    [before, since],
  )
}
