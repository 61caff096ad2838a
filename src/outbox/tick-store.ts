/**
 * SQL of a *tick*: in one transaction, a consumer of the outbox takes the next batch of rows and moves its position
 * (position.ts). Each tick that takes rows adds a row to `event_ticks`; `tickInOrder` sometimes also adds one without
 * rows (`aliveEvery`):
 * - `snapshot`: the consumer has taken all rows that this snapshot sees
 * - `towards`, `reached`: set only while `tickInOrder` reads a long backlog in several batches. The backlog is the rows
 *   that the snapshot `towards` sees and `snapshot` does not see. The consumer has already taken those with an
 *   `outbox_id` up to `reached`
 */
import type { Database, Queryable, Statement } from '../db/database.ts'
import {
  type Consumer,
  consumers,
  findPosition,
  isFor,
  type Position,
  positionOf,
  unseen,
  valuesOf,
} from './position.ts'

const tickLock = 7_365_026
/** The approximate number of rows about orders that a tick takes. Each row stands for the orders of one statement. */
export const pieceRows = 1_000
/**
 * A tick of `tickInOrder` that begins or continues a backlog reads at most about this number of rows. With more rows, a
 * statement could exceed its time limit. Then nothing of it would be kept, and a long backlog would never be taken.
 */
export const maxRead = 100_000

/** A consumer without work writes its position this often, to show that it is running. */
const aliveEvery = '10 seconds'
/** A consumer that keeps the order passes the rows of other kinds this often, so that it never has to look through many. */
const passEvery = '1 second'
/** The number of slots of the outbox. A slot is a partition; each day uses the next one. */
const slots = 4

/** SQL that takes the next batch of outbox rows in a statement, and its parameters. */
export type Piece = {
  /**
   * The `with` queries. They define `seen (kind, account, subjects)`, which are the rows of the batch about orders, and
   * `until (may_be_more)`, which says whether more rows may wait. They also move the consumer's position.
   */
  parts: string
  /** The parameters of `parts`. The statement adds its own parameters after them. */
  values: unknown[]
}

/**
 * Runs a *tick*: a consumer takes the next batch of outbox rows about orders. Across all processes, a consumer runs one
 * tick at a time.
 *
 * @param take runs one SQL statement that begins with the `with` queries of the given `Piece`, which select the batch
 * @returns the result of `take`; null while another process runs the consumer's tick
 */
export function tick<T>(
  database: Database,
  consumer: Consumer,
  take: (transaction: Queryable, pieceOf: (whole: boolean) => Piece) => Promise<T>,
): Promise<T | null> {
  return inTurn(database, { consumer, waits: false }, async transaction => {
    // Read the position with a separate statement after the lock was taken. A statement that takes the lock itself
    // could have an older snapshot and miss the result of the previous tick.
    const position = await findPosition(transaction, consumer)
    return take(transaction, whole => nextPiece(consumer, position, whole))
  })
}

/**
 * The SQL for a batch of `tickInOrder`. @property name part of the statement's name, because each SQL text needs its
 * own statement name
 */
export type OrderedPiece = Piece & { name: string }

/**
 * Like `tick`, for a consumer that must process the changes of a subject in their order. `take` gets SQL (`parts`) that
 * takes a batch of outbox rows. It defines three `with` queries:
 * - `seen (outbox_id, recorded_at, kind, account_type, account, subjects, data)`: the rows of the batch, all of the
 *   consumer's kinds; process them in the order of `outbox_id`
 * - `until (at)`: the time of processing, never earlier than that of the previous batch
 * - `taken (may_be_more)`: whether more rows may wait
 *
 * @param options.rows the maximum number of rows in a batch
 * @param options.weight SQL for the work that a row makes; a batch ends with the row whose work brings the sum to
 *   `rows`
 * @param options.waits true: wait while another process runs this consumer's tick. Repeat the call until `may_be_more`
 *   is false; then everything recorded before the first call is taken
 * @param options.none the result when no row waits
 * @param take runs one named statement that contains `parts`. PostgreSQL reuses the plan of this statement (`keepPlan`)
 */
