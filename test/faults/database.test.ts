/**
 * How `db/` handles a failing database: callers get an error that tells them to try again, and the log gets only new
 * errors.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { applicationName } from '../../src/db/application-name.ts'
import { type Database, openDatabase, type Statement } from '../../src/db/database.ts'
import { listen, notify } from '../../src/db/notifications.ts'
import { DomainError } from '../../src/errors.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { assertError, assertOrder, openBank, until } from '../support/esim.ts'
import { startPlatform } from '../support/platform.ts'

let scratch: TestDatabase
before(async () => {
  scratch = await createTestDatabase()
})
after(() => scratch.close())

const raise = (code: string) => `do $$ begin raise exception 'planned' using errcode = '${code}'; end $$`

describe('a transaction that loses against others is tried three times', () => {
  for (const [what, code] of [
    ['a deadlock', '40P01'],
    ['a serialisation failure', '40001'],
  ] as const) {
    test(`${what} at the first two times is not noticed`, async () => {
      let tries = 0
      const result = await scratch.database.transaction(async transaction => {
        if (++tries < 3) await transaction.execute(raise(code))
        return transaction.query<{ one: number }>('select 1 as one')
      })
      assert.deepEqual([tries, result], [3, [{ one: 1 }]])
    })

    test(`${what} every time becomes "unavailable", for a transaction and for a statement`, async () => {
      let tries = 0
      const unavailable = (error: unknown) => {
        assert.ok(error instanceof DomainError)
        assert.deepEqual([error.code, error.retryAfterSeconds], ['unavailable', 1])
        return true
      }
      const failing = scratch.database.transaction(async transaction => {
        tries++
        await transaction.execute(raise(code))
      })
      await assert.rejects(failing, unavailable)
      assert.equal(tries, 3)
      await assert.rejects(scratch.database.execute(raise(code)), unavailable)
      await assert.rejects(
        scratch.database.dedicated(client => client.query(raise(code))),
        unavailable,
      )
    })
  }

  test('any other fault is told at once', async () => {
    let tries = 0
    const failing = scratch.database.transaction(async transaction => {
      tries++
      await transaction.execute(raise('22012'))
    })
    await assert.rejects(failing, { code: '22012' })
    assert.equal(tries, 1)
  })

  test('a bank that has lost three times gets 503 with Retry-After, and nothing was sold', async () => {
    const platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
    try {
      await platform.addStock('kyivstar', 'eu-10gb', 2)
      const bank = await openBank(platform)
      const { database } = platform.platform
      await database.execute(`create function lose() returns trigger language plpgsql as
                              'begin raise exception ''planned'' using errcode = ''40P01''; end'`)
      const losing = 'create trigger lose before insert on orders for each row execute function lose()'
      // A process makes its first reservation in a transaction, and later ones with a single statement.
      for (const externalId of ['in-a-transaction', 'by-a-statement']) {
        await database.execute(losing)
        const answer = await bank.reserve(externalId)
        assertError(answer, 503)
        assert.equal(answer.headers.get('retry-after'), '1')
        await database.execute('drop trigger lose on orders')
        assertOrder(await bank.reserve(externalId), { status: 'reserved' }, 201)
      }
    } finally {
      await platform.close()
    }
  })
})

test('a session that is lost while it begins to listen is a fault that passes, and the next one listens', async () => {
  const { database } = scratch
  let sessions = 0
  const losing: Database = {
    ...database,
    async connect() {
      const client = await database.connect()
      if (sessions++ === 0) {
        const { rows } = await client.query('select pg_backend_pid() as pid')
        await database.execute('select pg_terminate_backend($1, 5000)', [rows[0].pid])
      }
      return client
    },
  }
  const faults: unknown[] = []
  let changes = 0
  const listening = await listen({
    database: losing,
    pollMs: 60_000,
    onError: error => faults.push(error),
    handlers: { catalogue: async () => void changes++ },
  })
  try {
    await until('it listens on a new session', () => sessions === 2 && changes > 0)
    await notify(database, 'catalogue')
    await until('it hears', () => changes > 1)
    assert.ok(faults.length > 0)
    for (const fault of faults) assert.ok(fault instanceof DomainError && fault.code === 'unavailable', String(fault))
  } finally {
    await listening.stop()
  }
})

test('options in the address hold beside ours, which are worth more', async () => {
  const address = new URL(scratch.url)
  address.searchParams.set('options', '-c timezone=Asia/Tokyo -c geqo=off')
  address.searchParams.set('application_name', 'other')
  const database = openDatabase({ connection: { connectionString: address.href }, poolSize: 2 })
  try {
    const [row] = await database.query(
      `select current_setting('timezone') as timezone, current_setting('geqo') as geqo,
         current_setting('application_name') as name, current_setting('plan_cache_mode') as plans`,
    )
    assert.deepEqual(row, { timezone: 'UTC', geqo: 'off', name: applicationName, plans: 'force_custom_plan' })
  } finally {
    await database.close()
  }
})

describe('a connection that breaks while nobody uses it', () => {
  /**
   * Returns the address of a proxy to the test database. When a client disconnects, the proxy still sends it an error,
   * like a server that is being stopped. While `isEnding` returns true, the proxy sends this error together with an
   * answer.
   */
  async function throughEndingServer(t: { after(close: () => void): void }, isEnding = () => false): Promise<string> {
    const url = new URL(scratch.url)
    const host = url.searchParams.get('host') ?? url.hostname
    const upstreamOf = host.startsWith('/')
      ? () => connect(`${host}/.s.PGSQL.${url.port || 5432}`)
      : () => connect(Number(url.port), host)
    const leave = Buffer.from([0x58, 0, 0, 0, 4])
    const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
    const lastWord = Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + fields.length]), fields])
    const server = createServer({ allowHalfOpen: true }, client => {
      const upstream = upstreamOf()
      upstream.on('error', () => {})
      client.on('error', () => {})
      upstream.on('data', chunk => {
        if (isEnding()) client.end(Buffer.concat([chunk, lastWord]))
        else client.write(chunk)
      })
      client.on('data', chunk => {
        if (chunk.equals(leave)) client.end(lastWord)
        upstream.write(chunk)
      })
      client.on('close', () => upstream.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const through = new URL(scratch.url)
    through.searchParams.delete('host')
    through.hostname = '127.0.0.1'
    through.port = String((server.address() as AddressInfo).port)
    return through.href
  }

  test('is told', async () => {
    const lost: Error[] = []
    const database = openDatabase({
      connection: { connectionString: scratch.url },
      poolSize: 1,
      onLost: error => lost.push(error),
    })
    const [row] = await database.query<{ pid: number }>('select pg_backend_pid() as pid')
    await scratch.database.execute('select pg_terminate_backend($1, 5000)', [row?.pid])
    await until('it is noticed', () => lost.length === 1)
    await database.close()
  })

  test('is no news once the database is being closed', async t => {
    const lost: Error[] = []
    const database = openDatabase({
      connection: { connectionString: await throughEndingServer(t) },
      poolSize: 1,
      onLost: error => lost.push(error),
    })
    await database.query('select 1')
    await database.close()
    await scratch.database.query('select pg_sleep(0.1)')
    assert.deepEqual(lost, [])
  })

  test('together with the end of a statement: the answer counts, and the database is not heard any more', async t => {
    let isEnding = false
    const connectionString = await throughEndingServer(t, () => isEnding)
    const database = openDatabase({ connection: { connectionString }, poolSize: 1 })
    assert.deepEqual(await database.query('select 1 as one'), [{ one: 1 }])
    assert.equal(database.isHeard(), true)
    isEnding = true
    assert.deepEqual(await database.query('select 2 as two'), [{ two: 2 }])
    assert.equal(database.isHeard(), false)
    isEnding = false
    assert.deepEqual(await database.query('select 3 as three'), [{ three: 3 }])
    assert.equal(database.isHeard(), true)
    await database.close()
  })
})

