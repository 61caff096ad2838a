/** SQL that reads orders of any status: searches by people, lists for programs, and look-ups of single orders. */
import { readPiecewise } from '../../db/cursor.ts'
import type { Database, Queryable, Statement } from '../../db/database.ts'
import { withLiterals } from '../../db/literals.ts'
import type { Span } from '../../text/span.ts'
import type { OrderName } from '../orders/known-orders.ts'
import { statusAtSql } from '../orders/lifecycle.ts'
import { listQuery, type OrderListFilter } from './order-list-sql.ts'
import {
  among,
  byExternalId,
  firstOfExternalId,
  horizon,
  inRanges,
  newestOfAll,
  type OrderFilter,
  type OrderQuery,
  ofProfile,
  theOrder,
  theOrders,
} from './order-sql.ts'
import type { ShownOrder } from './shown-order.ts'

export type OrderSearch = Span & {
  /** Finds only orders of the bank with this id or code. If both are missing, orders of all banks are found. */
  bankId?: string
  bankCode: string | undefined
  orderId: string | undefined
  /** The first characters of the bank's own identifier. */
  externalId: string | undefined
  status: ShownOrder['status'] | undefined
  operatorCode: string | undefined
  tariffCode: string | undefined
  /** true: `externalId` is the whole identifier. */
  isExact?: boolean
  /**
   * Finds only orders that hold a profile now: the profile with this ICCID (its keyed hash), or any profile with this
   * phone number.
   */
  profile?: { iccidHash: Buffer } | { msisdn: string }
}

/** If more identifiers than this begin with the searched characters, the newest orders are searched instead. */
const fewOrders = 1_000
/** How many of the newest orders are searched. If they do not fill the page, all matching orders are sorted by time. */
const newestOrders = 5_000

/**
 * The matching orders, newest first.
 *
 * @param database one snapshot: a statement finds the ids, and another one reads their orders
 * @param page.after the last order of the previous page; null: from the beginning
 */
export async function findOrders(
  database: Queryable,
  search: OrderSearch,
  page: { after: string | null; limit: number },
  now: Date,
): Promise<ShownOrder[]> {
  const filter = await filterOf(database, search, { ...page, now })
  const ids = filter ? await findIds(database, search, filter) : []
  if (ids.length === 0) return []
  return database.query<ShownOrder>(shownText('unnest($2::uuid[]) with ordinality'), [now, ids])
}

/**
 * All matching orders, newest first, from one snapshot. They are read only as fast as the client takes them.
 *
 * @param deps.database where orders are read
 * @param deps.aside another connection, on which banks and tariffs are looked up
 * @param deps.signal aborts when the client disconnects
 */
export async function* readOrders(
  deps: { database: Database; aside: Queryable; signal: AbortSignal },
  search: OrderSearch,
  now: Date,
): AsyncGenerator<ShownOrder[]> {
  const filter = await filterOf(deps.aside, search, { after: null, limit: null, now })
  if (!filter) return
  const { text, values } = queryFor(search, filter)
  const found = shownText('(select order_id, 0 as n from ($2) as ids)')
  const query = withLiterals(found, [now, { sql: withLiterals(text, values) }])
  yield* readPiecewise<ShownOrder>(deps.database, query, deps.signal)
}

/** The search of an order list for programs. It names operator and tariff by their codes. */
export type OrderListSearch = Omit<OrderListFilter, 'tariffIds'> & {
  operatorCode: string | undefined
  tariffCode: string | undefined
}

/** A page of a bank's orders, in the requested sort. @param database one snapshot, as for `findOrders` */
export async function listOrders(database: Queryable, search: OrderListSearch): Promise<ShownOrder[]> {
  const filter = await listFilterOf(database, search)
  if (!filter) return []
  const { text, values } = listQuery(filter)
  const ids = (await database.query<{ order_id: string }>(text, values)).map(({ order_id }) => order_id)
  if (ids.length === 0) return []
  return database.query<ShownOrder>(shownText('unnest($2::uuid[]) with ordinality', 'found.n'), [search.now, ids])
}

/** Replaces the codes of a search by ids. @returns null when a code is unknown, because then nothing matches */
export async function listFilterOf(
  database: Queryable,
  { operatorCode, tariffCode, ...search }: OrderListSearch,
): Promise<OrderListFilter | null> {
  if (operatorCode === undefined && tariffCode === undefined) return { ...search, tariffIds: null }
  const tariffIds = await findTariffIds(database, operatorCode, tariffCode)
  return tariffIds.length === 0 ? null : { ...search, tariffIds }
}

async function findTariffIds(database: Queryable, operatorCode?: string, tariffCode?: string): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    `select tariff_id as id from tariffs t join mobile_operators m using (mobile_operator_id)
     where ($1::text is null or m.code = $1) and ($2::text is null or t.code = $2)`,
    [operatorCode ?? null, tariffCode ?? null],
  )
  return rows.map(({ id }) => id)
}