export async function tickInOrder<T>(
  database: Database,
  consumer: Consumer,
  { rows, weight = '1', waits, none }: { rows: number; weight?: string; waits: boolean; none: T },
  take: (transaction: Queryable, piece: OrderedPiece) => Promise<T>,
): Promise<T | null> {
  if (!(await isDue(database, consumer))) return none
  return inTurn(database, { consumer, waits }, async transaction => {
    const state = await beginInOrder(transaction, consumer)
    return take(transaction, orderedPiece(consumer, state, { rows, weight }))
  })
}

/**
 * Whether a consumer has rows to take, or must write its position, to pass other rows or to show that it is running. A
 * process asks this several times a second, and usually there is nothing to do. This check takes one statement, and a
 * whole tick would take six.
 */
async function isDue(database: Queryable, consumer: Consumer): Promise<boolean> {
  const [row] = await database.query<{ isDue: boolean }>({
    name: `events.is-due-${consumer}`,
    plannedOnce: [],
    text: `
      with newest as materialized (
        select at, snapshot from event_ticks where consumer = '${consumer}' order by tick_id desc limit 1
      )
      select at < now() - interval '${aliveEvery}'
        or at < now() - interval '${passEvery}' and exists (select from outbox where xid >= pg_snapshot_xmax(snapshot) offset 0)
        or exists (select from outbox where xid >= pg_snapshot_xmax(snapshot) and ${isFor(consumer)} offset 0)
        or exists (
          select from pg_snapshot_xip(snapshot) as late
          cross join lateral (select from outbox where xid = late and ${isFor(consumer)} offset 0) as rows) as "isDue"
      from newest`,
  })
  return row?.isDue !== false
}

/**
 * @property mayBeLong whether many rows may wait: the consumer's last tick is longer ago than a running one ever waits,
 *   or it was the last one of a backlog, which may have taken long
 */
type OrderedState = { snapshot: string; towards: string | null; reached: string | null; mayBeLong: boolean }

/**
 * Settings for a transaction whose statement reuses its plan. The statement runs several times a second and usually
 * finds few rows, so planning it each time would take longer than running it. The plan must suit tables of any size, so
 * these settings make it find rows by an index. In the statement, each such look-up is within `lateral (... offset 0)`.
 * For the later batches of a long backlog, `findState` also switches off sorting, so the rows are read in the order
 * of the index.
 */
const keepPlan = [
  ['plan_cache_mode', 'force_generic_plan'],
  ...['seqscan', 'bitmapscan', 'memoize'].map(way => [`enable_${way}`, 'off']),
].map(([name, value]) => `set_config('${name}', '${value}', true)`)

const findState: Statement = {
  name: 'events.begin-in-order',
  text: `
    select snapshot::text, towards::text, reached::text,
      at < now() - interval '${aliveEvery}' or coalesce((
        select towards is not null from event_ticks where consumer = $1 order by tick_id desc offset 1 limit 1), false) as "mayBeLong",
      ${keepPlan.join(', ')}, set_config('enable_sort', case when towards is null then 'on' else 'off' end, true)
    from event_ticks where consumer = $1 order by tick_id desc limit 1`,
}

async function beginInOrder(transaction: Queryable, consumer: Consumer): Promise<OrderedState> {
  const [state] = await transaction.query<OrderedState>(findState, [consumer])
  if (!state) throw new Error(`The consumer ${consumer} has no position`)
  if (state.towards !== null || !state.mayBeLong) return state
  const isLong = (await transaction.execute(beginLong(consumer), valuesOf(positionOf(state.snapshot)))) > 0
  return isLong ? beginInOrder(transaction, consumer) : state
}

/**
 * Begins a backlog of more than `maxRead` rows. The first batch would read them all, so there is none: the later
 * batches begin before the first row of the slots in which rows wait, and pass the rows that were already taken.
 */
