/** SQL of replays: which events of a feed are sent again. */
import type { Account } from '../caller.ts'
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

/**
 * The conditions of a replay. They are SQL expressions, except `onlyFailed`: true selects only events whose newest delivery to the
 * endpoint has failed.
 */
type Conditions = { endpoint: string; since: string; until: string; types: string; onlyFailed: boolean }

/**
 * Builds the query for the events that a replay with these conditions sends.
 *
 * @param events a query that returns rows of the table `events`; only these are considered
 */
export function replayedOf(events: string, { endpoint, since, until, types, onlyFailed }: Conditions): string {
  const wanted = `
    select e.account_type, e.account_id, e.event_id, e.sequence, e.type from (${events}) as e
    where (${types}::text[] is null or e.type = any(${types}::text[]))
      and (${since}::timestamptz is null or ${timestamp} >= ${since}) and (${until}::timestamptz is null or ${timestamp} <= ${until})`
  if (!onlyFailed) return wanted
  // An event is selected if its newest delivery has failed. To find that delivery, PostgreSQL reads every day of
  // deliveries. So `offset 0` makes it first check whether any delivery of the event has failed.
  return `
    select * from (
      ${wanted} and e.event_id in (select event_id from webhook_deliveries where endpoint_id = ${endpoint} and state = 'failed')
      order by e.sequence offset 0
    ) as e where 'failed' = (
      select d.state from webhook_deliveries d where d.event_id = e.event_id and d.endpoint_id = ${endpoint}
      order by d.delivery_id desc limit 1)`
}

/** SQL expressions for a range of an account's events. */
type Range = { type: string; id: string; from: string; through: string }

/**
 * Builds the query for the account's events from one sequence to another. It reads no day before the first event's day.
 */
export const eventsOf = ({ type, id, from, through }: Range): string => `
  select * from events where account_type = ${type} and account_id = ${id} and sequence between ${from} and ${through}
    and day >= coalesce((
      select max(day) from feed_days where account_type = ${type} and account_id = ${id} and first_sequence <= ${from}), '-infinity')`

export type Counted = {
  deliveries: number
  /** The first and last sequence to replay; null: there is none. */
  first: number | null
  last: number | null
}

/** Counts the deliveries that a replay will create, up to `max`, and finds the first and last sequence among them. */
export async function countReplayed(
  database: Queryable,
  { type, id }: Account,
  { endpointId, from, through, since, until, types, onlyFailed }: Omit<ReplayParams, 'replayId'>,
  max: number,
): Promise<Counted> {
  const events = eventsOf({ type: '$1', id: '$2', from: '$3', through: '$4' })
  const conditions = { types: '$6', since: '$7', until: '$8', endpoint: '$9', onlyFailed }
  const [counted] = await database.query<Counted>(
    `select count(*)::int as deliveries, min(sequence) as first, max(sequence) as last
     from (${replayedOf(events, conditions)} limit $5) as counted`,
    [type, id, from, through, max, types, since, until, ...(onlyFailed ? [endpointId] : [])],
  )
  return counted ?? { deliveries: 0, first: null, last: null }
}

/** The limit of unfinished replays of an endpoint. */
export const maxReplays = 10

/**
 * The number of unfinished replays of the endpoint. While the caller has locked the endpoint, no other replay begins.
 */
export async function countReplays(database: Queryable, endpointId: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    'select count(*)::int as n from webhook_replays where endpoint_id = $1 and finished_at is null',
    [endpointId],
  )
  return row?.n ?? 0
}

/** Stores a replay. Its events are handed over later, when there is room. */
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

/** An event's timestamp can be this much later than the time when it was recorded, because clocks differ a little. */
const early = `interval '5 minutes'`

/**
 * Returns the first event that was recorded at or after `since` minus `early`; null: none. In a sandbox it returns the
 * first event of the feed, because the sandbox clock can be far ahead of the time of recording.
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
 * The stored lowest timestamp of each day finds this day. An event belongs to the day of its recording, which can be
 * days after it happened, if no worker was running.
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
