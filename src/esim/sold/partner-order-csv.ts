/**
 * The Partner API's `orders.csv`: a bank's orders as a CSV file of any length (contract/partner-orders.md, "The list").
 * The database writes the lines, and their bytes are passed on unchanged, because reading rows into objects took most
 * of the time.
 */
import { csvCellSql } from '../../db/csv-cell-sql.ts'
import type { Database, Queryable } from '../../db/database.ts'
import { shownInstant } from '../../db/instants.ts'
import { withLiterals } from '../../db/literals.ts'
import { openCopy, type WriteTo } from '../../db/streaming/open-copy.ts'
import { csvCell } from '../../text/csv-cell.ts'
import { statusAtSql } from '../orders/lifecycle.ts'
import { shownMailSql } from '../orders/mail-state.ts'
import { endSql, showsEndSql, showsMsisdnSql } from '../orders/shown-fields.ts'
import { listQuery } from './order-list-sql.ts'
import { listFilterOf, type OrderListSearch } from './order-store.ts'

export type OrderFileDeps = { database: Database; aside: Queryable }

const quoted = (text: string): string => `'"' || ${text} || '"'`
const instant = (column: string): string => quoted(shownInstant(column))
const row = (cells: readonly string[]): string => `concat(${cells.join(`, ',', `)})`

/** SQL for each cell, in the order of the file; null is an empty cell. The values are those of `partnerOrderView`. */
const cells = {
  orderId: quoted('o.order_id'),
  externalId: csvCellSql('o.external_id'),
  tariff: 't.cells',
  status: quoted('o.status_now'),
  msisdn: `case when ${showsMsisdnSql('o.status_now', 'o.msisdn')} then ${csvCellSql('o.msisdn')} end`,
  reservedUntil: `case when ${showsEndSql('o.status_now')} then ${instant('o.reserved_until')} end`,
  createdAt: instant('o.created_at'),
  confirmedAt: 'o.confirmed',
  // The price is a number, so its cell needs no protection against formulas. A currency has three letters.
  price: 'o.price',
  currency: quoted('o.currency'),
  endedAt: `case when o.status_now <> 'reserved' then ${endSql('o.confirmed', 'o.cancelled', instant('o.reserved_until'))} end`,
  cancelledAt: 'o.cancelled',
  deliveryMode: quoted('o.delivery_mode'),
  emailDelivery: quoted(shownMailSql('o.mail')),
  paymentReference: csvCellSql('o.payment_reference'),
  statement: `coalesce(s.cells, ',,')`,
}

/**
 * The entries of `cells` that write several columns, with the names of these columns. PostgreSQL builds the text of
 * such an entry once, and uses it again for other orders with the same tariff or statement.
 */
const columns: Record<string, readonly string[]> = {
  tariff: ['operatorCode', 'tariffCode'],
  statement: ['statementId', 'statementNumber', 'statementDay'],
}

/** The names of all columns, in the order of the file. */
export const orderFileColumns: readonly string[] = Object.keys(cells).flatMap(name => columns[name] ?? name)

const header = `${orderFileColumns.map(csvCell).join(',')}\r\n`
const line = `${row(Object.values(cells))} || E'\\r\\n'`

/**
 * SQL for the lines of the file. `$1` is now, `$2` the query of the ids. Orders are looked up one by one, in the order
 * of their ids, so the first lines arrive at once, even in a long file. The first look-up reads all values that differ
 * from order to order. The later ones read the tariff and the statement, and PostgreSQL keeps their results for other
 * orders.
 */
const lines = `
  select ${line} from ($2) found (order_id)
  cross join lateral (
    select o.*, p.msisdn, l.statement_id, ${instant('o.confirmed_at')} as confirmed, ${instant('o.cancelled_at')} as cancelled,
      ${statusAtSql('o', '$1')} as status_now
    from orders o join profiles p using (profile_id) left join statement_lines l on l.order_id = o.order_id
    where o.order_id = found.order_id offset 0) o
  cross join lateral (
    select ${row([csvCellSql('m.code'), csvCellSql('t.code')])} as cells
    from tariffs t join mobile_operators m using (mobile_operator_id) where t.tariff_id = o.tariff_id offset 0) t
  left join lateral (
    select ${row([quoted('statement_id'), 'number', quoted('day')])} as cells
    from statements where statement_id = o.statement_id offset 0) s on true
  order by found.order_id desc`

/**
 * Opens the file: all matching orders, newest first, as they are at one moment. It resolves when the first bytes have
 * arrived.
 *
 * @param deps.database where orders are read
 * @param deps.aside another connection, on which tariffs are looked up
 * @param signal aborts when the client disconnects
 * @throws DomainError 'unavailable' when the client has disconnected
 */
export async function openOrderFile(
  deps: OrderFileDeps,
  search: OrderListSearch,
  signal: AbortSignal,
): Promise<WriteTo> {
  const filter = await listFilterOf(deps.aside, search)
  if (!filter) return async taker => void taker.write(header)
  const { text, values } = listQuery(filter)
  const query = withLiterals(lines, [search.now, { sql: withLiterals(text, values) }])
  const writeLines = await openCopy(deps.database, query, signal)
  return taker => {
    taker.write(header)
    return writeLines(taker)
  }
}
