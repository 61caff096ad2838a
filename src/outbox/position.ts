/**
 * A position says which rows of the outbox a reader (a *consumer*) has taken. It is a snapshot of the database: the
 * consumer has taken all rows that are visible in this snapshot. Next it takes the rows that are visible now, but are
 * not in the snapshot. So it also gets a row whose transaction commits late, and it never waits for a long transaction,
 * such as an upload of half an hour.
 */
import type { Queryable } from '../db/database.ts'
import { announcedOrderRows, entryKind, eventKind, orderRowKinds } from './rows.ts'

/** The readers of the outbox. Each has its own position. */
export const consumers = ['sales', 'events', 'statements', 'audit-log'] as const
export type Consumer = (typeof consumers)[number]

/**
 * A snapshot. `xips` are the transactions below `xmax` that were still running when it was made. All values are in
 * PostgreSQL's text form.
 */
export type Position = { snapshot: string; xmax: string; xips: string[] }

/** SQL for a consumer's newest position, as text. */
export const newestPosition = (consumer: Consumer): string =>
  `(select snapshot::text from event_ticks where consumer = '${consumer}' order by tick_id desc limit 1)`

export async function findPosition(database: Queryable, consumer: Consumer): Promise<Position> {
  const [row] = await database.query<{ snapshot: string | null }>(`select ${newestPosition(consumer)} as snapshot`)
  if (!row?.snapshot) throw new Error(`The consumer ${consumer} has no position`)
  return positionOf(row.snapshot)
}

/** @param snapshot in PostgreSQL's text form: `xmin:xmax:xip,xip` */
export function positionOf(snapshot: string): Position {
  const [, xmax = '', xips = ''] = snapshot.split(':')
  return { snapshot, xmax, xips: xips === '' ? [] : xips.split(',') }
}

/** The two parameters of `unseen`. */
export const valuesOf = ({ xmax, xips }: Position): [string, string[]] => [xmax, xips]

/** A condition for the rows of the outbox of some kinds. */
export const isOneOf = (kinds: readonly string[]): string => `kind in (${kinds.map(kind => `'${kind}'`).join(', ')})`

/** The kinds of rows that each consumer takes. It passes all others. */
const kindsFor: Record<Consumer, readonly string[]> = {
  sales: orderRowKinds,
  statements: ['order.confirmed'],
  events: [...announcedOrderRows, eventKind],
  'audit-log': [entryKind],
}

/** A condition for the rows of the outbox, of any kind, that a consumer takes or passes. */
export const isAddressedTo = (consumer: Consumer): string => `(only_for is null or '${consumer}' = any(only_for))`

/** A condition for the rows of the outbox that a consumer has to take. */
export const isFor = (consumer: Consumer): string => `${isAddressedTo(consumer)} and ${isOneOf(kindsFor[consumer])}`

const orderColumns = 'recorded_at, kind, account, subjects'

/**
 * A query for the outbox rows that a consumer has not taken at a position. The position is passed in parameters, so
 * that the planner knows its values. Without these values, the planner would expect to read a third of the table.
 *
 * @param first the number of the SQL parameter for the position's `xmax`; the next parameter is for its `xips`
 * @param options.before an upper bound of `xid`, if any
 * @param options.ofAnyKind also rows that the consumer only passes
 * @param options.columns the columns to select
 * @param options.oldest the maximum number of rows to read in each of the two selects; the oldest transactions come
 *   first
 */
export function unseen(
  consumer: Consumer,
  first: number,
  options: { before?: string; ofAnyKind?: boolean; columns?: string; oldest?: number } = {},
): string {
  const { before = '', ofAnyKind = false, columns = orderColumns, oldest } = options
  const wanted = ofAnyKind ? isAddressedTo(consumer) : isFor(consumer)
  const bound = oldest === undefined ? '' : `order by xid limit ${oldest}`
  return `
  (select ${columns} from outbox where xid = any($${first + 1}::xid8[]) and ${wanted} ${bound})
  union all
  (select ${columns} from outbox where xid >= $${first}::xid8 ${before} and ${wanted} ${bound})`
}
