/**
 * Checks that entries missing from the beginning of the log were old enough to be removed (contract/audit-log.md,
 * "Checking"). Somebody with write access to the database could delete young entries and forge a record which says that
 * they were old. A checkpoint can reveal that. Entries after a checkpoint are not older than the checkpoint. So if a
 * young checkpoint comes before a removed entry, that entry was young, too.
 */
import { realMs } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import type { Anchor, Fault } from './verifier.ts'

/**
 * The minimum time for which entries are kept, whatever the setting. The database's function also refuses a shorter
 * time.
 */
export const minYears = 1

/**
 * An entry after a checkpoint may be older than the checkpoint by this much. It gets its time when it is written, but
 * joins the chain later, for example after a long transaction or after a time without a running worker.
 */
const slackMs = 86_400_000

const yearMs = 365 * 86_400_000

export type TimedAnchor = Anchor & { at: Date }

/**
 * The first entry that was removed too early; null: none.
 *
 * @param params.outside checkpoints kept outside the database, in addition to the stored ones
 * @param params.years how long entries are kept
 */
export async function findEarlyRemoval(
  database: Queryable,
  { outside, years }: { outside: readonly TimedAnchor[]; years: number },
): Promise<Fault | null> {
  const removed = await findRemoved(database)
  if (removed === null) return null
  const kept = await findFirstRecent(database, removed.seq, new Date(realMs() - years * yearMs + slackMs))
  const trusted = outside.filter(({ hash }) => hash !== null)
  const covering = [...trusted, ...kept].filter(
    ({ at, seq }) => isYoung(at.getTime() - slackMs, years) && seq < removed.seq,
  )
  const isRecorded = removed.entryAt !== null && !isYoung(removed.entryAt.getTime(), minYears)
  const early = [...covering.map(({ seq }) => seq + 1), ...(isRecorded ? [] : [removed.seq])]
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

/**
 * Finds the stored checkpoints made after `since` whose last entry has a number below `before`, and returns the oldest
 * of them. The list is empty if there is none.
 */
function findFirstRecent(database: Queryable, before: number, since: Date): Promise<{ seq: number; at: Date }[]> {
  return database.query(
    `select seq, at from audit_anchors where kind = 'checkpoint' and at > $2 and seq < $1 order by at limit 1`,
    [before, since],
  )
}
