/**
 * Turns outbox rows into events: numbers them in each account's feed and stores their final text, in one statement.
 * Only one process does this at a time. So the numbers have no gaps, and a new event never gets a lower number than an
 * event that a reader has seen.
 */
import { platformAccountId } from '../caller.ts'
import type { Database, Queryable, Statement } from '../db/database.ts'
import { jsonInstant } from '../db/instants.ts'
import { orderText, orderTextJoins } from '../outbox/event-writing.ts'
import { isAddressedTo, isOneOf, positionOf, unseen, valuesOf } from '../outbox/position.ts'
import { announcedOrderRows, eventKind } from '../outbox/rows.ts'
import { maxCounted, type Piece, tickInOrder, type Waiting } from '../outbox/tick-store.ts'

/**
 * The approximate number of events that one run numbers. Short runs would spend too much time on transactions. A long
 * run could exceed the time limit of statements.
 */
const tickEvents = 5_000
/**
 * How many events an outbox row can become. One row can stand for the orders of many requests, or for an event to
 * hundreds of banks.
 */
const eventsOfRow = `greatest(1, case when kind = '${eventKind}'
  then coalesce(jsonb_array_length(data->'banks'), 0) + coalesce(jsonb_array_length(data->'merchants'), 0)
  else coalesce(cardinality(subjects), 0) end)`
const daysAhead = 3

const ofOrders = `
  select s.outbox_id, subject.n, s.kind as type, 'bank' as account_type, o.bank_id as account_id, ${orderText()} as data,
         ${jsonInstant(`case s.kind when 'order.confirmed' then o.confirmed_at when 'order.cancelled' then o.cancelled_at else o.reserved_until end`)} as at,
         case s.kind when 'order.confirmed' then o.order_id end as subject
  from seen s cross join unnest(s.subjects) with ordinality as subject (order_id, n)
  cross join lateral (select * from orders where order_id = subject.order_id offset 0) as o ${orderTextJoins}
  where s.${isOneOf(announcedOrderRows)} and o.bank_id is not null`

const ofOthers = `
  select s.outbox_id, r.n, s.data->>'type', r.account_type, r.account_id, s.data->>'text', (s.data->'at')::text,
    (s.data->>'subject')::uuid
  from seen s cross join lateral (
    select 'bank' as account_type, id::uuid as account_id, n
    from jsonb_array_elements_text(s.data->'banks') with ordinality as banks (id, n)
    union all
    select 'retailer', id::uuid, n from jsonb_array_elements_text(s.data->'merchants') with ordinality as merchants (id, n)
    union all
    select 'platform', '${platformAccountId}', 1 where (s.data->'platform')::boolean
  ) as r
  where s.kind = '${eventKind}'`

/** SQL for the last sequence of the feed `f`. It reads only the newest day of that feed. */
export const lastSequence = `coalesce((
  select newest.sequence from (
    select day from feed_days d where d.account_type = f.account_type and d.account_id = f.account_id order by day desc limit 1
  ) as d cross join lateral (
    select sequence from events e where e.account_type = f.account_type and e.account_id = f.account_id and e.day = d.day
    order by sequence desc limit 1) as newest
), f.removed_through)`

/**
 * SQL for the id of an event (UUID version 7) with the time of numbering. Its first part is the same for all events of
 * an account in a run, because a random part takes long to compute. The last 24 bits are those of the sequence, so
 * within a run no two events of an account get the same id.
 */
const idStart = 'left(uuid_at(until.at)::text, 30)'
const eventId = `id_start || lpad(to_hex(sequence & ${0xff_ff_ff}), 6, '0')`

/**
 * `at` is the JSON text of an instant. It is stored as it is, because parsing and formatting it takes long.
 *
 * `announced` sends a notification. The result counts the rows of `announced`, because PostgreSQL skips a `with` query
 * that only selects if its rows are not read.
 */
const sequenceText = ({ parts }: Piece): string => `
  with ${parts}, changes as (${ofOrders} union all ${ofOthers}
  ), ranked as materialized (
    select *, row_number() over (partition by account_id, account_type order by outbox_id, n) as place from changes
  ), accounts as materialized (
    select f.*, ${lastSequence} as last, until.at as recorded_at, (until.at at time zone 'UTC')::date as day, ${idStart} as id_start
    from (select account_type, account_id from ranked where place = 1) as concerned cross join lateral (
      select * from feeds where account_type = concerned.account_type and account_id = concerned.account_id offset 0) as f
    cross join until
  ), inserted as (
    insert into events (account_type, account_id, sequence, day, event_id, type, recorded_at, subject, body)
    select account_type, account_id, sequence, day, event_id::uuid, type, recorded_at, subject,
      '{"id":"' || event_id || '","type":"' || type || '","timestamp":' || at || ',"sequence":' || sequence
      || ',"feedId":"' || feed_id || '","mode":"' || (select mode from database_mode) || '","data":' || data || '}'
    from (select *, ${eventId} as event_id from (
      select a.*, r.type, r.at, r.data, r.subject, a.last + r.place as sequence from ranked r join accounts a using (account_type, account_id)
    ) as numbered offset 0) as numbered
  ), days_noted as (
    insert into feed_days as f (account_type, account_id, day, first_sequence, earliest)
    select account_type, account_id, day, last + 1, trim('"' from earliest)::timestamptz
    from accounts join (
      select account_type, account_id, min(at collate "C") as earliest from ranked group by account_type, account_id) as firsts using (account_type, account_id)
    on conflict (account_type, account_id, day) do update set earliest = excluded.earliest where excluded.earliest < f.earliest
  ), announced as materialized (
    select pg_notify('perkline', 'events') where exists (select from accounts)
  )
  select (select may_be_more from taken) as "mayBeMore", (select count(*) from announced)::int as announced,
    coalesce((select json_object_agg(type, n) from (select type, count(*) as n from ranked group by type) as counts), '{}') as counts`

