/** SQL of replays: which events of a feed are sent again. */
import type { Account } from '../access/caller.ts'
import type { Queryable } from '../db/database.ts'

export type ReplayParams = {
  replayId: string
  endpointId: string
  from: number
  through: number
  /** Bounds of the events' timestamps, both inclusive; null: no bound. */
  since: Date | null
  until: Date | null
  types: string[] | null
  onlyFailed: boolean
}

/** SQL for the timestamp of the event `e`, taken from its body: the third string value. */
const timestamp = `split_part(e.body, '"', 12)::timestamptz`

/** SQL expressions for the conditions of a replay. */
type Conditions = { endpoint: string; since: string; until: string; types: string; onlyFailed: string }

/** SQL for whether a replay with these conditions sends the account's event `e`. */
export const isReplayed = ({ endpoint, since, until, types, onlyFailed }: Conditions): string => `
  (${since}::timestamptz is null or ${timestamp} >= ${since}) and (${until}::timestamptz is null or ${timestamp} <= ${until})
  and (${types}::text[] is null or e.type = any(${types}::text[])) and (not ${onlyFailed} or 'failed' = (
    select d.state from webhook_deliveries d where d.event_id = e.event_id and d.endpoint_id = ${endpoint}
    order by d.delivery_id desc limit 1))`

export type Counted = {
  deliveries: number
  /** The first and last sequence to replay; null: there is none. */
  first: number | null
  last: number | null
}

/** The number of deliveries that a replay will create, counted up to `max`. */
export async function countReplayed(
  database: Queryable,
  { type, id }: Account,
  { endpointId, from, through, since, until, types, onlyFailed }: Omit<ReplayParams, 'replayId'>,
  max: number,
): Promise<Counted> {
  const [counted] = await database.query<Counted>(
    `select count(*)::int as deliveries, min(sequence) as first, max(sequence) as last from (
       select e.sequence from events e where e.account_type = $1 and e.account_id = $2 and e.sequence between $3 and $4
         and ${isReplayed({ endpoint: '$5', types: '$6', onlyFailed: '$7', since: '$9', until: '$10' })} limit $8) as counted`,
    [type, id, from, through, endpointId, types, onlyFailed, max, since, until],
  )
  return counted ?? { deliveries: 0, first: null, last: null }
}

export async function insertReplay(
  transaction: Queryable,
  { replayId, endpointId, from, through, since, until, types, onlyFailed }: ReplayParams,
): Promise<void> {
  await transaction.execute(
    `insert into webhook_replays (replay_id, endpoint_id, position, through, types, only_failed, since, until, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
    [replayId, endpointId, from - 1, through, types, onlyFailed, since, until],
  )
}

/**
 * An event's timestamp can be later by this much than the time at which it was recorded, because clocks differ a
 * little.
 */
const early = `interval '5 minutes'`

/**
 * Returns the first event that was recorded late enough to have happened at or after `since`; null: none. In a sandbox
 * it returns the first event of the feed, because the sandbox clock can be far ahead of the time of recording.
 */
export async function firstSequenceSince(
  database: Queryable,
  { type, id }: Account,
  since: Date,
): Promise<number | null> {
  const bound = `(select case when mode = 'sandbox' then '-infinity' else $3::timestamptz - ${early} end from database_mode)`
  const [row] = await database.query<{ sequence: number }>(
    `select sequence from events where account_type = $1 and account_id = $2 and day >= (${bound} at time zone 'UTC')::date
       and recorded_at >= ${bound} order by sequence limit 1`,
    [type, id, since],
  )
  return row?.sequence ?? null
}

/**
 * Returns the last event of the newest day that contains an event with this timestamp or an earlier one; null: none.
 * If no worker was running, an event is recorded days after it happened. For this reason the lowest timestamp of each
 * day is stored.
 */
export async function lastSequenceUntil(
  database: Queryable,
  { type, id }: Account,
  until: Date,
): Promise<number | null> {
  const [row] = await database.query<{ sequence: number }>(
    `select newest.sequence from feed_days d cross join lateral (
       select sequence from events e where e.account_type = d.account_type and e.account_id = d.account_id and e.day = d.day
       order by sequence desc limit 1) as newest
     where d.account_type = $1 and d.account_id = $2 and (d.earliest is null or d.earliest <= $3) order by d.day desc limit 1`,
    [type, id, until],
  )
  return row?.sequence ?? null
}
