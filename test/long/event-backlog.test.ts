/** A long backlog of the outbox is taken in pieces: each row once, in the order of its subject, and each piece reads only its own rows. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import type { Queryable } from '../../src/db/database.ts'
import { countWaitingEvents } from '../../src/events/sequence-store.ts'
import { countWaiting, maxCounted, maxRead, tick, tickInOrder, type Waiting } from '../../src/outbox/tick-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import fc from '../support/properties.ts'

const rows = 100
let testDatabase: TestDatabase

before(async () => {
  testDatabase = await createTestDatabase()
})
after(() => testDatabase?.close())

type Piece = { taken: { id: number; subject: string }[]; mayBeMore: boolean; read: number }

const readRows = `
  select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::int as n from pg_stat_xact_user_tables where relname ~ '^outbox_\\d$'`

/** @param atMost the maximum number of rows of the piece */
async function takePiece(atMost: number): Promise<Piece> {
  const piece = await tickInOrder(
    testDatabase.database,
    'events',
    { rows: atMost, waits: true, none: { taken: [], mayBeMore: false, read: 0 } },
    async (transaction, piece) => {
      const [before] = await transaction.query<{ n: number }>(readRows)
      const found = await transaction.query<{ mayBeMore: boolean; id: number | null; subject: string }>(
        {
          name: `test.take-${atMost}-${piece.name}`,
          text: `with ${piece.parts} select may_be_more as "mayBeMore", outbox_id as id, data->>'subject' as subject
          from taken left join seen on true order by outbox_id`,
        },
        piece.values,
      )
      const [after] = await transaction.query<{ n: number }>(readRows)
      return {
        taken: found.flatMap(({ id, subject }) => (id === null ? [] : [{ id, subject }])),
        mayBeMore: found[0]?.mayBeMore === true,
        read: (after?.n ?? 0) - (before?.n ?? 0),
      }
    },
  )
  return piece ?? assert.fail('another process takes the rows')
}

/** Takes all waiting rows. */
async function takeAll(atMost: number): Promise<Piece[]> {
  const pieces = [await takePiece(atMost)]
  while (pieces.at(-1)?.mayBeMore) pieces.push(await takePiece(atMost))
  return pieces
}

const write = (client: Pick<pg.Client, 'query'>, subject: string, count: number, kind = 'event') =>
  client.query(
    `insert into outbox (kind, account_type, data)
     select $3, 'platform', jsonb_build_object('subject', $1::text) from generate_series(1, $2::int)`,
    [subject, count, kind],
  )
const writeAtOnce = (subject: string, count: number, kind?: string) =>
  testDatabase.database.dedicated(client => write(client, subject, count, kind))

async function outboxIds(): Promise<number[]> {
  const found = await testDatabase.database.query<{ id: number }>(
    `select outbox_id as id from outbox where kind = 'event' order by outbox_id`,
  )
  return found.map(({ id }) => id)
}

test('a piece of a long backlog reads its own rows only, whatever waits and whatever was taken before', async () => {
  // PostgreSQL plans the statements here, while the outbox is empty, and keeps these plans. They must also suit a long
  // backlog.
  await takeAll(rows)
  await writeAtOnce('old', 5_000)
  await takeAll(10_000)
  await writeAtOnce('new', 3_000)
  const [first, ...later] = await takeAll(rows)
  assert.ok(first)
  // The last piece looks for rows that were recorded since the backlog's snapshot.
  assert.equal(later.length, 31)
  // The first piece looks at each waiting row once, because any of them may be the oldest.
  assert.ok(first.read <= 2 * 3_000, `the first piece has read ${first.read} rows`)
  // The outbox has four slots, and a piece may read one row too many in each.
  for (const { read } of later) assert.ok(read <= rows + 4, `a piece has read ${read} rows`)
})

test('a consumer of orders takes an order in its first piece, however many other rows wait before it', async () => {
  const { database } = testDatabase
  for (let transaction = 0; transaction < 3; transaction++) await writeAtOnce('before the order', 1_500)
  await database.execute(`insert into outbox (kind, subjects) values ('order.expired', array[gen_random_uuid()])`)
  const takeOrders = () =>
    tick(database, 'sales', (transaction, pieceOf) => {
      const { parts, values } = pieceOf(false)
      return transaction.query<{ kind: string }>(`with ${parts} select kind from seen`, values)
    })
  assert.deepEqual(await takeOrders(), [{ kind: 'order.expired' }])
  await writeAtOnce('after the order', 1_500)
  assert.deepEqual(await takeOrders(), [])
  // The position has passed the other rows, too: nothing waits any more.
  assert.equal((await countWaiting(database, 'sales')).rows, 0)
})