export type Sequenced = { mayBeMore: boolean; counts: Record<string, number> }

/**
 * Numbers the next rows of the outbox.
 *
 * @param waits whether to wait while another process is numbering events
 * @returns the number of events of each type, and whether more may wait; null when another process is numbering events
 */
export function sequenceEvents(database: Database, waits: boolean): Promise<Sequenced | null> {
  return tickInOrder(
    database,
    'events',
    { rows: tickEvents, weight: eventsOfRow, waits, none: { mayBeMore: false, counts: {} } },
    async (transaction, piece) => {
      await ensurePartitions(transaction)
      const [row] = await transaction.query<Sequenced>(
        { name: `events.sequence-${piece.name}`, text: sequenceText(piece) },
        piece.values,
      )
      return { mayBeMore: row?.mayBeMore === true, counts: row?.counts ?? {} }
    },
  )
}

const findBacklog = `
  select snapshot::text, towards::text, reached::text from event_ticks where consumer = 'events' order by tick_id desc limit 1`

type Backlog = { snapshot: string; towards: string | null; reached: string | null }

const waitingColumns = 'recorded_at, kind'

/**
 * The next rows of a long backlog that are not numbered yet. They are found by `outbox_id`, so the rows before them are
 * not read. Parameters: `$3` and `$4` are the position before the backlog, `$5` is its snapshot, and `$6` the last
 * `outbox_id` that was read.
 */
const nextOfBacklog = `
  select ${waitingColumns} from (
    select recorded_at, kind, xid, only_for from outbox where outbox_id > $6::bigint order by outbox_id limit ${maxCounted}) as behind
  where (xid >= $3::xid8 or xid = any($4::xid8[])) and ${isAddressedTo('events')} and pg_visible_in_snapshot(xid, $5::pg_snapshot)`

/**
 * The rows of a long backlog of which none is numbered yet, because the numbering still passes rows that were numbered
 * before the backlog. They are found by their transactions. The parameters are those of `nextOfBacklog`.
 */
const untouchedBacklog = `
  select ${waitingColumns} from (
    ${unseen('events', 3, { ofAnyKind: true, columns: `${waitingColumns}, xid, outbox_id`, oldest: maxCounted })}) as oldest
  where outbox_id > $6::bigint and pg_visible_in_snapshot(xid, $5::pg_snapshot)`

/**
 * Counts the waiting rows that become events, and returns the age of the oldest one. It examines at most the oldest
 * 10,000 waiting rows. If none of them becomes an event, it returns the age of the oldest row, because no event has
 * waited longer.
 */
export async function countWaitingEvents(database: Queryable): Promise<Waiting> {
  const [backlog] = await database.query<Backlog>(findBacklog)
  if (!backlog) throw new Error('The consumer events has no position')
  const { snapshot, towards, reached } = backlog
  const recorded = unseen('events', 1, { ofAnyKind: true, columns: waitingColumns, oldest: maxCounted })
  if (towards === null) return countEvents(database, recorded, valuesOf(positionOf(snapshot)))
  const ofBacklog = [...valuesOf(positionOf(snapshot)), towards, reached]
  const values = [...valuesOf(positionOf(towards)), ...ofBacklog]
  const [found] = await database.query<{ some: boolean }>(
    `select exists (${nextOfBacklog}) as some from (select $1::xid8, $2::xid8[]) as unused`,
    values,
  )
  return countEvents(database, `${found?.some ? nextOfBacklog : untouchedBacklog} union all ${recorded}`, values)
}

async function countEvents(database: Queryable, waiting: string, values: unknown[]): Promise<Waiting> {
  const kinds = `$${values.length + 1}`
  const [row] = await database.query<Waiting>(
    `select count(*) filter (where is_event)::int as rows, coalesce(date_part('epoch', now() - coalesce(
       min(recorded_at) filter (where is_event), case when count(*) >= ${maxCounted} then min(recorded_at) end)), 0) as "lagSeconds"
     from (
       select recorded_at, kind = any(${kinds}) as is_event from (${waiting}) as rows limit ${maxCounted}) as waiting`,
    [...values, [...announcedOrderRows, eventKind]],
  )
  return row ?? { rows: 0, lagSeconds: 0 }
}

/** Tables with a partition for each UTC day. */
export const daily = ['events', 'webhook_deliveries', 'webhook_attempts'] as const
/** Storage options of daily tables whose rows are updated: each page keeps half of its space for updates (migration 0056). */
const storageOf: Partial<Record<string, string>> = { webhook_deliveries: 'with (fillfactor = 50)' }

const findMissingPartitions: Statement = {
  name: 'events.find-missing-partitions',
  text: `
    select "table", day::text
    from unnest($1::text[]) as "table" cross join (
      select (now() at time zone 'UTC')::date + n as day from generate_series(0, ${daysAhead}) as n) as days
    where to_regclass("table" || '_' || to_char(day, 'YYYYMMDD')) is null order by day`,
}

/** Creates the partitions of today and the next days where they are missing. Only one process at a time may call it. */
async function ensurePartitions(transaction: Queryable): Promise<void> {
  const missing = await transaction.query<{ table: string; day: string }>(findMissingPartitions, [daily])
  for (const { table, day } of missing) {
    const name = `${table}_${day.replaceAll('-', '')}`
    await transaction.execute(`create table ${name} (like ${table} including all) ${storageOf[table] ?? ''}`)
    await transaction.execute(
      `alter table ${table} attach partition ${name} for values from ('${day}') to ('${dayAfter(day)}')`,
    )
  }
}

const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
