/**
 * The portal's file of orders, `GET /esim/orders.csv` (RFC 4180). It can be of any length, so it is read from the
 * database as fast as the client takes it.
 */
import { Readable } from 'node:stream'
import { csvCell, csvMark } from '../../text/csv-cell.ts'
import { type OrderSearch, readOrders } from './order-store.ts'
import { shownOrderView } from './order-views.ts'
import type { ShownOrder } from './shown-order.ts'

type Column = Exclude<keyof ReturnType<typeof shownOrderView>, 'statement'>

/** The columns, in the order of the file. A new one comes last, so that the others keep their places. */
export const portalOrderColumns: readonly Column[] = [
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
  'paymentReference',
]

export type OrdersCsvDeps = Pick<Parameters<typeof readOrders>[0], 'database'>

/** @param now the instant at which all statuses in the file are computed */
export function ordersCsv(deps: Parameters<typeof readOrders>[0], search: OrderSearch, now: Date): Readable {
  return Readable.from(pieces(readOrders(deps, search, now)), { objectMode: false })
}

async function* pieces(orders: AsyncIterable<ShownOrder[]>): AsyncGenerator<string> {
  yield csvMark + lineOf(portalOrderColumns)
  for await (const some of orders) yield some.map(shownOrderView).map(lineOfOrder).join('')
}

const lineOfOrder = (order: ReturnType<typeof shownOrderView>): string =>
  lineOf(portalOrderColumns.map(column => (column === 'price' ? order.price.toFixed(2) : order[column])))

const lineOf = (values: readonly (string | number | null)[]): string => `${values.map(csvCell).join(',')}\r\n`