function beginLong(consumer: Consumer): Statement {
  const anyWaiting = (table: string, rest = '') => `(exists (select from ${table} where xid >= $1::xid8 ${rest})
    or exists (select from ${table} where xid = any($2::xid8[]) ${rest}))`
  const slotTables = Array.from({ length: slots }, (_, slot) => `outbox_${slot}`)
  const firstIds = slotTables.map(table => `select min(outbox_id) as id from ${table} where ${anyWaiting(table)}`)
  return {
    name: `events.begin-long-${consumer}`,
    text: `
      insert into event_ticks (consumer, at, snapshot, towards, reached)
      select consumer, greatest(now(), at), snapshot, pg_current_snapshot(),
        (select min(id) - 1 from (${firstIds.join(' union all ')}) as first_ids)
      from (select * from event_ticks where consumer = '${consumer}' order by tick_id desc limit 1) as newest
      where ${anyWaiting('outbox', `offset ${maxRead}`)}`,
  }
}

function inTurn<T>(
  database: Database,
  turn: { consumer: Consumer; waits: boolean },
  work: (transaction: Queryable) => Promise<T>,
): Promise<T | null> {
  return database.transaction(async transaction => ((await becomeTicker(transaction, turn)) ? work(transaction) : null))
}

/**
 * How long the database waits for the next statement of a transaction that takes outbox rows. A process that hangs, or
 * whose machine has failed, delays the other processes by at most this time.
 */
const frozenMs = 5_000
const becoming = (name: string, taken: string): Statement => ({
  name,
  text: `select ${taken} as taken, set_config('idle_in_transaction_session_timeout', '${frozenMs}', true)`,
})
const tryToTick = becoming('events.try-to-tick', 'pg_try_advisory_xact_lock($1, $2)')
const waitToTick = becoming('events.wait-to-tick', 'pg_advisory_xact_lock($1, $2) is not null')

async function becomeTicker(
  transaction: Queryable,
  { consumer, waits }: { consumer: Consumer; waits: boolean },
): Promise<boolean> {
  const [row] = await transaction.query<{ taken: boolean }>(waits ? waitToTick : tryToTick, [
    tickLock,
    consumers.indexOf(consumer),
  ])
  return row?.taken === true
}

/**
 * Returns the SQL that takes the next batch of rows about orders. A batch ends with the transaction of the row that makes
 * `pieceRows`, and has all rows of this transaction. `cut` is the number of this transaction plus 1. The new position is
 * the current snapshot, limited to the transactions below `cut`: the text `xmin:xmax:xip,xip` with `cut` as `xmax`. If
 * all waiting rows fit into one batch, there is no `cut`, and the new position is the current snapshot.
 *
 * The rows about orders have an index of their own (migration 0074), so a batch reads no others.
 *
 * @param whole true: one batch with everything that the statement's snapshot sees
 */
function nextPiece(consumer: Consumer, position: Position, whole: boolean): Piece {
  const parts = `
    until as materialized (
      select case when cut is null then present
        else (least(pg_snapshot_xmin(present)::text::bigint, cut) || ':' || cut || ':' || coalesce((
          select string_agg(xip::text, ',' order by xip) from pg_snapshot_xip(present) as xip where xip::text::bigint < cut), ''))::pg_snapshot
        end as snapshot, cut is not null as may_be_more
      from (select pg_current_snapshot() as present) as snapshots left join (
        select xid::text::bigint + 1 as cut from outbox where xid >= $1::xid8 and ${isFor(consumer)}
        order by xid offset ${pieceRows - 1} limit case when $3::boolean then 0 else 1 end
      ) as piece on true
    ), seen as materialized (${unseen(consumer, 1, { before: 'and xid < (select pg_snapshot_xmax(snapshot) from until)' })}
    ), moved as (
      insert into event_ticks (consumer, snapshot) select '${consumer}', snapshot from until where exists (${unseen(consumer, 1, { ofAnyKind: true })})
    )`
  return { parts, values: [...valuesOf(position), whole] }
}

const orderedColumns = 'xid, outbox_id, recorded_at, kind, account_type, account, subjects, data'

