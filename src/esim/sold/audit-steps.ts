/**
 * What must hold of the sales figures and of the counters of stock: what was added up, and what is told of since, is what the orders
 * and profiles say. Each piece is one statement, so it compares what was so at one instant.
 */
import type { Check, Piece, Step } from '../../db/check.ts'
import type { Queryable } from '../../db/database.ts'
import { firstOrderId } from '../orders/order-id.ts'
import { firstIdEndingAt, readFigures } from './figures-store.ts'

const hoursCheck: Check = {
  code: 'sales-hours',
  name: 'the sales figures by hour equal the orders',
  holds: 'counted again order by order, each bank’s figures of each tariff, price and outcome are the same',
}
const daysCheck: Check = {
  code: 'sales-days',
  name: 'the sales figures by day equal those by hour',
  holds: 'the hours of each day add up to it',
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

const piece = (code: string, rows: number, found: readonly { text: string }[], reached: string | null): Piece => ({
  findings: found.map(({ text }) => ({ code, text })),
  counts: {},
  rows,
  reached: reached === null ? null : [reached],
})

const cell = 'bank_id, tariff_id, currency, price, outcome'
const differences = (unit: 'hour' | 'day', one: string, other: string) => `
  select 'the ${unit} ' || ${unit} || ' has ' || coalesce(one.orders, 0) || ' ' || outcome || ' orders of bank ' || bank_id
    || ' and tariff ' || tariff_id || ', but the figures say ' || coalesce(other.orders, 0) as text
  from ${one} as one full join ${other} as other using (${unit}, ${cell})
  where coalesce(one.orders, 0) <> coalesce(other.orders, 0)`

/** Whole hours, of about so many orders. An order's id begins with the instant at which it was made, shortly before its end. */
const hours: Step = {
  name: hoursCheck.code,
  table: 'orders',
  async next(database, after) {
    const from = after ? new Date(after[0] ?? '') : null
    const until = await hourBehind(database, from)
    const hour = (at: string) => `date_trunc('hour', ${at}, 'UTC')`
    const within = (at: string) =>
      `($4::timestamptz is null or ${at} >= $4) and ($5::timestamptz is null or ${at} < $5)`
    const found = await readFigures<{ text: string }>(database, {
      parts: `
        counted as (
          select ${hour('ended_at')} as hour, ${cell}, count(*) as orders
          from (
            select bank_id, tariff_id, currency, price, status as outcome, coalesce(confirmed_at, cancelled_at, reserved_until) as ended_at
            from orders where order_id >= $6 and order_id < $7 and bank_id is not null and status in ('confirmed', 'cancelled', 'expired')
          ) as ended where ${within('ended_at')} group by 1, ${cell}
        ), told as (
          select hour, ${cell}, sum(orders) as orders
          from (
            select hour, ${cell}, orders from sales_hours where ${within('hour')}
            union all
            select ${hour('ended_at')}, ${cell}, 1 from fresh where bank_id is not null and outcome <> 'withdrawn' and ${within('ended_at')}
          ) as figures group by hour, ${cell}
        )`,
      select: differences('hour', 'counted', 'told'),
      values: [from, until, from ? firstIdEndingAt(from) : firstId, until ? firstOrderId(until) : lastId],
    })
    return piece(hoursCheck.code, ordersAtOnce, found, until?.toISOString() ?? null)
  },
}

const firstId = '00000000-0000-0000-0000-000000000000'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The end of the hour in which the orders of a piece end; null: there are not more. */
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
    const [bound] = await database.query<{ day: string }>(
      `select day::text from sales_days where $1::date is null or day > $1 group by day order by day offset ${daysAtOnce - 1} limit 1`,
      [after?.[0] ?? null],
    )
    const within = (day: string) => `($4::date is null or ${day} > $4) and ($5::date is null or ${day} <= $5)`
    const ofHour = `(hour at time zone 'UTC')::date`
    const found = await readFigures<{ text: string }>(database, {
      parts: `
        by_hour as (
          select ${ofHour} as day, ${cell}, sum(orders) as orders from sales_hours
          where ($4::date is null or hour >= ($4::date + 1)::timestamp at time zone 'UTC')
            and ($5::date is null or hour < ($5::date + 1)::timestamp at time zone 'UTC')
          group by 1, ${cell}
        ), by_day as (select day, ${cell}, orders from sales_days where ${within('day')})`,
      select: differences('day', 'by_hour', 'by_day'),
      values: [after?.[0] ?? null, bound?.day ?? null],
    })
    return piece(daysCheck.code, ordersAtOnce, found, bound?.day ?? null)
  },
}

/** One tariff at a time: its profiles are looked at one by one. */
const stock: Step = {
  name: stockCheck.code,
  table: 'profiles',
  async next(database, after) {
    const [tariff] = await database.query<{ id: number; profiles: number }>(
      'select tariff_id as id from tariffs where tariff_id > $1 order by tariff_id limit 1',
      [Number(after?.[0] ?? 0)],
    )
    if (!tariff) return piece(stockCheck.code, 0, [], null)
    const found = await readFigures<{ text: string; loaded: number }>(database, {
      parts: `
        counted as (
          select count(distinct p.profile_id) as loaded, count(*) filter (where o.status = 'confirmed') as sold,
                 count(*) filter (where o.status = 'withdrawn') as withdrawn
          from profiles p
          left join lateral (
            select status from orders where profile_id = p.profile_id and status in ('reserved', 'confirmed', 'withdrawn') offset 0
          ) as o on true
          where p.tariff_id = $4
        ), told as (
          select coalesce((select loaded from tariff_stock where tariff_id = $4), 0) as loaded,
                 coalesce((select sold from tariff_sales where tariff_id = $4), 0)
                   + (select count(*) from fresh where tariff_id = $4 and outcome = 'confirmed') as sold,
                 coalesce((select withdrawn from tariff_sales where tariff_id = $4), 0)
                   + (select count(*) from fresh where tariff_id = $4 and outcome = 'withdrawn') as withdrawn
        )`,
      select: `
        select c.loaded, case when (c.loaded, c.sold, c.withdrawn) <> (t.loaded, t.sold, t.withdrawn) then
          'tariff ' || $4 || ': profile by profile ' || c.loaded || ' loaded, ' || c.sold || ' sold and ' || c.withdrawn
            || ' withdrawn, but the counters say ' || t.loaded || ', ' || t.sold || ' and ' || t.withdrawn end as text
        from counted c, told t`,
      values: [tariff.id],
    })
    const wrong = found.filter(({ text }) => text !== null)
    return piece(stockCheck.code, found[0]?.loaded ?? 0, wrong, String(tariff.id))
  },
}

export const salesSteps: readonly Step[] = [hours, days, stock]
