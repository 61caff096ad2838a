/**
 * Creates the lines of statements: one for each confirmed order in the outbox, and one for each confirmed *old order*.
 * Old orders were already in the database when migration 0031 introduced statements. Their lines are created once, in
 * pieces. A line is open until a statement contains it. So the line of a late order is in the next statement.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { type Piece, tick } from '../outbox/tick-store.ts'

const allReached = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const oldOrdersAtOnce = 20_000

/**
 * Orders that already have a line are skipped. For example, `takeOldPiece` has made the line of an order, and the event
 * of the order is still in the outbox. No two statements make lines at the same time, so a look-up is enough. `on
 * conflict` would take half as long again.
 *
 * @param orders a query with `order_id`
 */
const insertLines = (orders: string): string => `
  insert into statement_lines (order_id, bank_id, external_id, payment_reference, tariff_id, tariff_name, confirmed_at, currency, amount)
  select o.order_id, o.bank_id, o.external_id, o.payment_reference, o.tariff_id, t.name, o.confirmed_at, o.currency, o.price
  from (${orders}) as listed
  cross join lateral (select * from orders where order_id = listed.order_id offset 0) as o
  cross join lateral (select name from tariffs where tariff_id = o.tariff_id offset 0) as t
  where o.status = 'confirmed'
    and not exists (select from statement_lines as made where made.order_id = listed.order_id offset 0)`

const takeText = ({ parts }: Piece): string => `
  with ${parts}, made as (${insertLines(`select unnest(subjects) as order_id from seen`)})
  select may_be_more as "mayBeMore" from until`

/**
 * Creates the lines of the next orders in the outbox.
 * @returns whether there may be more; null: another process does this
 */
function takeNew(database: Database): Promise<boolean | null> {
  return tick(database, 'statements', async (transaction, pieceOf) => {
    const piece = pieceOf(false)
    const [taken] = await transaction.query<{ mayBeMore: boolean }>(takeText(piece), piece.values)
    return taken?.mayBeMore === true
  })
}

/** Creates the lines of some old orders. @returns whether there may be more; false when every old order has its line */
async function takeOld(database: Database): Promise<boolean> {
  if (await hasEveryLine(database)) return false
  await database.transaction(async transaction => {
    const [row] = await transaction.query<{ reached: string }>('select reached from statement_backfill for update')
    if (!row || row.reached === allReached) return
    const reached = await takeOldPiece(transaction, row.reached)
    await transaction.execute('update statement_backfill set reached = $1', [reached])
  })
  return true
}

/**
 * Creates the lines of the next old orders.
 *
 * @returns the id of the last of these orders; every confirmed order up to it now has its line
 */
async function takeOldPiece(transaction: Queryable, after: string): Promise<string> {
  const [last] = await transaction.query<{ orderId: string }>(
    `select order_id as "orderId" from orders where order_id > $1 order by order_id offset ${oldOrdersAtOnce - 1} limit 1`,
    [after],
  )
  const upTo = last?.orderId ?? allReached
  await transaction.execute(
    insertLines(`select order_id from orders where order_id > $1 and order_id <= $2 and status = 'confirmed'`),
    [after, upTo],
  )
  return upTo
}

/** Creates a limited number of lines. @returns whether there may be more; null: another process is creating lines */
export async function makeLines(database: Database): Promise<boolean | null> {
  if (await takeOld(database)) return true
  return takeNew(database)
}

/** Whether all confirmed old orders have their lines. Until then, no statement can be closed. */
export async function hasEveryLine(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ complete: boolean }>(
    `select reached = '${allReached}' as complete from statement_backfill`,
  )
  return row?.complete === true
}

const othersTurnMs = 10

/**
 * Makes sure that every sale confirmed before the call, in any process, has its line.
 *
 * @param withinMs the time limit
 * @throws DomainError 'unavailable' when lines are still missing after this time
 */
export async function makeAllLines(database: Database, withinMs: number): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs
  for (;;) {
    const left = (await takeOld(database)) || (await takeNew(database))
    if (left === false) return
    if (performance.now() > giveUpAtMs)
      throw new DomainError('unavailable', 'Statement lines are being made; try again in some seconds', {
        retryAfterSeconds: 5,
      })
    // Another process is creating lines. It may have begun before the newest sales, so wait and then try again.
    if (left === null) await sleep(othersTurnMs)
  }
}
