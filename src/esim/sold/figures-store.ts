/**
 * Reads the sales figures and the counters of tariffs. The stored sums (`fold-store.ts`) lack the latest orders. Each
 * statement adds these orders from the outbox, so its figures are exact.
 */
import type { Queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { findPosition, newestPosition, unseen, valuesOf } from '../../outbox/position.ts'
import { usualZoneName } from '../../text/time-zones.ts'
import { reservationMinutes } from '../orders/lifecycle.ts'
import { firstOrderId } from '../orders/order-id.ts'
import { edgeOf, partsOf } from './edges.ts'
import { allReached } from './fold-store.ts'

/**
 * How often a read is tried. A try fails if the stored sums are updated between its two statements. That happens only
 * every few seconds, so this number always suffices.
 */
const maxTries = 10

/**
 * Runs a query over the sales figures. The stored sums lack the latest orders, so the query must add them. It finds
 * these orders in the `with` query `fresh`, each with its `outcome` and `ended_at`.
 *
 * @param query `select`, and `parts` with further `with` queries. $1 to $3 are used already, so `values` begin with $4.
 *   `ofBank`: SQL for the id of a bank; then `fresh` has only orders of this bank
 * @throws DomainError 'unavailable' after an upgrade, until the sums contain all old orders and all old stock
 *   (`fold-store.ts`); also when every try failed
 */
export async function readFigures<Row>(database: Queryable, query: FiguresQuery): Promise<Row[]> {
  const [found] = await readUpToDate<{ rows: Row[] }>(database, {
    ...query,
    select: `select coalesce(json_agg(rows), '[]') as rows from (${query.select}) as rows`,
  })
  return found?.rows ?? []
}

type FiguresQuery = { ofBank?: string; parts?: string; select: string; values: unknown[] }

/**
 * Like `readFigures`, but returns the rows one by one and not as one JSON value. Parsing one JSON value with long texts
 * would block other requests. The query must return at least one row, because each row contains `isUpToDate`.
 */
async function readUpToDate<Row>(database: Queryable, query: FiguresQuery): Promise<Row[]> {
  await requireComplete(database)
  const text = `
    with fresh as materialized (
      select o.bank_id, o.tariff_id, o.currency, o.price, o.status as outcome,
             coalesce(o.confirmed_at, o.cancelled_at, o.reserved_until) as ended_at
      from (${unseen('sales', 1)}) as recorded cross join unnest(recorded.subjects) as subject (order_id)
      cross join lateral (select * from orders where order_id = subject.order_id offset 0) as o
      ${query.ofBank ? `where recorded.account = ${query.ofBank}` : ''}
    )${query.parts ? `, ${query.parts}` : ''}
    select ${newestPosition('sales')} = $3 as "isUpToDate", found.* from (${query.select}) as found`
  // A separate statement reads the position (see `unseen`). If the position has moved before `text` ran, `isUpToDate`
  // is false. Then the position and the figures are read again. Within one snapshot (`Aside.snapshot`) the position cannot
  // move. A slot of the outbox that is emptied after the snapshot began is empty in it, too, but its rows are more than a
  // day old, so the stored sums have them already, unless the job is a day behind.
  for (let tried = 0; tried < maxTries; tried++) {
    const position = await findPosition(database, 'sales')
    const values = [...valuesOf(position), position.snapshot, ...query.values]
    const found = await database.query<Row & { isUpToDate: boolean }>(text, values)
    if (found[0]?.isUpToDate) return found
  }
  throw new DomainError('unavailable', 'The figures are being added up; try again', { retryAfterSeconds: 1 })
}

async function requireComplete(database: Queryable): Promise<void> {
  const [row] = await database.query<{ complete: boolean }>(
    `select reached = '${allReached}' and not exists (select from tariff_stock where loaded is null) as complete from sales_backfill`,
  )
  if (!row?.complete)
    throw new DomainError(
      'unavailable',
      'The figures of earlier orders are being added up; try again in some minutes',
      {
        retryAfterSeconds: 30,
      },
    )
}

export type StockCount = {
  operatorCode: string
  tariffCode: string
  free: number
  reserved: number
  sold: number
  withdrawn: number
}

/** Every tariff with its profiles by state. A reservation that is over counts as free, even if it is not marked yet. */
export function countStock(database: Queryable, now: Date): Promise<StockCount[]> {
  return readFigures(database, {
    parts: `
      gone as (
        select tariff_id, sum(sold) as sold, sum(withdrawn) as withdrawn
        from (
          select tariff_id, sold, withdrawn from tariff_sales
          union all
          select tariff_id, (outcome = 'confirmed')::int, (outcome = 'withdrawn')::int from fresh
        ) as counts group by tariff_id
      ), held as (
        select tariff_id, count(*) as reserved from orders where status = 'reserved' and reserved_until > $4 group by tariff_id
      )`,
    select: `
      select m.code as "operatorCode", t.code as "tariffCode",
             coalesce(loaded, 0) - coalesce(reserved, 0) - coalesce(sold, 0) - coalesce(withdrawn, 0) as free,
             coalesce(reserved, 0) as reserved, coalesce(sold, 0) as sold, coalesce(withdrawn, 0) as withdrawn
      from tariffs t join mobile_operators m using (mobile_operator_id)
      left join tariff_stock using (tariff_id) left join gone using (tariff_id) left join held using (tariff_id)
      order by mobile_operator_id, t.position, tariff_id`,
    values: [now],
  })
}

/** The time zone of a bank's days. Older versions stored its name in any case. */
export async function findTimeZone(database: Queryable, bankId: string): Promise<string> {
  const [bank] = await database.query<{ timeZone: string }>(
    'select esim_time_zone as "timeZone" from banks where bank_id = $1',
    [bankId],
  )
  return usualZoneName(bank?.timeZone ?? 'UTC')
}

/**
 * JSON texts for the answer. Each of `days` has one or more items of the list, separated by commas; `totals` is an
 * object.
 */
export type SalesTexts = { days: string[]; totals: string }

const ended = `status in ('confirmed', 'cancelled', 'expired')`
const endedAt = 'coalesce(confirmed_at, cancelled_at, reserved_until)'
/**
 * The lowest id of an order that can end at this instant. An id begins with the instant at which the order was made,
 * and an order ends at most `reservationMinutes` after that.
 */
export const firstIdEndingAt = (at: Date): string => firstOrderId(new Date(at.getTime() - reservationMinutes * 60_000))

/**
 * The `with` queries `days`, `hours` and `cells`. `cells` has a bank's orders that ended within spans, by tariff,
 * currency, price and outcome. Its last bracket is left open, so that callers can add more rows. Uses the values $4 to
 * $15.
 *
 * `partsOf` has split the spans into days ($5, $6), hours ($7 to $9) and rests of less than an hour ($10 to $15). For
 * days and hours, `cells` has the stored sums plus the orders of `fresh`. For rests, it counts the orders themselves. A
 * `sign` of -1 subtracts.
 */
export const spanCells = `
      days as (select * from unnest($5::int[], $6::date[]) as d (span, day)),
      hours as (select * from unnest($7::int[], $8::int[], $9::timestamptz[]) as h (span, sign, hour)),
      cells as (
        select span, s.* from days d cross join lateral (
          select tariff_id, currency, price, outcome, orders from sales_days where day = d.day and bank_id = $4 offset 0) s
        union all
        select span, tariff_id, currency, price, outcome, 1 from fresh join days on day = (ended_at at time zone 'UTC')::date
        union all
        select span, tariff_id, currency, price, outcome, sign * orders from hours h cross join lateral (
          select * from sales_hours where hour = h.hour and bank_id = $4 offset 0) s
        union all
        select span, tariff_id, currency, price, outcome, sign from fresh join hours on hour = date_trunc('hour', ended_at, 'UTC')
        union all
        select span, tariff_id, currency, price, status, sign
        from unnest($10::int[], $11::int[], $12::timestamptz[], $13::timestamptz[], $14::uuid[], $15::uuid[])
          as r (span, sign, since, until, first_id, last_id)
        cross join lateral (
          select * from orders where bank_id = $4 and order_id >= r.first_id and order_id < r.last_id and ${ended}
            and ${endedAt} >= r.since and ${endedAt} < r.until offset 0) s`

/**
 * The values for `spanCells`.
 * @param bounds the ends of the spans, in the order of time; n spans have n + 1 bounds
 */
export function spanValues(bankId: string, bounds: readonly Date[]): unknown[] {
  const { days, hours, rests } = partsOf(bounds)
  return [
    bankId,
    days.map(({ span }) => span),
    days.map(({ day }) => day),
    hours.map(({ span }) => span),
    hours.map(({ sign }) => sign),
    hours.map(({ hour }) => hour.toISOString()),
    rests.map(({ span }) => span),
    rests.map(({ sign }) => sign),
    rests.map(({ from }) => from.toISOString()),
    rests.map(({ until }) => until.toISOString()),
    rests.map(({ from }) => firstIdEndingAt(from)),
    rests.map(({ until }) => firstOrderId(until)),
  ]
}

const countsText = `'"confirmed":' || confirmed || ',"cancelled":' || cancelled || ',"expired":' || expired || ',"amounts":['
  || coalesce(amounts, '') || ']}'`
/**
 * SQL for the amounts in each currency. The rows must already be sorted by currency: an `order by` inside the aggregate
 * would sort tens of thousands of groups one by one, which would add about 10 % to the time of the query.
 */
const amountsText = `string_agg('{"currency":"' || currency || '","amount":' || trim_scale(amount) || '}', ',')
  filter (where confirmed > 0)`

/**
 * A bank's orders that ended on each of the days (confirmed, cancelled, or expired by now), by tariff and in total. The
 * database writes the JSON, because reading tens of thousands of rows would delay other requests by a tenth of a
 * second. It returns one text for each day, so that no text is long. Codes and currencies have no character that JSON
 * escapes (text/text-rules.ts).
 *
 * @param names the days, `yyyy-mm-dd`
 * @param bounds the ends of the days, in the order of time; n days have n + 1 bounds
 */
export async function countSales(
  database: Queryable,
  input: { bankId: string; names: readonly string[]; bounds: readonly Date[]; now: Date },
): Promise<SalesTexts> {
  const { bankId, names, bounds, now } = input
  const texts = await readUpToDate<{ text: string }>(database, {
    ofBank: '$4',
    // Adds the reservations that are over by now but not marked yet. `width_bucket` finds the span in which each of
    // them ends.
    parts: `${spanCells}
        union all
        select width_bucket(reserved_until, $16::timestamptz[]) - 1, tariff_id, currency, price, 'expired', 1
        from orders where bank_id = $4 and status = 'reserved' and reserved_until <= $17
          and reserved_until >= $18 and reserved_until < $19
      ), sums as (
        select span, tariff_id, currency, coalesce(sum(orders) filter (where outcome = 'confirmed'), 0) as confirmed,
               coalesce(sum(orders) filter (where outcome = 'cancelled'), 0) as cancelled,
               coalesce(sum(orders) filter (where outcome = 'expired'), 0) as expired,
               sum(orders * price) filter (where outcome = 'confirmed') as amount
        from cells group by span, tariff_id, currency
      ), by_tariff as (
        select span, tariff_id, sum(confirmed) as confirmed, sum(cancelled) as cancelled, sum(expired) as expired,
               ${amountsText} as amounts
        from (select * from sums order by span, tariff_id, currency) as sorted
        group by span, tariff_id having sum(abs(confirmed) + abs(cancelled) + abs(expired)) > 0
      ), by_currency as (
        select currency, sum(confirmed) as confirmed, sum(cancelled) as cancelled, sum(expired) as expired, sum(amount) as amount
        from sums group by currency
      ), in_all as (
        select coalesce(sum(confirmed), 0) as confirmed, coalesce(sum(cancelled), 0) as cancelled, coalesce(sum(expired), 0) as expired,
               ${amountsText} as amounts
        from (select * from by_currency order by currency) as sorted
      )`,
    // The last row contains the totals.
    select: `
      select text from (
        select span, string_agg('{"day":"' || ($20::text[])[span + 1] || '","operatorCode":"' || m.code || '","tariffCode":"'
                 || t.code || '",' || ${countsText}, ',' order by mobile_operator_id, t.position) as text
        from by_tariff join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id) group by span
        union all
        select null, '{' || ${countsText} from in_all
      ) as texts order by span nulls last`,
    values: [
      ...spanValues(bankId, bounds),
      bounds.map(bound => bound.toISOString()),
      now,
      bounds[0],
      bounds.at(-1),
      names,
    ],
  })
  const totals = texts.pop()
  if (!totals) throw new Error('An aggregate without groups has one row')
  return { days: texts.map(({ text }) => text), totals: totals.text }
}

type Outcome = 'confirmed' | 'cancelled' | 'expired'
type Since = { parts: string; values: unknown[] }

/**
 * Like `spanCells`, but for the orders of all banks that ended at an instant or later. It uses the stored status, so it
 * omits reservations that are over but not marked yet. Uses the values $4 to $11.
 */
function endedSince(since: Date): Since {
  const { day, hours, rests } = edgeOf(since)
  const [rest] = rests
  const parts = `
    hours as (select * from unnest($5::int[], $6::timestamptz[]) as h (sign, hour)),
    cells as (
      select tariff_id, outcome, orders from tariff_sales_days where day >= $4
      union all
      select tariff_id, outcome, 1 from fresh where bank_id is not null and ended_at at time zone 'UTC' >= $4::date
      union all
      select tariff_id, outcome, sign * orders from hours join tariff_sales_hours using (hour)
      union all
      select tariff_id, outcome, sign from fresh join hours on hour = date_trunc('hour', ended_at, 'UTC') where bank_id is not null
      union all
      select tariff_id, status, $7::int from orders
      where order_id >= $8 and order_id < $9 and bank_id is not null and ${ended} and ${endedAt} >= $10 and ${endedAt} < $11
    )`
  const values = [
    day,
    hours.map(({ sign }) => sign),
    hours.map(({ hour }) => hour.toISOString()),
    rest?.sign ?? 1,
    firstIdEndingAt(rest?.from ?? since),
    firstOrderId(rest?.until ?? since),
    rest?.from ?? since,
    rest?.until ?? since,
  ]
  return { parts, values }
}

/**
 * How many profiles of each tariff were sold to all banks at an instant or later. Tariffs without a sale are left out.
 */
export async function countSoldSince(database: Queryable, since: Date): Promise<Map<number, number>> {
  const rows = await readFigures<{ tariffId: number; sold: number }>(database, {
    ...endedSince(since),
    select: `
      select tariff_id as "tariffId", sum(orders) as sold from cells where outcome = 'confirmed'
      group by tariff_id having sum(orders) <> 0`,
  })
  return new Map(rows.map(({ tariffId, sold }) => [tariffId, sold]))
}

/**
 * Orders of all banks that were made at an instant or later, by their current status. It is computed in three steps:
 * count the orders that ended since the instant, subtract those that were made before it, and add the orders that were
 * made since then and have not ended.
 */
export async function countMadeSince(
  database: Queryable,
  since: Date,
  now: Date,
): Promise<Record<Outcome | 'reserved', number>> {
  const { parts, values } = endedSince(since)
  const rows = await readFigures<{ status: Outcome | 'reserved'; orders: number }>(database, {
    parts,
    select: `
      select status, sum(orders) as orders from (
        select outcome as status, orders from cells
        union all
        select status, -1 from orders
        where order_id >= $12 and order_id < $13 and bank_id is not null and ${ended} and ${endedAt} >= $14
        union all
        select case when reserved_until > $15 then 'reserved' else 'expired' end, 1 from orders
        where status = 'reserved' and order_id >= $13
      ) as counts group by status`,
    values: [...values, firstIdEndingAt(since), firstOrderId(since), since, now],
  })
  const none = { reserved: 0, confirmed: 0, cancelled: 0, expired: 0 }
  return { ...none, ...Object.fromEntries(rows.map(({ status, orders }) => [status, orders])) }
}
