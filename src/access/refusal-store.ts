/**
 * All SQL of refusals that were counted but not yet recorded in the audit log. Rows are deleted after some minutes.
 * Times are real time, by the database's clock.
 */
import type { Queryable } from '../db/database.ts'
import type { Fact } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'

/**
 * Why an attempt was refused: the password, the code or the secret was wrong. `no-code` means that the password was right,
 * and that nobody sent the code of the second factor in time. `access` means that the password
 * or secret was right, but the login may not be used now: it was disabled or revoked, its bank or merchant is suspended, it
 * belongs to another kind of account, or it may not log in from this address.
 */
export type Lacking = 'password' | 'code' | 'no-code' | 'secret' | 'access'

/** The stored sum of the refusals of one login, or of all unknown logins together. `since` is an instant (ISO 8601). */
export type KeptSum = {
  origin: Origin
  fact: Pick<Fact, 'action' | 'object' | 'owner'>
  tries: number
  /** How many of the tries came from the portal's own page. */
  byPortal: number
  /** How many of the tries were refused for each reason. */
  lacking: Partial<Record<Lacking, number>>
  addresses: string[]
  since: string
}

/** Summed refusals as stored. During an upgrade, processes of an earlier version leave out `lacking` and `byPortal`. */
type Kept = Omit<KeptSum, 'byPortal' | 'lacking'> & Partial<KeptSum>

/** Stores the present sums of a process. */
export async function keepSums(
  database: Queryable,
  processId: string,
  sums: readonly (readonly [key: string, sum: KeptSum])[],
): Promise<void> {
  await database.execute(
    `insert into refusal_counts (process_id, sum_key, data, counted_at)
     select $1, key, data::jsonb, now() from unnest($2::text[], $3::text[]) as sums (key, data)
     on conflict (process_id, sum_key) do update set data = excluded.data, counted_at = excluded.counted_at`,
    [processId, sums.map(([key]) => key), sums.map(([, sum]) => JSON.stringify(sum))],
  )
}

/** Deletes the refusals that a process has counted, in the transaction that records them in the audit log. */
export async function forgetSums(transaction: Queryable, processId: string): Promise<void> {
  await transaction.execute('delete from refusal_counts where process_id = $1', [processId])
}

/** Deletes and returns some counts of refusals that were not updated for so long that their process must have ended. */
export async function takeLostSums(
  transaction: Queryable,
  { minutes, limit }: { minutes: number; limit: number },
): Promise<KeptSum[]> {
  const taken = await transaction.query<{ data: Kept }>(
    `delete from refusal_counts using (
       select process_id, sum_key from refusal_counts where counted_at < now() - make_interval(mins => $1)
       order by counted_at limit $2 for update skip locked) as lost
     where refusal_counts.process_id = lost.process_id and refusal_counts.sum_key = lost.sum_key
     returning data`,
    [minutes, limit],
  )
  return taken.map(({ data }) => ({ byPortal: 0, lacking: {}, ...data }))
}
