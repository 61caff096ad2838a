/** The audit's check of the feeds: they have no gaps, and their events about orders agree with the orders. */
import { type Check, type Finding, type Read, type Step, type Within, walkOver } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import type { NumberAllEvents } from './feed.ts'

const denseCheck: Check = {
  code: 'feeds',
  name: 'feeds have no gap',
  holds: 'in each account’s feed the numbers of stored events follow one another, and each day begins where it states',
}
const ordersCheck: Check = {
  code: 'feed-orders',
  name: 'events of orders are in the feed of their bank',
  holds: 'each event about the end of an order belongs to an order of that bank that has ended in this way',
}
const confirmedCheck: Check = {
  code: 'feed-confirmed',
  name: 'every confirmed order is in the feed of its bank',
  holds: 'each order that was confirmed within the retention of events has its order.confirmed',
}
export const feedChecks: readonly Check[] = [denseCheck, ordersCheck, confirmedCheck]

const rulesOffset = `(select coalesce(max(offset_ms), 0) from sandbox_clock) * interval '1 millisecond'`

/**
 * SQL for an instant by the platform's clock, which a sandbox can set forward. The audit looks only for events since
 * this instant. Older events may be stored without their subject, or may have been removed because of their age. After
 * such a removal, the instant is one hour after the start of the oldest stored day. The hour allows for differences
 * between clocks.
 */
export const numberedSince = `(select greatest(p.reached, case when exists (select from feeds where removed_through > 0) then (
    select min(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')) at time zone 'UTC' + interval '1 hour' + ${rulesOffset}
    from pg_inherits where inhparent = 'events'::regclass) end)
  from event_positions p where p.name = 'events.subjects')`

/**
 * SQL for an instant by the platform's clock up to which all events are numbered. It is 10 minutes before the last run
 * of the numbering that left no event waiting. The 10 minutes are the longest time until a change is committed. The run
 * that ends a long backlog does not count: it leaves all events that were recorded since the backlog began.
 */
export const numberedUpTo = `coalesce((
  select at - interval '10 minutes' + ${rulesOffset} from event_ticks as tick
  where consumer = 'events' and towards is null and not coalesce((
    select towards is not null from event_ticks as earlier
    where earlier.consumer = 'events' and earlier.tick_id < tick.tick_id order by tick_id desc limit 1), false)
  order by tick_id desc limit 1), '-infinity')`

/**
 * Finds confirmed orders without an event. The subject of an `order.confirmed` event is the order's id, so the events
 * of consecutive orders are next to each other in the index of subjects.
 *
 * @param numberAllEvents numbers the recorded events, so that feeds show them; left out for a database that must not be
 *   changed
 */
export const confirmedEvents = (within: Within, numberAllEvents?: NumberAllEvents): Read => ({
  of: 'orders and their events',
  caughtUp: numberAllEvents,
  from: `orders o left join (
      select subject, account_id from events e
      where ${within('e.subject')} and e.account_type = 'bank' and e.type = 'order.confirmed'
    ) as event on event.subject = o.order_id and event.account_id = o.bank_id
    where ${within('o.order_id')} and o.status = 'confirmed'
      and o.confirmed_at >= ${numberedSince} and o.confirmed_at < ${numberedUpTo}`,
  rules: [
    {
      code: confirmedCheck.code,
      broken: 'event.subject is null',
      text: `'order ' || o.order_id || ' is confirmed, but its bank has no event about it'`,
    },
  ],
})

const eventsAtOnce = 5_000

type Place = { type: string; id: string; sequence: number }
type Feed = Place & { nextType: string | null; nextId: string | null }