/**
 * The filter with ids in place of the codes of banks and tariffs; null when a code is unknown, because then nothing
 * matches.
 */
async function filterOf(
  database: Queryable,
  search: OrderSearch,
  page: Pick<OrderFilter, 'after' | 'limit' | 'now'>,
): Promise<OrderFilter | null> {
  const { bankId, bankCode, operatorCode, tariffCode } = search
  const [found] = await database.query<{ bankIds: string[]; tariffIds: number[] | null }>(
    `select array(
              select bank_id from banks where ($1::uuid is null or bank_id = $1) and ($2::text is null or code = $2)) as "bankIds",
            case when $3::text is not null or $4::text is not null then array(
              select tariff_id from tariffs t join mobile_operators m using (mobile_operator_id)
              where ($3 is null or m.code = $3) and ($4 is null or t.code = $4)) end as "tariffIds"`,
    [bankId ?? null, bankCode ?? null, operatorCode ?? null, tariffCode ?? null],
  )
  if (!found || found.bankIds.length === 0 || found.tariffIds?.length === 0) return null
  const { from, until, status, externalId, isExact = false } = search
  return { ...found, from, until, status, externalId, isExact, downTo: null, ...page }
}

async function findIds(database: Queryable, search: OrderSearch, filter: OrderFilter): Promise<string[]> {
  const find: Find = async ({ text, values }) =>
    (await database.query<{ order_id: string }>(text, values)).map(({ order_id }) => order_id)
  if (isNamed(search)) return find(queryFor(search, filter))
  if (filter.externalId !== undefined) return findByExternalId(find, filter)
  return filter.bankIds.length > 1 ? findOfAllBanks(find, filter) : find(inRanges(filter))
}

const isNamed = ({ orderId, profile }: OrderSearch): boolean => orderId !== undefined || profile !== undefined

/** Builds one query that finds all matching orders. */
function queryFor({ orderId, profile }: OrderSearch, filter: OrderFilter): OrderQuery {
  if (orderId !== undefined) return among(filter, theOrder(orderId))
  if (profile !== undefined) return among(filter, ofProfile(profile, filter.now))
  return filter.externalId === undefined ? inRanges(filter) : byExternalId(filter)
}

type Find = (query: OrderQuery) => Promise<string[]>

/**
 * Finds the newest orders whose external id begins with the searched characters. It tries three ways:
 *
 * 1. Find all matching orders by the index of external ids. This works while there are few (`fewOrders`).
 * 2. Search the newest orders (`newestOrders`). When many orders match, these probably fill the page.
 * 3. Find all matching orders and sort them by time.
 */
async function findByExternalId(find: Find, filter: OrderFilter): Promise<string[]> {
  const few = await find(firstOfExternalId(filter, fewOrders + 1))
  if (few.length <= fewOrders) return find(among(filter, theOrders(few)))
  const [downTo = null] = await find(horizon(filter, newestOrders))
  const newest = await find(inRanges({ ...filter, downTo }))
  if (downTo === null || newest.length === filter.limit) return newest
  return find(byExternalId(filter))
}

/**
 * Finds orders of all banks. With thousands of banks there are many thousands of index ranges to read. So first search
 * the newest orders of all banks. If these fill the page, no range is read.
 */
async function findOfAllBanks(find: Find, filter: OrderFilter): Promise<string[]> {
  const newest = await find(among(filter, newestOfAll(filter, newestOrders)))
  return newest.length === filter.limit ? newest : find(inRanges(filter))
}

/** SQL for the fields that come from the order `o` itself, or from a table that `ownJoins` joins. */
const ownColumns = {
  orderId: 'o.order_id',
  externalId: 'o.external_id',
  msisdn: 'p.msisdn',
  price: 'o.price::text',
  currency: 'o.currency',
  createdAt: 'o.created_at',
  reservedUntil: 'o.reserved_until',
  confirmedAt: 'o.confirmed_at',
  cancelledAt: 'o.cancelled_at',
  deliveryMode: 'o.delivery_mode',
  mail: 'o.mail',
  mailAt: 'o.mail_at',
  paymentReference: 'o.payment_reference',
  reservedBy: 'o.reserved_by',
  endedBy: 'o.ended_by',
  statement: 's.statement',
} as const satisfies Partial<Record<keyof ShownOrder, string>>

/**
 * SQL for the line that an order has in the daily statements. `offset 0` makes PostgreSQL find the line by the primary
 * key before it applies the caller's condition on `statement_id`. Otherwise, with the planner's statistics from before
 * the first daily statement, PostgreSQL would read the index of all closed lines.
 */
const lineOf = (orderId: string): string =>
  `select statement_id from statement_lines where order_id = ${orderId} offset 0`