describe('a statement that is planned once', () => {
  type Plans = { kept: number; anew: number }

  /**
   * Makes a statement that returns how often its connection has run it with a cached plan (`kept`) and with a new one
   * (`anew`).
   */
  const planned = (table: string): Statement => ({
    name: `planned-${table}`,
    plannedOnce: [table],
    text: `select generic_plans::int as kept, custom_plans::int as anew, (select max(n) from ${table} where n = $1)
           from pg_prepared_statements where name = 'planned-${table}'`,
  })
  const fill = (table: string, rows: number) =>
    scratch.database.execute(`do $$ begin
      create table ${table} (n int primary key); insert into ${table} select generate_series(1, ${rows}); end $$`)
  const run = async (table: string) => (await scratch.database.query<Plans>(planned(table), [7]))[0]

  test('is planned anew as long as its table is small, or not known to be large', async () => {
    await fill('small', 900)
    await scratch.database.execute('analyze small')
    await fill('unknown', 2_000)
    for (const table of ['small', 'unknown'])
      for (let times = 1; times <= 8; times++) assert.equal((await run(table))?.kept, 0)
  })

  test('keeps its plan once its table has grown', async () => {
    const database = openDatabase({ connection: { connectionString: scratch.url }, poolSize: 2 })
    try {
      await fill('large', 2_000)
      await database.execute('analyze large')
      const read = async () => (await database.query<Plans>(planned('large'), [7]))[0]
      await until('the plan is kept', async () => ((await read())?.kept ?? 0) > 0)
      const [before, after] = [await read(), await read()]
      assert.deepEqual([after?.anew, after?.kept], [0, (before?.kept ?? 0) + 1])
    } finally {
      await database.close()
    }
  })

  test('sells as before once orders and profiles have grown', async () => {
    const platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
    try {
      await platform.addStock('kyivstar', 'eu-10gb', 1_010)
      const bank = await openBank(platform)
      const { database } = platform.platform
      await Promise.all(Array.from({ length: 1_001 }, (_, n) => bank.reserve(`before-${n}`)))
      await database.execute('analyze orders')
      await database.execute('analyze profiles')
      const mode: Statement = {
        name: 'mode',
        plannedOnce: ['orders', 'profiles'],
        text: `select current_setting('plan_cache_mode') as mode`,
      }
      await until('plans are kept', async () => {
        const [row] = await database.query<{ mode: string }>(mode)
        return row?.mode === 'force_generic_plan'
      })
      // These requests run statements for several orders, for one order, and for known orders.
      const sold = await Promise.all(
        Array.from({ length: 10 }, (_, n) => bank.reserve(`after-${n % 9}`).then(({ body }) => body.orderId)),
      )
      assert.equal(new Set(sold).size, 9)
      const confirmed = await Promise.all([...sold, sold[0]].map(orderId => bank.confirm(orderId)))
      for (const [n, answer] of confirmed.entries()) {
        assert.equal(answer.status, 200)
        const read = await bank.read(answer.body.orderId)
        assertOrder(read, { externalId: `after-${(n % 10) % 9}`, status: 'confirmed' })
      }
      assert.equal((await bank.reserve('after-0')).body.status, 'confirmed')
    } finally {
      await platform.close()
    }
  })
})

test('an instant is read as it was written, whatever its fraction and year', async () => {
  const instants = [
    '2026-11-21T08:15:00.000Z',
    '2026-11-21T08:15:00.500Z',
    '2026-11-21T08:15:00.250Z',
    '2026-11-21T08:15:00.025Z',
    '2026-11-21T08:15:00.123Z',
    '2024-02-29T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
    '0099-03-01T00:00:00.100Z',
    '0100-03-01T00:00:00.010Z',
    '9999-12-31T23:59:59.999Z',
  ]
  const rows = await scratch.database.query<{ at: Date }>(
    'select at from unnest($1::timestamptz[]) with ordinality as i (at, n) order by n',
    [instants],
  )
  assert.deepEqual(
    rows.map(({ at }) => at.toISOString()),
    instants,
  )
  const [finer] = await scratch.database.query<{ at: Date }>(`select timestamptz '2026-11-21 10:15:00.123999+02' as at`)
  assert.equal(finer?.at.toISOString(), '2026-11-21T08:15:00.123Z')
})
