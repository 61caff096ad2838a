/**
 * Compares the end of the log with the outbox, which still has the entries of the last two days. So it finds entries
 * that somebody has cut off at the end of the log before a checkpoint covered them (contract/audit-log.md, "Checking").
 */
import { platformAccountId } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { isFor, newestPosition } from '../outbox/position.ts'
import type { Fault } from './verifier.ts'

/** How many of the newest outbox rows one check reads. Most of them are not audit entries. */
const maxScanned = 200_000
/**
 * Entries that are older than this are not compared. The outbox keeps its rows for fewer days. It still has an older
 * entry only if that entry joined the chain late.
 */
const maxDays = 7

/**
 * Finds the first entry since the last checkpoint that was recorded and chained but is no longer in the log; null when
 * none is missing. One statement reads the position of the chain and the log, so that both are from the same snapshot.
 *
 * The outbox has the entry without `accountSeq` and `account`, so the comparison leaves these two fields out. Several
 * entries may then be equal. So the statement counts them: the log must have at least as many as the outbox.
 */
export async function findLostEntry(database: Queryable): Promise<Fault | null> {
  const [lost] = await database.query<{ next: number | null; last: number }>(`
    with newest as materialized (
      select xid, kind, account_type, account, data, only_for from outbox order by xid desc limit ${maxScanned}
    ), recorded as materialized (
      select account_type, coalesce(account, '${platformAccountId}') as account_id, data,
        (data ->> 'at')::timestamptz as at, count(*) as times
      from newest
      where ${isFor('audit-log')}
        and pg_visible_in_snapshot(xid, ${newestPosition('audit-log')}::pg_snapshot)
      group by account_type, account, data
    ), lost as (
      select at from recorded
      where at >= greatest(now() - interval '${maxDays} days',
          (select at from audit_anchors where kind = 'checkpoint' order by anchor_id desc limit 1))
        and times > (
          select count(*) from audit_log as l
          where l.account_type = recorded.account_type and l.account_id = recorded.account_id and l.at = recorded.at
            and l.entry::jsonb - 'accountSeq' - 'account' = recorded.data)
      order by at limit 1
    )
    select (select seq from audit_log where audit_log.at >= lost.at order by audit_log.at, seq limit 1) as next,
      coalesce((select max(seq) from audit_log), 0) as last
    from lost`)
  if (!lost) return null
  return lost.next === null ? { seq: lost.last + 1, reason: 'cut-off' } : { seq: lost.next, reason: 'missing' }
}
