/**
 * How far a reader of the outbox has come. A position is a snapshot: all that it sees has been taken, and what is visible now and was
 * not in it is still to be taken. So a row whose transaction commits late is as little lost as one whose number was drawn early, and
 * nobody waits for the oldest transaction, which may be an upload of half an hour.
 */
import type { Queryable } from '../db/database.ts'

/** Who reads the outbox, each at its own pace. */
export const consumers = ['sales', 'events', 'statements', 'audit-log'] as const
export type Consumer = (typeof consumers)[number]

/** @param xips transactions below `xmax` that were under way; both as the database writes them */
export type Position = { snapshot: string; xmax: string; xips: string[] }

/** The newest position of a consumer, as text. */
export const newestPosition = (consumer: Consumer): string =>
  `(select snapshot::text from event_ticks where consumer = '${consumer}' order by tick_id desc limit 1)`

export async function findPosition(database: Queryable, consumer: Consumer): Promise<Position> {
  const [row] = await database.query<{ snapshot: string | null }>(`select ${newestPosition(consumer)} as snapshot`)
  if (!row?.snapshot) throw new Error(`The consumer ${consumer} has no position`)
  return positionOf(row.snapshot)
}

/** @param snapshot as PostgreSQL writes it: `xmin:xmax:xip,xip` */
export function positionOf(snapshot: string): Position {
  const [, xmax = '', xips = ''] = snapshot.split(':')
  return { snapshot, xmax, xips: xips === '' ? [] : xips.split(',') }
}

/** The two values that `unseen` takes. */
export const valuesOf = ({ xmax, xips }: Position): [string, string[]] => [xmax, xips]

const ordersTold = 'recorded_at, kind, account, subjects'

/**
 * What a position has not seen: rows of the outbox, as a query. The position comes as values, as a planner that knows it does not
 * expect a third of the table.
 *
 * @param first which of the statement's values is `xmax`; `xips` is the next one
 * @param options.before a bound of `xid`, or none
 * @param options.columns what of them
 */
export function unseen(
  consumer: Consumer,
  first: number,
  { before = '', columns = ordersTold }: { before?: string; columns?: string } = {},
): string {
  const isTheirs = `(only_for is null or '${consumer}' = any(only_for))`
  return `
  select ${columns} from outbox where xid >= $${first}::xid8 ${before} and ${isTheirs}
  union all
  select ${columns} from outbox where xid = any($${first + 1}::xid8[]) and ${isTheirs}`
}
