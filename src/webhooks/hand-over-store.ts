/** SQL that creates deliveries: of new events, and of events that are sent again. */
import type { Database, Queryable } from '../db/database.ts'
import { typesOf } from '../events/catalogue.ts'
import { deliveryColumns } from './delivery-store.ts'
import { maxPending } from './endpoint-store.ts'
import { isReplayed } from './replay-store.ts'

const lookedAt = 10_000

/** Endpoints whose feed has events after their position, or that have an unfinished replay. */
async function findWaitingEndpoints(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>({
    name: 'webhooks.find-waiting',
    text: `
      select e.endpoint_id as id from webhook_endpoints e where e.status = 'enabled' and e.deleted_at is null and (
        e.position < (
          select coalesce((
            select sequence from events v join (
              select day from feed_days d where d.account_type = e.account_type and d.account_id = e.account_id order by day desc limit 1
            ) as newest using (day)
            where v.account_type = e.account_type and v.account_id = e.account_id order by sequence desc limit 1), 0))
        or exists (select from webhook_replays r where r.endpoint_id = e.endpoint_id and r.finished_at is null))`,
  })
  return rows.map(({ id }) => id)
}

/** Creates deliveries for the events after the endpoints' positions. @returns whether there may be more */
export async function handOverAll(database: Database): Promise<boolean> {
  let mayBeMore = false
  for (const endpointId of await findWaitingEndpoints(database))
    mayBeMore = (await handOver(database, endpointId)) || mayBeMore
  return mayBeMore
}

/**
 * Creates as many deliveries of an endpoint as there is room for, and moves its position, in one transaction.
 *
 * @returns whether there may be more
 */
function handOver(database: Database, endpointId: string): Promise<boolean> {
  return database.transaction(async transaction => {
    const [endpoint] = await transaction.query<HandingOver>(
      `select account_type as "accountType", account_id as "accountId", event_types as "eventTypes", position,
         (select count(*)::int from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending') as pending
       from webhook_endpoints e where endpoint_id = $1 and status = 'enabled' and deleted_at is null for update skip locked`,
      [endpointId],
    )
    if (!endpoint) return false
    const replayed = await handOverReplay(transaction, endpointId, endpoint)
    const room = maxPending - endpoint.pending - replayed
    if (room <= 0) return false
    const [moved] = await transaction.query<{ looked: number; made: number }>(handOverText, [
      endpointId,
      endpoint.position,
      endpoint.eventTypes === null ? null : typesOf(endpoint.eventTypes),
      room,
    ])
    return moved?.looked === lookedAt
  })
}

type HandingOver = {
  accountType: string
  accountId: string
  eventTypes: string[] | null
  position: number
  pending: number
}

/** Ids made at the same instant ascend with the sequence, so the log shows deliveries in the order of the feed. */
const made = (replay: string) => `
  select uuid_at(now(), sequence), (now() at time zone 'UTC')::date, account_type, account_id, $1::uuid, event_id, sequence, type, ${replay},
         'pending', now(), now()`

const handOverText = `
  with looked as materialized (
    select v.account_type, v.account_id, v.event_id, v.sequence, v.type, $3::text[] is null or v.type = any($3) as is_wanted
    from webhook_endpoints e join events v using (account_type, account_id)
    where e.endpoint_id = $1 and v.sequence > $2 order by v.sequence limit ${lookedAt}
  ), wanted as materialized (select * from looked where is_wanted order by sequence limit $4
  ), reached as materialized (
    select case when (select count(*) from wanted) = $4 then (select max(sequence) from wanted) else max(sequence) end as reached from looked
  ), handed as (insert into webhook_deliveries (${deliveryColumns}) ${made('null::uuid')} from wanted
  ), moved as (
    update webhook_endpoints set position = (select reached from reached)
    where endpoint_id = $1 and (select reached from reached) is not null
  )
  select (select count(*) from looked)::int as looked, (select count(*) from wanted)::int as made`

/** The maximum number of replayed deliveries of one endpoint within any second, over all workers. */
const maxReplayedASecond = 50
/** The maximum number of replayed deliveries that are made at once, so that a replay is spread over the second. */
const replayedAtOnce = 12

/**
 * Creates deliveries of a replay. The endpoint is locked, so no other worker creates deliveries between the count and
 * the insert. @returns how many deliveries were created
 */
async function handOverReplay(transaction: Queryable, endpointId: string, { pending }: HandingOver): Promise<number> {
  const [replay] = await transaction.query<{ replayId: string; justMade: number }>(nextReplayText, [endpointId])
  if (!replay) return 0
  const room = Math.min(replayedAtOnce, maxReplayedASecond - replay.justMade, maxPending - pending)
  if (room <= 0) return 0
  const [handed] = await transaction.query<{ made: number }>(replayText, [endpointId, replay.replayId, room])
  return handed?.made ?? 0
}

/**
 * Finds the endpoint's oldest unfinished replay, and how many deliveries its replays made in the last second. The index
 * finds these deliveries, because ids begin with the time of their creation.
 */
const nextReplayText = `
  select replay_id as "replayId", (
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
  ), handed as (insert into webhook_deliveries (${deliveryColumns}) ${made('$2::uuid')} from wanted
  ), moved as (
    update webhook_replays set position = coalesce((select max(sequence) from wanted), position),
      finished_at = case when (select count(*) from wanted) < $3 then now() end
    where replay_id = $2
  )
  select count(*)::int as made from wanted`