/** Checks some events of one feed. Events that were removed because of their age do not count as a gap. */
export const feedsStep: Step = {
  name: denseCheck.code,
  table: 'feeds',
  async next(database, after) {
    const feed = await findFeed(database, placeOf(after))
    if (!feed) return { findings: [], counts: {}, rows: 0, reached: null }
    const [read] = await readPiece(database, feed)
    const { events = 0, last = 0, holes = [], strangers = [] } = read ?? {}
    const place = `the feed of ${feed.type} ${feed.id}`
    const findings: Finding[] = [
      ...(holes ?? []).map(sequence => ({ code: denseCheck.code, text: `${place} has no event before ${sequence}` })),
      ...(strangers ?? []).map(sequence => ({
        code: ordersCheck.code,
        text: `event ${sequence} in ${place} is of no such order of the bank`,
      })),
    ]
    const next = feed.nextType !== null && feed.nextId !== null ? [feed.nextType, feed.nextId, '0'] : null
    const reached = events === eventsAtOnce ? [feed.type, feed.id, String(last)] : next
    return { findings, counts: {}, rows: 1, reached }
  },
}

/**
 * Compares each row of `feed_days` with the first event of its day: the first sequence, and the earliest time. A day
 * whose events are already removed is skipped. The earliest time is cut to milliseconds, because event texts have
 * milliseconds.
 */
export const feedDaysStep: Step = walkOver({
  name: 'feed-days',
  table: 'feed_days',
  key: [
    ['account_type', 'text'],
    ['account_id', 'uuid'],
    ['day', 'date'],
  ],
  rows: 500,
  reads: within => [
    {
      of: 'feed_days',
      from: `feed_days d cross join lateral (
          select e.sequence, (e.body::jsonb->>'timestamp')::timestamptz as at from events e
          where e.account_type = d.account_type and e.account_id = d.account_id and e.day = d.day order by e.sequence limit 1
        ) as first where ${within('d.account_type', 'd.account_id', 'd.day')}`,
      rules: [
        {
          code: denseCheck.code,
          broken: `d.first_sequence <> first.sequence or first.at < date_trunc('milliseconds', d.earliest)`,
          text: `'the feed of ' || d.account_type || ' ' || d.account_id || ' states another first event of ' || d.day || ' than it has'`,
        },
      ],
    },
  ],
})

const placeOf = (after: string[] | null): Place => ({
  type: after?.[0] ?? '',
  id: after?.[1] ?? '00000000-0000-0000-0000-000000000000',
  sequence: Number(after?.[2] ?? 0),
})

/**
 * Returns the feed of this account, or else the next feed, together with the key of the feed after the returned one.
 */
async function findFeed(database: Queryable, { type, id, sequence }: Place): Promise<Feed | null> {
  const [feed, next] = await database.query<Pick<Place, 'type' | 'id'>>(
    `select account_type as type, account_id as id from feeds where (account_type, account_id) >= ($1, $2::uuid)
     order by account_type, account_id limit 2`,
    [type, id],
  )
  if (!feed) return null
  const isSame = feed.type === type && feed.id === id
  return { ...feed, sequence: isSame ? sequence : 0, nextType: next?.type ?? null, nextId: next?.id ?? null }
}

type PieceOfFeed = { events: number; last: number; holes: number[] | null; strangers: number[] | null }

const readPiece = (database: Queryable, { type, id, sequence }: Place): Promise<PieceOfFeed[]> =>
  database.query(
    `with floor as (
       select greatest($3::bigint, removed_through) as sequence from feeds where account_type = $1 and account_id = $2
     ), piece as materialized (
       select sequence, type, body from events
       where account_type = $1 and account_id = $2 and sequence > (select sequence from floor)
       order by sequence limit ${eventsAtOnce}
     ), ordered as (
       select sequence, lag(sequence, 1, (select sequence from floor)) over (order by sequence) as before from piece
     ), found as (
       select sequence, type, (body::jsonb #>> '{data,orderId}')::uuid as order_id from piece
       where type in ('order.confirmed', 'order.cancelled', 'order.expired')
     )
     select (select count(*) from piece)::int as events, (select max(sequence) from piece) as last,
       (select array_agg(sequence order by sequence) from ordered where sequence <> before + 1) as holes,
       (select array_agg(sequence order by sequence) from found
        left join lateral (select bank_id, status from orders o where o.order_id = found.order_id offset 0) as o on true
        where o.bank_id is distinct from $2 or 'order.' || o.status <> found.type) as strangers`,
    [type, id, sequence],
  )
