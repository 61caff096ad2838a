/**
 * Checks the sales figures and the counters of stock against the orders and profiles. The figures are the stored sums,
 * plus the orders in the outbox that these sums lack so far. Each comparison is one statement, so it reads the figures
 * and the orders at the same instant.
 */
import type { Check, Piece, Step } from '../../db/check.ts'
import type { Queryable } from '../../db/database.ts'
import { holdsProfile } from '../orders/lifecycle.ts'
import { firstOrderId } from '../orders/order-id.ts'
import { firstIdEndingAt, readFigures } from './figures-store.ts'

const hoursCheck: Check = {
  code: 'sales-hours',
  name: 'the sales figures by hour equal the orders',
  holds:
    'counted again order by order, each bank’s figures of each tariff, price and outcome are the same; so are the sums of all banks',
}
const daysCheck: Check = {
  code: 'sales-days',
  name: 'the sales figures by day equal those by hour',
  holds: 'the hours of each day add up to it, and so do the sums of all banks',
}
const stockCheck: Check = {
  code: 'stock-counters',
  name: 'the counters of stock equal the profiles',
  holds: 'counted again profile by profile, as many of each tariff were loaded, sold and withdrawn',
}
export const salesChecks: readonly Check[] = [hoursCheck, daysCheck, stockCheck]

const hourMs = 3_600_000
const ordersAtOnce = 10_000
const daysAtOnce = 10
const profilesAtOnce = 10_000
const tariffsAtOnce = 100

const piece = (code: string, rows: number, found: readonly { text: string }[], reached: string | null): Piece => ({
  findings: found.map(({ text }) => ({ code, text })),
  counts: {},
  rows,
  reached: reached === null ? null : [reached],
})

/**
 * The columns of a cell. A cell is one row of the figures of an hour or a day: it counts the orders with these values.
 */
const cell = 'bank_id, tariff_id, currency, price, outcome'
/**
 * The sums of all banks have no bank, no currency and no price. So that they can be compared in the same way, their
 * rows get this id as the bank, an empty currency and the price 0.
 */
const allBanks = '00000000-0000-0000-0000-000000000000'
const cellOfAll = `'${allBanks}'::uuid as bank_id, tariff_id, '' as currency, 0 as price, outcome`

type Unit = 'hour' | 'day'
/**
 * Two queries whose results must be equal. `kept` reads the stored rows, and `counted` counts them again. Both return
 * the hour or the day, the columns of `cell`, and `orders`.
 */
type Sides = { kept: string; counted: string }

/**
 * Finds the cells that differ between the two queries. It groups the rows of both queries together, because to sum each
 * query and join the sums would cost twice as much.
 */
const differences = (unit: Unit, { kept, counted }: Sides) => `
  select 'the ${unit} ' || ${unit} || ' has ' || counted || ' ' || outcome || ' orders of '
    || case when bank_id = '${allBanks}' then 'all banks' else 'bank ' || bank_id end || ' and tariff ' || tariff_id || ', but the figures say ' || kept as text
  from (
    select ${unit}, ${cell}, sum(kept) as kept, sum(counted) as counted
    from (
      select ${unit}, ${cell}, orders::int as kept, 0 as counted from (${kept}) as kept_rows
      union all
      select ${unit}, ${cell}, 0, orders::int from (${counted}) as counted_rows
    ) as rows group by ${unit}, ${cell} having sum(kept) <> sum(counted)
  ) as differing`

/**
 * SQL for a checksum of rows: each order adds the hash of its cell (day or hour, bank, tariff, currency, outcome,
 * price). The sum is the same whether the orders of a cell are in one row or in several. The hash has 40 bits, so that
 * its product with the number of orders of a row fits into 64 bits.
 */
const fingerprint = (unit: Unit, rows: string) => `
  select coalesce(sum(orders * (1099511627775 & hash_numeric_extended(price, hashtextextended(outcome, hashtextextended(currency,
    hashint4extended(tariff_id, uuid_hash_extended(bank_id, date_part('epoch', ${unit})::bigint))))))), 0) as orders
  from (${rows}) as fingerprinted`

/**
 * Whether the two queries have the same rows, by their checksums. This takes a third of the time that `differences`
 * takes.
 */
const areSame = (unit: Unit, { kept, counted }: Sides) =>
  `select (${fingerprint(unit, kept)}) = (${fingerprint(unit, counted)}) as "areSame"`

/** Compares the checksums first, and finds the cells that differ only if the checksums differ. */
async function compareSides(
  database: Queryable,
  unit: Unit,
  sides: Sides,
  values: unknown[],
): Promise<{ text: string }[]> {
  const [compared] = await readFigures<{ areSame: boolean }>(database, { select: areSame(unit, sides), values })
  return compared?.areSame ? [] : readFigures(database, { select: differences(unit, sides), values })
}

