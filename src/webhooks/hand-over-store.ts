/** SQL that creates deliveries: of new events, and of events that are sent again. */
import type { Database, Queryable } from '../db/database.ts'
import { deliveryColumns } from './delivery-store.ts'
import { maxPending } from './endpoint-store.ts'
import { isReplayed } from './replay-store.ts'

/**
 * The maximum number of events that one statement examines, and of deliveries that it creates. Both are limited,
 * because the statement keeps its endpoints locked.
 */
const examinedAtOnce = 2_000
const madeAtOnce = 500
/** The maximum number of endpoints of a statement. */
const endpointsAtOnce = 50

type Waiting = { endpointId: string; hasReplay: boolean }

/** Endpoints whose feed has events after their position, or that have an unfinished replay. */
function findWaitingEndpoints(database: Queryable): Promise<Waiting[]> {
  return database.query<Waiting>({
    name: 'webhooks.find-waiting',
    plannedOnce: ['events'],
    text: `
      select * from (
        select e.endpoint_id as "endpointId", e.position < (
          select coalesce((
            select sequence from events v join (
              select day from feed_days d where d.account_type = e.account_type and d.account_id = e.account_id order by day desc limit 1
            ) as newest using (day)
            where v.account_type = e.account_type and v.account_id = e.account_id order by sequence desc limit 1), 0)) as has_events,
          exists (select from webhook_replays r where r.endpoint_id = e.endpoint_id and r.finished_at is null) as "hasReplay"
        from webhook_endpoints e where e.status = 'enabled' and e.deleted_at is null
      ) as found where has_events or "hasReplay" order by "endpointId"`,
  })
}

/** Creates deliveries for the events after the endpoints' positions. @returns whether there may be more */
export async function handOverAll(database: Database): Promise<boolean> {
  const waiting = await findWaitingEndpoints(database)
  for (const { endpointId, hasReplay } of waiting) if (hasReplay) await handOverReplay(database, endpointId)
  let mayBeMore = false
  for (let first = 0; first < waiting.length; first += endpointsAtOnce) {
    const ids = waiting.slice(first, first + endpointsAtOnce).map(({ endpointId }) => endpointId)
    mayBeMore = (await handOver(database, ids)) || mayBeMore
  }
  return mayBeMore
}

/**
 * Creates deliveries of some endpoints as far as there is room, and moves their positions, in one statement.
 *
 * @returns whether there may be more
 */
async function handOver(database: Database, endpointIds: readonly string[]): Promise<boolean> {
  const statement = {
    name: 'webhooks.hand-over',
    plannedOnce: ['events', 'webhook_deliveries'],
    text: handOverText,
  }
  const [handed] = await database.query<{ mayBeMore: boolean }>(statement, [
    endpointIds,
    Math.floor(examinedAtOnce / endpointIds.length),
    Math.floor(madeAtOnce / endpointIds.length),
  ])
  return handed?.mayBeMore === true
}

/**
 * `uuid_at` makes ids that ascend with the sequence within the same instant, so the log shows deliveries in the order
 * of the feed.
 */
const made = (endpoint: string, replay: string) => `
  select uuid_at(now(), sequence), (now() at time zone 'UTC')::date, account_type, account_id, ${endpoint}, event_id, sequence, type, ${replay},
         'pending', now(), now()`

const pendingOf = (endpoint: string): string =>
  `(select count(*) from webhook_deliveries d where d.endpoint_id = ${endpoint} and d.state = 'pending')`

/**
 * Examines the next events of each endpoint, up to the last event for which there is room. It selects the endpoint's
 * types of events as `typesOf` does (events/catalogue.ts), and reads only days from the day of the endpoint's position
 * on.
 *
 * The statement does not see deliveries that others have made since it began. So whoever makes deliveries unfinished
 * writes the endpoint's row. If the locked row is newer than the row that the statement sees (`written_by` differs), the
 * statement hands nothing over to this endpoint.
 */
