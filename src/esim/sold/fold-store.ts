/**
 * Adds the orders that have ended to the sales figures and to the counters of tariffs. A job reads their events from
 * the outbox. The *old orders* were made before migration 0026 created the outbox, so their events may be missing. They
 * are added once, in batches, in the order of their ids.
 *
 * Each order counts exactly once. `reached` is the highest id of the batches that are done:
 *
 * - An order above `reached` is added with its batch, if it has ended by then. Until then its events are ignored.
 * - An order at or below `reached` is added when its event is read.
 *
 * One statement adds a batch and reads all events that its snapshot sees. If an order of the batch has ended in this
 * snapshot, the same statement reads and ignores its event. If the order ends later, a later statement reads its event.
 */
import type { Database, Queryable } from '../../db/database.ts'
import { type Piece, tick } from '../../outbox/tick-store.ts'

/** The value of `reached` once all old orders are added to the sums: the highest possible id. */
export const allReached = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const oldOrdersAtOnce = 20_000

/**
 * Adds the next events, and the next old orders if there are any.
 *
 * @returns whether there may be more; null: another process is doing it
 */
export async function foldSales(database: Database): Promise<boolean | null> {
  if (await countOldStock(database)) return true
  return tick(database, 'sales', async (transaction, pieceOf) => {
    const [row] = await transaction.query<{ reached: string }>('select reached from sales_backfill')
    const reached = row?.reached ?? allReached
    const isBackfill = reached !== allReached
    return fold(transaction, pieceOf(isBackfill), reached)
  })
}

const endedColumns = `o.bank_id, o.tariff_id, o.currency, o.price, o.status as outcome,
  coalesce(o.confirmed_at, o.cancelled_at, o.reserved_until) as ended_at`

const foldText = ({ parts }: Piece): string => `
  with ${parts}, old as materialized (
    select * from orders where order_id > $4 order by order_id limit $5
  ), reached as (
    update sales_backfill set reached = case when (select count(*) from old) < $5 then '${allReached}'
      else (select order_id from old order by order_id desc limit 1) end
    where $4 <> '${allReached}'
  ), ended as materialized (
    select ${endedColumns}
    from (select order_id from seen cross join unnest(subjects) as order_id where order_id <= $4) as recorded
    cross join lateral (select * from orders where order_id = recorded.order_id offset 0) as o
    union all
    select ${endedColumns} from old as o where status <> 'reserved'
  ), by_hour as materialized (
    select date_trunc('hour', ended_at, 'UTC') as hour, bank_id, tariff_id, currency, price, outcome, count(*) as orders
    from ended group by 1, 2, 3, 4, 5, 6
  ), days as (
    insert into sales_days (day, bank_id, tariff_id, currency, price, outcome, orders)
    select (hour at time zone 'UTC')::date, bank_id, tariff_id, currency, price, outcome, sum(orders)
    from by_hour where bank_id is not null group by 1, 2, 3, 4, 5, 6
    on conflict (day, bank_id, tariff_id, currency, price, outcome) do update set orders = sales_days.orders + excluded.orders
  ), hours as (
    insert into sales_hours (hour, bank_id, tariff_id, currency, price, outcome, orders)
    select hour, bank_id, tariff_id, currency, price, outcome, orders from by_hour where bank_id is not null
    on conflict (hour, bank_id, tariff_id, currency, price, outcome) do update set orders = sales_hours.orders + excluded.orders
  ), tariff_days as (
    insert into tariff_sales_days (day, tariff_id, outcome, orders)
    select (hour at time zone 'UTC')::date, tariff_id, outcome, sum(orders)
    from by_hour where bank_id is not null group by 1, 2, 3
    on conflict (day, tariff_id, outcome) do update set orders = tariff_sales_days.orders + excluded.orders
  ), tariff_hours as (
    insert into tariff_sales_hours (hour, tariff_id, outcome, orders)
    select hour, tariff_id, outcome, sum(orders) from by_hour where bank_id is not null group by 1, 2, 3
    on conflict (hour, tariff_id, outcome) do update set orders = tariff_sales_hours.orders + excluded.orders
  ), tariffs as (
    insert into tariff_sales (tariff_id, sold, withdrawn)
    select tariff_id, coalesce(sum(orders) filter (where outcome = 'confirmed'), 0),
      coalesce(sum(orders) filter (where outcome = 'withdrawn'), 0)
    from by_hour where outcome in ('confirmed', 'withdrawn') group by 1
    on conflict (tariff_id) do update
    set sold = tariff_sales.sold + excluded.sold, withdrawn = tariff_sales.withdrawn + excluded.withdrawn
  )
  select (select may_be_more from until) as "mayBeMore", (select count(*) from old)::int as old`

async function fold(transaction: Queryable, piece: Piece, reached: string): Promise<boolean> {
  const [taken] = await transaction.query<{ mayBeMore: boolean; old: number }>(foldText(piece), [
    ...piece.values,
    reached,
    oldOrdersAtOnce,
  ])
  return taken !== undefined && (taken.mayBeMore || taken.old === oldOrdersAtOnce)
}

/**
 * Counts the *old stock* of one tariff: the profiles that were loaded before migration 0026 created the counters. It
 * locks the counter's row, so an import and this count run one after the other, and no profile is counted twice or missed.
 *
 * @returns false when the stock of every tariff is counted
 */
async function countOldStock(database: Database): Promise<boolean> {
  const [uncounted] = await database.query<{ tariffId: number }>(
    'select tariff_id as "tariffId" from tariff_stock where loaded is null order by tariff_id limit 1',
  )
  if (!uncounted) return false
  await database.dedicated(async client => {
    await client.query('begin')
    await client.query('select from tariff_stock where tariff_id = $1 for update', [uncounted.tariffId])
    await client.query(
      `update tariff_stock set loaded = (select count(*) from profiles where tariff_id = $1) where tariff_id = $1 and loaded is null`,
      [uncounted.tariffId],
    )
    await client.query('commit')
  })
  return true
}