/**
 * Checks the figures of hours in pieces. A piece has whole hours with about `ordersAtOnce` orders in total. The orders
 * are found by id: an id begins with the time at which the order was made, and an order ends shortly after that. The
 * values begin with $4, because `readFigures` uses $1 to $3.
 */
const hours: Step = {
  name: hoursCheck.code,
  table: 'orders',
  async next(database, after) {
    const from = after ? new Date(after[0] ?? '') : null
    const until = await hourBehind(database, from)
    const hour = (at: string) => `date_bin('1 hour', ${at}, 'epoch')`
    const within = (at: string) =>
      `($4::timestamptz is null or ${at} >= $4) and ($5::timestamptz is null or ${at} < $5)`
    const kept = `select hour, ${cell}, orders from sales_hours where ${within('hour')}
      union all
      select ${hour('ended_at')}, ${cell}, 1 from fresh where bank_id is not null and outcome <> 'withdrawn' and ${within('ended_at')}`
    const counted = `select ${hour('ended_at')} as hour, ${cell}, 1 as orders
      from (
        select bank_id, tariff_id, currency, price, status as outcome, coalesce(confirmed_at, cancelled_at, reserved_until) as ended_at
        from orders where order_id >= $6 and order_id < $7 and bank_id is not null and status in ('confirmed', 'cancelled', 'expired')
      ) as ended where ${within('ended_at')}`
    const ids = [from ? firstIdEndingAt(from) : firstId, until ? firstOrderId(until) : lastId]
    const ofAll = (table: string) => `select hour, ${cellOfAll}, orders from ${table} where ${within('hour')}`
    const sums = { kept: ofAll('tariff_sales_hours'), counted: ofAll('sales_hours') }
    const found = [
      ...(await compareSides(database, 'hour', { kept, counted }, [from, until, ...ids])),
      ...(await compareSides(database, 'hour', sums, [from, until])),
    ]
    return piece(hoursCheck.code, ordersAtOnce, found, until?.toISOString() ?? null)
  },
}

const firstId = '00000000-0000-0000-0000-000000000000'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The end of a piece (the hours that are checked at once): the end of the hour in which its last order was made. Null
 * for the last piece.
 */
async function hourBehind(database: Queryable, from: Date | null): Promise<Date | null> {
  const [last] = await database.query<{ madeAt: Date }>(
    `select created_at as "madeAt" from orders where order_id >= $1 order by order_id offset ${ordersAtOnce} limit 1`,
    [from ? firstOrderId(from) : firstId],
  )
  return last ? new Date((Math.floor(last.madeAt.getTime() / hourMs) + 1) * hourMs) : null
}

const days: Step = {
  name: daysCheck.code,
  table: 'sales_days',
  async next(database, after) {
    const [bound] = await database.query<{ lastDay: string }>(
      `select day::text as "lastDay" from sales_days where $1::date is null or day > $1 group by day order by day
       offset ${daysAtOnce - 1} limit 1`,
      [after?.[0] ?? null],
    )
    const until = bound?.lastDay ?? null
    const within = '($4::date is null or day > $4) and ($5::date is null or day <= $5)'
    const kept = `select day, ${cell}, orders from sales_days where ${within}`
    // `hour::date` gives the day in UTC, because the database sessions use UTC.
    const counted = `select hour::date as day, ${cell}, orders from sales_hours
      where ($4::date is null or hour >= ($4::date + 1)::timestamp at time zone 'UTC')
        and ($5::date is null or hour < ($5::date + 1)::timestamp at time zone 'UTC')`
    const ofAll = (table: string) => `select day, ${cellOfAll}, orders from ${table} where ${within}`
    const sums = { kept: ofAll('tariff_sales_days'), counted: ofAll('sales_days') }
    const span = [after?.[0] ?? null, until]
    const found = [
      ...(await compareSides(database, 'day', { kept, counted }, span)),
      ...(await compareSides(database, 'day', sums, span)),
    ]
    return piece(daysCheck.code, ordersAtOnce, found, until)
  },
}

/**
 * Checks the counters of tariffs in pieces. A piece has one or more whole tariffs with about `profilesAtOnce` profiles in total;
 * each tariff is compared by itself.
 */