/**
 * Returns the SQL that takes the next batch, in the order in which the rows were written. A backlog longer than one
 * batch is read in several batches, in the order of `outbox_id`. All these batches read the rows that one fixed
 * snapshot (`towards`) sees. Rows that it does not see are committed later, so their changes of a subject are also
 * later.
 *
 * After a batch that is not the last one, `snapshot` stays unchanged, and `towards` and `reached` record the progress.
 * After the last batch, `towards` becomes the new `snapshot`.
 */
function orderedPiece(
  consumer: Consumer,
  { snapshot, towards, reached }: OrderedState,
  { rows, weight }: { rows: number; weight: string },
): OrderedPiece {
  const { next, reachedWithin } = towards === null ? firstRows(consumer) : laterRows(consumer)
  const parts = `
    until as materialized (
      select coalesce($3::pg_snapshot, pg_current_snapshot()) as snapshot, greatest(now(), previous.at) as at, previous.at as previous_at
      from (select at from event_ticks where consumer = '${consumer}' order by tick_id desc limit 1) as previous
    ), seen as materialized (
      select * from (
        select *, sum(${weight}) over (order by outbox_id rows unbounded preceding) as work_until, ${weight} as work
        from (${next} limit ${rows}) as next
      ) as weighed where work_until - work < ${rows}
    ), filled as materialized (
      -- reached is null after the last batch.
      select last_id is null as is_empty, case when is_full then last_id else ${reachedWithin} end as reached
      from (select coalesce(max(work_until) >= ${rows}, false) as is_full, max(outbox_id) as last_id from seen) as batch
    ), taken as (
      -- Rows that the backlog's snapshot does not see follow after its last piece.
      select reached is not null or $3::pg_snapshot is not null as may_be_more from filled
    ), moved as (
      insert into event_ticks (consumer, at, snapshot, towards, reached)
      select '${consumer}', at, case when reached is null then snapshot else $4::pg_snapshot end,
             case when reached is not null then snapshot end, reached
      from until cross join filled
      where not is_empty or reached is not null or $3::pg_snapshot is not null
        or previous_at < now() - interval '${passEvery}'
    )`
  const values = [...valuesOf(positionOf(snapshot)), towards, snapshot]
  return towards === null ? { name: 'first', parts, values } : { name: 'later', parts, values: [...values, reached] }
}

/** `next` reads the rows of a batch. `reachedWithin` is the new value of `reached` when the batch is not full. */
type Rows = { next: string; reachedWithin: string }

/**
 * Reads the rows for the first batch. All waiting rows are read, because any of them may have the lowest `outbox_id`.
 * They are ordered by an expression (`+ 0`), so the planner cannot use the index of `outbox_id`. With this index it
 * would also read all rows that were already taken.
 */
const firstRows = (consumer: Consumer): Rows => ({
  next: `
    select ${orderedColumns} from (${unseen(consumer, 1, { columns: orderedColumns })}) as rows order by outbox_id + 0`,
  reachedWithin: 'null::bigint',
})

/**
 * Reads the rows for a later batch of a backlog: those whose `outbox_id` is above `reached`, among the next `maxRead`
 * ids. The index of `outbox_id` finds them, so the time for a batch does not depend on the number of waiting rows. The
 * index of `xid` cannot do this, because the condition on `xid` joins two comparisons by `or`.
 */
const laterRows = (consumer: Consumer): Rows => ({
  next: `
    select ${orderedColumns} from outbox
    where outbox_id > $5::bigint and outbox_id <= $5::bigint + ${maxRead} and (xid >= $1::xid8 or xid = any($2::xid8[]))
      and ${isFor(consumer)} and pg_visible_in_snapshot(xid, (select snapshot from until)) order by outbox_id`,
  reachedWithin: `
    case when exists (select from outbox where outbox_id > $5::bigint + ${maxRead}) then $5::bigint + ${maxRead} end`,
})