/** Joins each order `o` with the tables that `ownColumns` reads: its profile and its closed statement. */
const ownJoins = `
  cross join lateral (select msisdn, imported_at from profiles where profile_id = o.profile_id offset 0) p
  left join lateral (
    select json_build_object('statementId', s.statement_id, 'number', s.number, 'day', s.day, 'closedAt', instant_text(s.closed_at)) as statement
    from (${lineOf('o.order_id')}) l join statements s using (statement_id) offset 0) s on true`

/** SQL for each field of an order that people see. `$1` is now. */
const shown: { [Name in keyof ShownOrder]: string } = {
  ...ownColumns,
  bankId: 'o.bank_id',
  bankCode: 'b.code',
  bankName: 'b.name',
  operatorCode: 't.operator_code',
  tariffCode: 't.code',
  tariffName: 't.name',
  status: statusAtSql('o', '$1'),
  importedAt: 'p.imported_at',
}

const shownColumns = Object.entries(shown)
  .map(([name, column]) => `${column} as "${name}"`)
  .join(', ')

/** Joins each order `o` with all tables that `shown` reads. */
const shownJoins = `${ownJoins}
  cross join lateral (select code, name from banks where bank_id = o.bank_id offset 0) b
  cross join lateral (
    select t.code, t.name, m.code as operator_code
    from tariffs t join mobile_operators m using (mobile_operator_id) where t.tariff_id = o.tariff_id offset 0) t`

/**
 * The query for the orders with some ids. The first rows arrive at once, even when many follow.
 *
 * @param ids SQL for the rows `(order_id, n)`
 * @param order how to sort; left out: newest first
 */
const shownText = (ids: string, order = 'found.order_id desc'): string => `
  select ${shownColumns} from ${ids} found (order_id, n)
  cross join lateral (select * from orders where order_id = found.order_id offset 0) o ${shownJoins}
  order by ${order}`

/** The stored values of an order, without the names of its tariff and its bank. `status` is as stored. */
export type StoredOrder = Pick<ShownOrder, keyof typeof ownColumns | 'status'> & { tariffId: number }

const stored: { [Name in keyof StoredOrder]: string } = { ...ownColumns, tariffId: 'o.tariff_id', status: 'o.status' }
const storedNames = Object.keys(stored) as (keyof StoredOrder)[]

/**
 * Looks up one order for each pair of a bank ($1) and a name ($2). Requests that arrive together share the statement.
 *
 * @param found SQL condition that finds the order; an index must support it
 */
const lookUpStatement = (name: string, type: 'uuid' | 'text', found: string): Statement => ({
  name,
  plannedOnce: ['orders', 'profiles'],
  text: `
    select i.n, ${storedNames.map(of => stored[of]).join(', ')}
    from unnest($1::uuid[], $2::${type}[]) with ordinality as i (bank_id, name, n)
    cross join lateral (select * from orders where ${found} offset 0) o ${ownJoins}
    where o.bank_id = i.bank_id`,
})
const lookUps = {
  orderId: lookUpStatement('esim.stored-by-id', 'uuid', 'order_id = i.name'),
  externalId: lookUpStatement(
    'esim.stored-by-external-id',
    'text',
    'bank_id = i.bank_id and external_id = i.name collate "C"',
  ),
} as const

/**
 * The orders in the sequence of their names; null where the bank has no such order.
 * @param by whether the names are ids or the bank's own identifiers
 */
export async function findByNames(
  database: Queryable,
  by: keyof typeof lookUps,
  names: readonly OrderName[],
): Promise<(StoredOrder | null)[]> {
  const values = [names.map(({ bankId }) => bankId), names.map(({ name }) => name)]
  const found: (StoredOrder | null)[] = names.map(() => null)
  for (const [n, ...row] of await database.tuples<[n: number, ...unknown[]]>(lookUps[by], values))
    found[n - 1] = Object.fromEntries(storedNames.map((name, index) => [name, row[index]])) as StoredOrder
  return found
}

const areUnstatedStatement: Statement = {
  name: 'esim.are-unstated',
  plannedOnce: ['statement_lines'],
  text: `
    select i.n from unnest($1::uuid[]) with ordinality as i (order_id, n)
    cross join lateral (
      select exists (select from (${lineOf('i.order_id')}) l where statement_id is not null) as is_stated offset 0) l
    where not l.is_stated`,
}

/** For each order, whether no closed daily statement contains it yet. The results are in the sequence of `orderIds`. */
export async function areUnstated(database: Queryable, orderIds: readonly string[]): Promise<boolean[]> {
  const rows = await database.tuples<[n: number]>(areUnstatedStatement, [orderIds])
  const unstated = orderIds.map(() => false)
  for (const [n] of rows) unstated[n - 1] = true
  return unstated
}

/** Logins of people, by their ids. */
export async function findLogins(database: Queryable, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await database.query<{ userId: string; login: string }>(
    'select user_id as "userId", login from portal_users where user_id = any($1::uuid[])',
    [userIds],
  )
  return new Map(rows.map(({ userId, login }) => [userId, login]))
}