const handOverText = `
  with locked as materialized (
    select *, xmin as written_by from webhook_endpoints
    where endpoint_id = any($1) and status = 'enabled' and deleted_at is null order by endpoint_id for update skip locked
  ), endpoints as materialized (
    select e.*, least($3, ${maxPending} - ${pendingOf('e.endpoint_id')}) as room from locked e
    where written_by = (select xmin from webhook_endpoints seen where seen.endpoint_id = e.endpoint_id)
  ), examined as materialized (
    select e.endpoint_id, e.room, v.*
    from endpoints e cross join lateral (
      select coalesce((
        select day from feed_days d where d.account_type = e.account_type and d.account_id = e.account_id and d.first_sequence <= e.position + 1
        order by day desc limit 1), '-infinity') as day
    ) as since cross join lateral (
      select *, count(*) filter (where is_wanted) over (order by sequence) as wanted from (
        select v.account_type, v.account_id, v.event_id, v.sequence, v.type,
          e.event_types is null or v.type = any(e.event_types) or split_part(v.type, '.', 1) || '.*' = any(e.event_types) as is_wanted
        from events v where v.account_type = e.account_type and v.account_id = e.account_id and v.sequence > e.position
          and v.day >= since.day and e.room > 0
        order by v.sequence limit $2) as next
    ) as v
    where v.wanted < e.room or v.wanted = e.room and v.is_wanted
  ), handed as (
    insert into webhook_deliveries (${deliveryColumns}) ${made('endpoint_id', 'null::uuid')} from examined where is_wanted
  ), moved as (
    update webhook_endpoints e set position = reached.sequence
    from (select endpoint_id, max(sequence) as sequence from examined group by endpoint_id) as reached
    where e.endpoint_id = reached.endpoint_id
  )
  select exists (
    select from examined group by endpoint_id, room
    having count(*) = $2 or count(*) filter (where is_wanted) = room and room = $3) as "mayBeMore"`

/** The maximum number of replayed deliveries of one endpoint within any second, over all workers. */
const maxReplayedASecond = 50
/** The maximum number of replayed deliveries that are made at once, so that a replay is spread over the second. */
const replayedAtOnce = 12

/**
 * Creates deliveries of a replay. They are counted by a statement that begins after the endpoint was locked, so it sees
 * all that others have made.
 */
function handOverReplay(database: Database, endpointId: string): Promise<void> {
  return database.transaction(async transaction => {
    const endpoints = await transaction.query(lockText, [endpointId])
    if (endpoints.length === 0) return
    const [replay] = await transaction.query<NextReplay>(nextReplayText, [endpointId])
    if (!replay) return
    const room = Math.min(replayedAtOnce, maxReplayedASecond - replay.justMade, maxPending - replay.pending)
    if (room > 0) await transaction.execute(replayText, [endpointId, replay.replayId, room])
  })
}

const lockText = `
  select from webhook_endpoints where endpoint_id = $1 and status = 'enabled' and deleted_at is null for update skip locked`

type NextReplay = { replayId: string; pending: number; justMade: number }

/**
 * Finds the endpoint's oldest unfinished replay, how many deliveries of the endpoint are unfinished, and how many its
 * replays made in the last second. The index finds the latter, because ids begin with the time of their creation.
 */
const nextReplayText = `
  select replay_id as "replayId", ${pendingOf('$1')}::int as pending, (
    select count(*)::int from webhook_deliveries d where d.endpoint_id = $1 and d.replay_id is not null
      and d.delivery_id >= (lpad(to_hex(floor(extract(epoch from now()) * 1000)::bigint - 1000), 12, '0') || repeat('0', 20))::uuid
      and d.created_at > now() - interval '1 second') as "justMade"
  from webhook_replays where endpoint_id = $1 and finished_at is null order by created_at limit 1 for update`

/** Creates the next deliveries of a replay. It selects the same events as `countReplayed`. */
const replayText = `
  with replay as (select * from webhook_replays where replay_id = $2
  ), wanted as materialized (
    select e.account_type, e.account_id, e.event_id, e.sequence, e.type
    from webhook_endpoints w cross join replay r join events e on e.account_type = w.account_type and e.account_id = w.account_id
    where w.endpoint_id = $1 and e.sequence > r.position and e.sequence <= r.through
      and ${isReplayed({ endpoint: '$1', since: 'r.since', until: 'r.until', types: 'r.types', onlyFailed: 'r.only_failed' })}
    order by e.sequence limit $3
  ), handed as (insert into webhook_deliveries (${deliveryColumns}) ${made('$1::uuid', '$2::uuid')} from wanted
  ), marked as (update webhook_endpoints set version = version where endpoint_id = $1
  )
  update webhook_replays set position = coalesce((select max(sequence) from wanted), position),
    finished_at = case when (select count(*) from wanted) < $3 then now() end
  where replay_id = $2`