/**
 * Repairs the outbox after a dump was restored into another PostgreSQL server (*cluster*) that has given out fewer
 * transaction numbers than the old one. Without the repair, the positions from the dump would be ahead of all new rows,
 * and no consumer would take them. Rows that some consumer has not taken are written again with a transaction number of
 * the new cluster, and every consumer's position is set before these rows. These rows were waiting when the dump was
 * made, or were written after the restore.
 *
 * The column `xid` holds the number of the transaction that recorded the change. PostgreSQL's own column `xmin` (here
 * `row_xid`) holds the lower 32 bits of the number of the transaction that wrote the row in the new cluster. For a
 * restored row, that is the transaction of the restore, so the two differ. They agree only for a row that was written
 * after the restore.
 *
 * Call it before the platform sells anything or reads the outbox.
 */
export async function recoverOutbox(database: Database): Promise<void> {
  const isAhead = `select from event_ticks where pg_snapshot_xmax(snapshot) > pg_snapshot_xmax(pg_current_snapshot()) limit 1`
  if ((await database.query(isAhead)).length === 0) return
  await database.transaction(async transaction => {
    await transaction.execute('lock table outbox, event_ticks in access exclusive mode')
    if ((await transaction.query(isAhead)).length === 0) return
    await transaction.execute(`
      create temporary table untaken on commit drop as
      select o.*, array(
        select consumer from (
          select distinct on (consumer) * from event_ticks order by consumer, tick_id desc
        ) as positions
        where (only_for is null or consumer = any(only_for)) and (
          (xid::text::bigint & 4294967295) = o.row_xid or not pg_visible_in_snapshot(xid, snapshot)
            and (towards is null or outbox_id > reached or not pg_visible_in_snapshot(xid, towards)))
      ) as takers
      from (select *, xmin::text::bigint as row_xid from outbox) as o`)
    await transaction.execute('truncate outbox')
    await transaction.execute(
      'delete from event_ticks as t using event_ticks as later where t.consumer = later.consumer and t.tick_id < later.tick_id',
    )
    // Set every position below all running transactions. Otherwise a position could count a transaction that waits for
    // the outbox's lock as read, and its later rows would be missed.
    await transaction.execute(`
      update event_ticks set snapshot = (least(oldest, own) || ':' || least(oldest, own) || ':')::pg_snapshot, towards = null, reached = null
      from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest, pg_current_xact_id()::text::bigint as own) as now`)
    await transaction.execute(`
      insert into outbox (outbox_id, recorded_at, kind, account_type, account, subjects, data, only_for)
      select outbox_id, recorded_at, kind, account_type, account, subjects, data, takers
      from untaken where takers <> '{}' order by outbox_id`)
  })
}

export type Waiting = { rows: number; lagSeconds: number }

export const maxCounted = 10_000

/** How many rows of the outbox a consumer has not taken, counted up to 10,000, and the age of the oldest. */
export async function countWaiting(database: Queryable, consumer: Consumer): Promise<Waiting> {
  const [row] = await database.query<Waiting>(
    `select count(*)::int as rows, coalesce(date_part('epoch', now() - min(recorded_at)), 0) as "lagSeconds"
     from (select recorded_at from (${unseen(consumer, 1)}) as rows limit ${maxCounted}) as waiting`,
    valuesOf(await findPosition(database, consumer)),
  )
  return row ?? { rows: 0, lagSeconds: 0 }
}

const keptTicks = 1_000

/**
 * Empties old slots of the outbox. A slot is a partition; each day uses the next of the four slots. The slots of two
 * and three days ago are emptied when every consumer has taken all their rows. A slot that somebody is reading now is
 * left for the next run. Also deletes old positions.
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

/**
 * How long the emptying of a slot waits for its lock. In this time a read of the sales figures ends. A longer time
 * would delay writers, because they wait behind this lock.
 */
const lockWait = '200ms'

async function emptySlot(database: Database, table: string): Promise<void> {
  await database.transaction(async transaction => {
    await transaction.execute(`set local lock_timeout = '${lockWait}'`)
    await transaction.execute(`lock table ${table} in access exclusive mode`)
    // Check the consumers after taking the lock, because then the slot has no uncommitted rows.
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
