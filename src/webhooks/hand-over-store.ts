/** SQL that creates deliveries for new events and for replays. */
import type { Account } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { deliveryColumns } from './delivery-store.ts'
import { maxPending, pendingOf } from './endpoint-store.ts'
import { eventsOf, type ReplayParams, replayedOf } from './replay-store.ts'

/**
 * The maximum number of events that one statement examines, and of deliveries that it creates. Both are limited,
 * because the statement keeps its endpoints locked.
 */
const examinedAtOnce = 2_000
const madeAtOnce = 500
/** The maximum number of endpoints of a statement. */
const endpointsAtOnce = 50

type Waiting = { endpointId: string; hasReplay: boolean }

/**
 * Endpoints whose feed has events after their position, or that have an unfinished replay. They are not sorted: to sort
 * them by id, the cached plan would scan the primary key and also read all deleted endpoints.
 */
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
      ) as found where has_events or "hasReplay"`,
  })
}

/**
 * Creates deliveries for the events after the endpoints' positions and for replays. Endpoints without a replay come
 * first, so they do not wait for replays. A failing replay delays neither events nor other replays.
 *
 * @param onHandedOver called when there may be new deliveries
 * @returns whether there may be more
 * @throws the first error of a replay, after all other deliveries were created
 */
export async function handOverAll(database: Database, onHandedOver?: () => void): Promise<boolean> {
  const waiting = await findWaitingEndpoints(database)
  const [replaying = [], others = []] = [true, false].map(having =>
    waiting.flatMap(({ endpointId, hasReplay }) => (hasReplay === having ? [endpointId] : [])),
  )
  const errors: unknown[] = []
  let mayBeMore = false
  for (let first = 0; first < others.length; first += endpointsAtOnce)
    mayBeMore = (await handOver(database, others.slice(first, first + endpointsAtOnce))) || mayBeMore
  if (others.length > 0) onHandedOver?.()
  // Handle the replay before the new events of its endpoint. After an outage, the waiting events would leave no room
  // for the replay.
  for (const endpointId of replaying) {
    const goesOn = await handOverReplay(database, endpointId).catch(error => {
      errors.push(error)
      return false
    })
    mayBeMore = (await handOver(database, [endpointId])) || goesOn || mayBeMore
  }
  if (replaying.length > 0) onHandedOver?.()
  if (errors.length > 0) throw errors[0]
  return mayBeMore
}

/**
 * Creates as many deliveries for these endpoints as there is room for, and moves their positions, in one statement.
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

/**
 * Examines the next events of each endpoint, up to the last event for which there is room. It selects the endpoint's
 * types of events as `typesOf` does (events/catalogue.ts), and reads only days from the day of the endpoint's position
 * on.
 *
 * The statement counts the endpoint's unfinished deliveries, but does not see those that other statements have created
 * since it began. So every statement that creates unfinished deliveries, or makes finished ones unfinished again, also
 * writes the endpoint's row (except for tests). If the locked row is newer than the row that the statement sees
 * (`written_by` differs), the count may be too low, and the statement creates no deliveries for this endpoint.
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
 * Creates deliveries of a replay. The first statement locks the endpoint, and the next one counts its deliveries. So
 * the count includes deliveries that other transactions committed before the lock.
 *
 * @returns whether the next events of the replay can be examined at once
 */
function handOverReplay(database: Database, endpointId: string): Promise<boolean> {
  return database.transaction(async transaction => {
    const endpoints = await transaction.query(lockText, [endpointId])
    if (endpoints.length === 0) return false
    const [replay] = await transaction.query<NextReplay>(nextReplayText, [endpointId])
    if (!replay) return false
    const { replayId, type, id, position, through, types, since, until, onlyFailed } = replay
    const room = Math.min(replayedAtOnce, maxReplayedASecond - replay.justMade, maxPending - replay.pending)
    if (room <= 0) return false
    const values = [endpointId, replayId, room, type, id, position + 1, through, types, since, until]
    const [handed] = await transaction.query<{ hasEnded: boolean; mayBeMore: boolean }>(replayText(onlyFailed), values)
    if (handed?.hasEnded) await transaction.execute('delete from webhook_replays where replay_id = $1', [replayId])
    return handed?.mayBeMore === true
  })
}

const lockText = `
  select from webhook_endpoints where endpoint_id = $1 and status = 'enabled' and deleted_at is null for update skip locked`

type NextReplay = Pick<Account, 'type' | 'id'> &
  Pick<ReplayParams, 'replayId' | 'through' | 'types' | 'since' | 'until' | 'onlyFailed'> & {
    position: number
    pending: number
    justMade: number
  }

/**
 * Finds the endpoint's oldest unfinished replay, and counts two kinds of deliveries of the endpoint: unfinished ones, and
 * those that its replays made in the last second. Ids begin with the time of their creation, so a range of ids in the
 * index finds the second kind.
 */
const nextReplayText = `
  select r.replay_id as "replayId", e.account_type as type, e.account_id as id, r.position, r.through, r.types, r.since, r.until,
    r.only_failed as "onlyFailed", ${pendingOf('$1')} as pending, (
    select count(*)::int from webhook_deliveries d where d.endpoint_id = $1 and d.replay_id is not null
      and d.delivery_id >= (lpad(to_hex(floor(extract(epoch from now()) * 1000)::bigint - 1000), 12, '0') || repeat('0', 20))::uuid
      and d.created_at > now() - interval '1 second') as "justMade"
  from webhook_replays r join webhook_endpoints e using (endpoint_id)
  where endpoint_id = $1 and finished_at is null order by r.created_at limit 1 for update of r`

/** The next events of a replay, as many as one statement examines. */
const nextEvents = `${eventsOf({ type: '$4', id: '$5', from: '$6', through: '$7' })} order by sequence limit ${examinedAtOnce}`

/**
 * Creates the next deliveries of a replay. It selects the same events as `countReplayed`. If it finds fewer events than
 * the endpoint has room for, the replay continues after the last examined event (`passed`). `marked` writes the
 * endpoint's row without changing it. `handOverText` relies on this write.
 */
const replayText = (onlyFailed: boolean): string => `
  with wanted as materialized (
    ${replayedOf(nextEvents, { endpoint: '$1', types: '$8', since: '$9', until: '$10', onlyFailed })} order by sequence limit $3
  ), found as materialized (select count(*) as n, max(sequence) as last from wanted
  ), passed as materialized (
    select count(*) as n, max(sequence) as last from (${nextEvents}) as e where (select n from found) < $3
  ), handed as (insert into webhook_deliveries (${deliveryColumns}) ${made('$1::uuid', '$2::uuid')} from wanted
  ), marked as (update webhook_endpoints set version = version where endpoint_id = $1
  )
  update webhook_replays set position = coalesce((select last from passed), (select last from found), position) where replay_id = $2
  returning (select n from found) < $3 and (select n from passed) < ${examinedAtOnce} as "hasEnded",
    (select n from found) < $3 and (select n from passed) = ${examinedAtOnce} as "mayBeMore"`
