/** All SQL of a tick: a consumer of the outbox takes the next piece of it and moves its position, in one statement. */
import type { Database, Queryable } from '../db/database.ts'
import { type Consumer, consumers, findPosition, type Position, unseen, valuesOf } from './position.ts'

const tickLock = 7_365_026
/** Rows of the outbox; each tells of the orders of one statement. */
export const pieceRows = 1_000

/** The parts of the statement of a tick, and its first values. */
export type Piece = {
  /** Gives `seen (kind, account, subjects)`, and moves the position. */
  parts: string
  /** $1 to $3 */
  values: unknown[]
}

/**
 * Lets a consumer take what it has not seen. One at a time does so, in whatever process.
 *
 * @param take carries out one statement with the piece's parts
 * @returns what `take` gave; null while another process is busy with it
 */
export function tick<T>(
  database: Database,
  consumer: Consumer,
  take: (transaction: Queryable, pieceOf: (whole: boolean) => Piece) => Promise<T>,
): Promise<T | null> {
  return database.transaction(async transaction => {
    if (!(await takeTurn(transaction, consumer))) return null
    // A statement of its own, after the lock: its snapshot sees what the tick before has done.
    const position = await findPosition(transaction, consumer)
    if (!(await isAhead(transaction, position))) return take(transaction, whole => nextPiece(consumer, position, whole))
    await transaction.execute('lock table outbox in access exclusive mode')
    const result = await take(transaction, () => restoredPiece(consumer, position))
    await transaction.execute('truncate outbox')
    return result
  })
}

/** Whether the position is one of another cluster; the next tick makes it one of this (`restoredPiece`). */
export async function isRestored(database: Queryable, consumer: Consumer): Promise<boolean> {
  return isAhead(database, await findPosition(database, consumer))
}

async function takeTurn(transaction: Queryable, consumer: Consumer): Promise<boolean> {
  const [row] = await transaction.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1, $2) as taken', [
    tickLock,
    consumers.indexOf(consumer),
  ])
  return row?.taken === true
}

async function isAhead(transaction: Queryable, { xmax }: Position): Promise<boolean> {
  const [row] = await transaction.query<{ ahead: boolean }>(
    'select $1::xid8 > pg_snapshot_xmax(pg_current_snapshot()) as ahead',
    [xmax],
  )
  return row?.ahead === true
}

const moved = (consumer: Consumer): string => `
  moved as (
    insert into event_ticks (consumer, snapshot) select '${consumer}', snapshot from until where exists (select from seen)
  )`

/**
 * The next piece. A long backlog is cut behind a transaction: the position is then a snapshot as of now of the transactions up to
 * there. So the order of events over two pieces is that of their transactions' numbers.
 *
 * @param whole true: all at once, up to the snapshot of the statement
 */
function nextPiece(consumer: Consumer, position: Position, whole: boolean): Piece {
  const parts = `
    until as materialized (
      select coalesce((
        select (least(pg_snapshot_xmin(present)::text::bigint, cut) || ':' || cut || ':' || coalesce((
          select string_agg(xip::text, ',' order by xip) from pg_snapshot_xip(present) as xip where xip::text::bigint < cut), ''))::pg_snapshot
        from (
          select xid::text::bigint + 1 as cut from outbox where xid >= $1::xid8 order by xid
          offset ${pieceRows - 1} limit case when $3::boolean then 0 else 1 end
        ) as piece
      ), present) as snapshot
      from (select pg_current_snapshot() as present) as snapshots
    ), seen as materialized (${unseen(1, 'and xid < (select pg_snapshot_xmax(snapshot) from until)')}
    ), ${moved(consumer)}`
  return { parts, values: [...valuesOf(position), whole] }
}

/**
 * What is left after a dump was restored into a cluster that has not come as far: the numbers of transactions are those of the old
 * one, and mean nothing in the new one. Untaken is what was so there, and what was written here since, which bears the number of the
 * transaction that wrote it.
 */
function restoredPiece(consumer: Consumer, position: Position): Piece {
  const parts = `
    until as (select pg_current_snapshot() as snapshot),
    seen as materialized (
      select kind, account, subjects from outbox
      where xid >= $1::xid8 or xid = any($2::xid8[]) or (xid::text::bigint & 4294967295) = xmin::text::bigint
    ), moved as (
      insert into event_ticks (consumer, snapshot) select '${consumer}', snapshot from until where $3::boolean is not null
    )`
  return { parts, values: [...valuesOf(position), true] }
}

export type Waiting = { rows: number; lagSeconds: number }

const mostCounted = 10_000

/** Rows of the outbox that a consumer has not taken, counted up to 10,000, and the age of the oldest. */
export async function countWaiting(database: Queryable, consumer: Consumer): Promise<Waiting> {
  const [row] = await database.query<Waiting>(
    `select count(*)::int as rows, coalesce(date_part('epoch', now() - min(recorded_at)), 0) as "lagSeconds"
     from (select recorded_at from (${unseen(1)}) as rows limit ${mostCounted}) as waiting`,
    valuesOf(await findPosition(database, consumer)),
  )
  return row ?? { rows: 0, lagSeconds: 0 }
}

const slots = 4
const keptTicks = 1_000

/**
 * Empties the slots of the outbox that were written two days ago or earlier, once every consumer has taken all of them, and forgets
 * old positions. What somebody reads at the moment is left to the next run.
 */
export async function emptyOldSlots(database: Database): Promise<void> {
  const [today] = await database.query<{ day: number }>(
    `select (date_part('epoch', now())::bigint / 86400)::int as day`,
  )
  for (const daysAgo of [2, 3]) {
    const table = `outbox_${((today?.day ?? 0) + slots - daysAgo) % slots}`
    const filled = await database.query(`select from ${table} limit 1`)
    if (filled.length > 0) await emptySlot(database, table)
  }
  for (const consumer of consumers)
    await database.execute(
      `delete from event_ticks where consumer = $1 and tick_id <= (
         select tick_id from event_ticks where consumer = $1 order by tick_id desc offset ${keptTicks} limit 1)`,
      [consumer],
    )
}

/** Long enough for reads of the figures, short enough for those who wait behind it. */
const lockWait = '200ms'

async function emptySlot(database: Database, table: string): Promise<void> {
  await database.transaction(async transaction => {
    await transaction.execute(`set local lock_timeout = '${lockWait}'`)
    await transaction.execute(`lock table ${table} in access exclusive mode`)
    // After the lock: nobody has a row in it any more that is not committed.
    for (const consumer of consumers) {
      const position = await findPosition(transaction, consumer)
      const left = await transaction.query(
        `select from ${table} where xid >= $1::xid8 or xid = any($2::xid8[]) limit 1`,
        valuesOf(position),
      )
      if (left.length > 0) return
    }
    await transaction.execute(`truncate ${table}`)
  })
}