const stock: Step = {
  name: stockCheck.code,
  table: 'profiles',
  async next(database, after) {
    const from = Number(after?.[0] ?? 0)
    const [last] = await database.query<{ tariffId: number; isEnd: boolean }>(lastTariffText, [from, profilesAtOnce])
    if (!last) return piece(stockCheck.code, 0, [], null)
    const range = await findRange(database, from, last.tariffId)
    const found = await readFigures<{ text: string; loaded: number }>(database, {
      parts: `
        counted as (
          select tariff_id, sum(loaded) as loaded, sum(sold) as sold, sum(withdrawn) as withdrawn
          from (
            select tariff_id, 1 as loaded, 0 as sold, 0 as withdrawn from profiles where ${ofTariffs}
            union all
            select p.tariff_id, 0, (o.status = 'confirmed')::int, (o.status = 'withdrawn')::int
            from ${range.length > 0 ? goneInRange : goneOneByOne}
          ) as rows group by tariff_id
        ), stated as (
          select tariff_id, sum(loaded) as loaded, sum(sold) as sold, sum(withdrawn) as withdrawn
          from (
            select tariff_id, loaded, 0 as sold, 0 as withdrawn from tariff_stock
            union all
            select tariff_id, 0, sold, withdrawn from tariff_sales
            union all
            select tariff_id, 0, (outcome = 'confirmed')::int, (outcome = 'withdrawn')::int from fresh
          ) as figures where tariff_id > $4 and tariff_id <= $5 group by tariff_id
        )`,
      select: `
        select coalesce(c.loaded, 0) as loaded,
          case when coalesce(c.loaded, 0) <> coalesce(s.loaded, 0) or coalesce(c.sold, 0) <> coalesce(s.sold, 0)
              or coalesce(c.withdrawn, 0) <> coalesce(s.withdrawn, 0) then
            'tariff ' || tariff_id || ': profile by profile ' || coalesce(c.loaded, 0) || ' loaded, ' || coalesce(c.sold, 0)
              || ' sold and ' || coalesce(c.withdrawn, 0) || ' withdrawn, but the counters say ' || coalesce(s.loaded, 0) || ', '
              || coalesce(s.sold, 0) || ' and ' || coalesce(s.withdrawn, 0) end as text
        from counted c full join stated s using (tariff_id)`,
      values: [from, last.tariffId, ...range],
    })
    const wrong = found.filter(({ text }) => text !== null)
    const rows = found.reduce((sum, { loaded }) => sum + loaded, 0)
    return piece(stockCheck.code, rows, wrong, last.isEnd ? null : String(last.tariffId))
  },
}

const ofTariffs = 'tariff_id > $4 and tariff_id <= $5'
/** Use it together with `holdsProfile`: PostgreSQL uses the index of live orders only with that condition. */
const isGone = `status in ('confirmed', 'withdrawn')`
const ofThem = `(select profile_id, tariff_id from profiles where ${ofTariffs}) as p`

/**
 * SQL for the profiles that are sold or withdrawn. It joins a range of an index of profiles with a range of an index of
 * orders; both indexes contain all needed columns.
 */
const goneInRange = `${ofThem}
  join (
    select profile_id, status from orders where ${holdsProfile} and ${isGone} and profile_id >= $6 and profile_id <= $7
  ) as o using (profile_id)`

/**
 * The same profiles as `goneInRange`, for tariffs whose profile ids are mixed with ids of other tariffs. It looks up
 * the order of each profile.
 */
const goneOneByOne = `${ofThem}
  cross join lateral (
    select status from orders where profile_id = p.profile_id and ${holdsProfile} and ${isGone} offset 0
  ) as o`

/**
 * The maximum number of ids in a range, per profile of these tariffs, for which `goneInRange` is used. It reads the
 * whole range. A longer range has many profiles of other tariffs, so `goneOneByOne` costs less.
 */
const maxIdsForEach = 3

/**
 * The lowest and the highest id of these tariffs' profiles; empty when too many ids of other tariffs lie between them.
 * The profiles of one import have ids next to each other.
 */
async function findRange(database: Queryable, from: number, to: number): Promise<number[]> {
  const [range] = await database.query<{ first: number | null; last: number | null; loaded: number }>(
    `select min(first) as first, max(last) as last,
       (select coalesce(sum(loaded), 0) from tariff_stock where tariff_id > $1 and tariff_id <= $2)::bigint as loaded
     from tariffs t cross join lateral (
       select (select min(profile_id) from profiles where tariff_id = t.tariff_id) as first,
              (select max(profile_id) from profiles where tariff_id = t.tariff_id) as last
     ) as ends where tariff_id > $1 and tariff_id <= $2`,
    [from, to],
  )
  const { first = null, last = null, loaded = 0 } = range ?? {}
  return first !== null && last !== null && last - first < maxIdsForEach * loaded ? [first, last] : []
}

/**
 * Finds the last tariff of a piece. A wrong stored counter (`loaded`) does no harm here: it only makes the piece larger
 * or smaller, and the check of the piece reports the counter.
 */
const lastTariffText = `
  select max(tariff_id) as "tariffId", max(tariff_id) = (select max(tariff_id) from tariffs) as "isEnd"
  from (
    select tariff_id, sum(loaded) over (order by tariff_id) - loaded as before
    from (
      select tariff_id, coalesce(loaded, 0) as loaded from tariffs left join tariff_stock using (tariff_id)
      where tariff_id > $1 order by tariff_id limit ${tariffsAtOnce}
    ) as next
  ) as summed where before < $2 having max(tariff_id) is not null`

export const salesSteps: readonly Step[] = [hours, days, stock]