/** Takes a piece for a consumer of orders. @returns the number of its rows about orders, and how many rows it has read */
async function takeOrders(): Promise<{ orders: number; mayBeMore: boolean; read: number }> {
  const piece = await tick(testDatabase.database, 'sales', async (transaction, pieceOf) => {
    const before = await readOf(transaction)
    const { parts, values } = pieceOf(false)
    const [taken] = await transaction.query<{ orders: number; mayBeMore: boolean }>(
      `with ${parts} select count(*)::int as orders, (select may_be_more from until) as "mayBeMore" from seen`,
      values,
    )
    return { orders: 0, mayBeMore: false, ...taken, read: (await readOf(transaction)) - before }
  })
  return piece ?? assert.fail('another process takes the rows')
}

test('a consumer reads only rows of its kinds, however many others wait', async () => {
  const { database } = testDatabase
  await takeOrders()
  for (let n = 0; n < 7; n++) {
    await database.execute(`insert into outbox (kind, subjects) values ('order.expired', array[gen_random_uuid()])`)
    await writeAtOnce('other', 10_000)
  }
  // Autovacuum collects these statistics, too, soon after many rows were written.
  await database.execute('analyze outbox')
  const { orders, mayBeMore, read } = await takeOrders()
  assert.deepEqual({ orders, mayBeMore }, { orders: 7, mayBeMore: false })
  // The rows are read to find the end of the piece, and again to take them. Each of the four slots may read one row too many.
  assert.ok(read <= 4 * 7, `the piece has read ${read} rows`)
  assert.equal((await countWaiting(database, 'sales')).rows, 0)
})

test('a backlog of any length is taken once, in order, and in pieces that read a bounded number of rows', async () => {
  const [atMost, count] = [20_000, 2.5 * maxRead]
  // These rows were taken before. They stand before the backlog in the order of the outbox.
  await writeAtOnce('old', 1.5 * maxRead)
  await testDatabase.database.execute(
    `insert into event_ticks (consumer, at, snapshot) values ('events', now() - interval '1 minute', pg_current_snapshot())`,
  )
  const late = new pg.Client({ connectionString: testDatabase.url })
  await late.connect()
  try {
    await late.query('begin')
    await write(late, 'late', 10)
    for (let n = 0; n < 5; n++) await writeAtOnce('long', count / 5)
    const first = await takePiece(atMost)
    await write(late, 'late', 10)
    await late.query('commit')
    const pieces = [first, ...(await takeAll(atMost))]
    for (const { read } of pieces) assert.ok(read <= maxRead + atMost, `a piece has read ${read} rows`)
    const taken = pieces.flatMap(piece => piece.taken)
    const idsOf = (subject: string) => taken.flatMap(one => (one.subject === subject ? [one.id] : []))
    assert.deepEqual([idsOf('long').length, idsOf('late').length, taken.length], [count, 20, count + 20])
    assert.equal(new Set(taken.map(({ id }) => id)).size, taken.length, 'no row is taken twice')
    for (const subject of ['long', 'late']) {
      const ids = idsOf(subject)
      assert.ok(
        ids.every((id, n) => n === 0 || id > (ids[n - 1] as number)),
        `${subject} is taken in the order of its changes`,
      )
    }
  } finally {
    await late.end()
  }
})

/** Counts the waiting events. @returns the count and how many rows of the outbox it has read */
const countEvents = (): Promise<Waiting & { read: number }> =>
  testDatabase.database.transaction(async transaction => {
    const before = await readOf(transaction)
    const waiting = await countWaitingEvents(transaction)
    return { ...waiting, read: (await readOf(transaction)) - before }
  })
const readOf = async (transaction: Queryable): Promise<number> =>
  (await transaction.query<{ n: number }>(readRows))[0]?.n ?? 0

test('the count of waiting events does not walk over the rows of a backlog that were taken', async () => {
  await takeAll(10_000)
  await writeAtOnce('counted', 3_000)
  for (let piece = 1; piece <= 29; piece++) await takePiece(rows)
  await writeAtOnce('later', 50)
  // Autovacuum collects these statistics, too, soon after many rows were written.
  await testDatabase.database.execute('analyze outbox')
  const waiting = await countEvents()
  assert.equal(waiting.rows, 150)
  assert.ok(waiting.lagSeconds > 0)
  // Waiting rows may be read several times: the first query asks whether there are any in the backlog, and rows that were
  // recorded since it began are found by their number and by their transaction. The 2,900 taken rows must not be read.
  assert.ok(waiting.read <= 500, `it has read ${waiting.read} rows`)
  await takeAll(rows)
  const { read, ...left } = await countEvents()
  assert.deepEqual(left, { rows: 0, lagSeconds: 0 })
  // Each of the four slots may read one row too many.
  assert.ok(read <= 4, `it has read ${read} rows`)
})

test('the count of waiting events looks at a bounded number of rows, even if none of them becomes an event', async () => {
  await takeAll(10_000)
  await writeAtOnce('before', 5)
  await writeAtOnce('others', 8 * maxCounted, 'audit')
  await writeAtOnce('behind', 7)
  // Autovacuum collects these statistics, too, soon after many rows were written.
  await testDatabase.database.execute('analyze outbox')
  const first = await countEvents()
  assert.equal(first.rows, 5)
  // Each of the four slots may read one row too many.
  assert.ok(first.read <= maxCounted + 4, `it has read ${first.read} rows`)
  await takePiece(5)
  const behind = await countEvents()
  assert.equal(behind.rows, 0)
  assert.ok(behind.lagSeconds > 0, 'the lag is told by the oldest row')
  await takeAll(10_000)
  const { read, ...left } = await countEvents()
  assert.deepEqual(left, { rows: 0, lagSeconds: 0 })
  assert.ok(read <= 4, `it has read ${read} rows`)
})

