/** Orders as a CSV file (RFC 4180) of any length, read from the database as fast as it is taken. */
import { Readable } from 'node:stream'
import { csvCell } from '../csv-cell.ts'
import type { Queryable } from '../db/database.ts'
import { findOrders, type OrderSearch } from './order-store.ts'
import { shownOrderView } from './order-views.ts'

type Column = keyof ReturnType<typeof shownOrderView>

const columns: readonly Column[] = [
  'orderId',
  'externalId',
  'operatorCode',
  'tariffCode',
  'tariffName',
  'status',
  'msisdn',
  'price',
  'currency',
  'createdAt',
  'reservedUntil',
  'confirmedAt',
  'cancelledAt',
  'deliveryMode',
  'emailDelivery',
]

const ordersAtOnce = 1_000

/** @param now what the statuses are as of, in the whole file */
export function ordersCsv(database: Queryable, search: OrderSearch, now: Date): Readable {
  return Readable.from(pieces(database, search, now), { objectMode: false })
}

async function* pieces(database: Queryable, search: OrderSearch, now: Date): AsyncGenerator<string> {
  yield lineOf(columns)
  for (let after: string | null = null; ; ) {
    const orders = await findOrders(database, search, { after, limit: ordersAtOnce }, now)
    if (orders.length > 0) yield orders.map(shownOrderView).map(lineOfOrder).join('')
    if (orders.length < ordersAtOnce) return
    after = orders.at(-1)?.orderId ?? null
  }
}

const lineOfOrder = (order: ReturnType<typeof shownOrderView>): string =>
  lineOf(columns.map(column => (column === 'price' ? order.price.toFixed(2) : order[column])))

const lineOf = (values: readonly (string | number | null)[]): string => `${values.map(csvCell).join(',')}\r\n`