test('events are counted, too, while a backlog passes rows that were taken before it', async () => {
  await takeAll(10_000)
  await writeAtOnce('taken', 2 * maxCounted)
  await takeAll(10_000)
  await writeAtOnce('waiting', 50)
  const { database } = testDatabase
  await database.execute(
    `update outbox set recorded_at = recorded_at - interval '1 hour'
     where outbox_id in (select outbox_id from outbox order by outbox_id desc limit 50)`,
  )
  await database.execute(
    `insert into event_ticks (consumer, snapshot, towards, reached)
     select consumer, snapshot, pg_current_snapshot(), 0 from event_ticks where consumer = 'events' order by tick_id desc limit 1`,
  )
  const counted = async () => {
    const { rows, lagSeconds } = await countEvents()
    return { rows, isOld: lagSeconds > 3_000 }
  }
  assert.deepEqual(await counted(), { rows: 50, isOld: true })
  await writeAtOnce('new', 1)
  assert.deepEqual(await counted(), { rows: 51, isOld: true })
  await takeAll(10_000)
  assert.equal((await countEvents()).rows, 0)
})

const writers = 3
type Step = { writer: number; what: 'write' | 'commit' | 'roll back' | 'take'; subject: number; count: number }
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    writer: fc.nat(writers - 1),
    what: fc.constantFrom<Step['what'][]>('write', 'write', 'write', 'commit', 'commit', 'roll back', 'take', 'take'),
    subject: fc.nat(3),
    count: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 10, maxLength: 80 },
)

/** Transactions that write to the outbox. Like the platform's, they hold a lock of each subject until they end. */
class Writers {
  readonly clients: pg.Client[]
  readonly holders = new Map<number, number>()

  constructor(clients: pg.Client[]) {
    this.clients = clients
  }

  async write({ writer, subject, count }: Step): Promise<void> {
    if ((this.holders.get(subject) ?? writer) !== writer) return
    const client = this.clients[writer] as pg.Client
    if (![...this.holders.values()].includes(writer)) await client.query('begin')
    this.holders.set(subject, writer)
    await write(client, `s${subject}`, count)
  }

  async end(writer: number, how: 'commit' | 'rollback'): Promise<void> {
    await this.clients[writer]?.query(how)
    for (const [subject, holder] of this.holders) if (holder === writer) this.holders.delete(subject)
  }
}

async function walk(clients: pg.Client[], walked: readonly Step[]): Promise<void> {
  const before = (await outboxIds()).length
  const open = new Writers(clients)
  const taken: Piece['taken'] = []
  for (const step of walked) {
    if (step.what === 'write') await open.write(step)
    else if (step.what === 'take') taken.push(...(await takePiece(5)).taken)
    else await open.end(step.writer, step.what === 'commit' ? 'commit' : 'rollback')
  }
  for (const writer of clients.keys()) await open.end(writer, 'commit')
  taken.push(...(await takeAll(5)).flatMap(piece => piece.taken))
  assert.deepEqual(
    taken.map(({ id }) => id).sort((a, b) => a - b),
    (await outboxIds()).slice(before),
    'each committed row is taken once',
  )
  for (const subject of new Set(taken.map(one => one.subject))) {
    const ids = taken.flatMap(one => (one.subject === subject ? [one.id] : []))
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
      `${subject} is taken in the order of its changes`,
    )
  }
}

test('rows of transactions that commit late are taken once and in order, across the pieces of a backlog', async () => {
  await takeAll(10_000)
  const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString: testDatabase.url }))
  await Promise.all(clients.map(client => client.connect()))
  try {
    await fc.assert(
      fc.asyncProperty(steps, walked => walk(clients, walked)),
      { numRuns: 40, endOnFailure: true },
    )
  } finally {
    await Promise.all(clients.map(client => client.end()))
  }
})

test('a transaction that began before rows that are taken is taken as a backlog of its own', async () => {
  const late = new pg.Client({ connectionString: testDatabase.url })
  await late.connect()
  try {
    await late.query('begin')
    await write(late, 'late', 150)
    await writeAtOnce('between', 700)
    await takeAll(rows)
    await write(late, 'late', 150)
    await writeAtOnce('behind', 250)
    const first = await takePiece(rows)
    await late.query('commit')
    const all = [first, ...(await takeAll(rows))].flatMap(({ taken }) => taken)
    const count = (subject: string) => all.filter(one => one.subject === subject).length
    assert.deepEqual([count('between'), count('behind'), count('late')], [0, 250, 300])
    const ids = all.flatMap(({ id, subject }) => (subject === 'late' ? [id] : []))
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
    )
  } finally {
    await late.end()
  }
})
