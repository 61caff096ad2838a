/** Long reads send PostgreSQL's `copy` as a JSON array, as fast as the reader accepts it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { after, before, describe, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { withLiterals } from '../../src/db/literals.ts'
import { createCopyReader } from '../../src/db/streaming/copy-format.ts'
import { copyAsJson } from '../../src/db/streaming/copy-out.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/esim.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import fc from '../support/properties.ts'

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const int16 = (value: number) => int32(value << 16).subarray(0, 2)
const message = (type: string, body: Buffer) => Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
const header = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), int32(0), int32(0)])

/** What PostgreSQL sends for these rows. */
const copied = (rows: (string | null)[][]): Buffer => {
  const field = (value: string | null) =>
    value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)])
  const data = rows.map(row => message('d', Buffer.concat([int16(row.length), ...row.map(field)])))
  const announced = message('H', Buffer.from([1, 0, 1, 0, 1]))
  return Buffer.concat([announced, message('d', header), ...data, message('d', int16(-1))])
}

suite('the format', () => {
  const rest = Buffer.concat([
    message('c', Buffer.alloc(0)),
    message('C', Buffer.from('COPY 1\0')),
    message('Z', Buffer.from('I')),
  ])
  const take = (sent: Buffer, cuts: number[]) => {
    const reader = createCopyReader('json')
    const target = Buffer.alloc(sent.length)
    let end = 0
    const edges = [...new Set([0, ...cuts.map(cut => cut % sent.length), sent.length])].sort((a, b) => a - b)
    const given: Buffer[] = []
    for (const [index, from] of edges.slice(0, -1).entries()) {
      const piece = Buffer.from(sent.subarray(from, edges[index + 1]))
      // After the last row, the reader gets no more pieces: they belong to the owner of the connection.
      if (given.length > 0) given.push(piece)
      else {
        const read = reader.read(piece, target, end)
        assert.ok(read.end - end <= piece.length)
        end = read.end
        if (read.rest) given.push(read.rest)
      }
    }
    return { text: target.toString('utf8', 0, end), rest: Buffer.concat(given) }
  }

  test('rows become an array and the rest is handed on, wherever the bytes are cut', () => {
    const rows = fc.array(fc.array(fc.option(fc.string({ unit: 'grapheme' })), { maxLength: 4 }), { maxLength: 6 })
    fc.assert(
      fc.property(rows, fc.array(fc.nat(), { maxLength: 30 }), (rows, cuts) => {
        const withCommas = rows.map(row => [',', ...row])
        const taken = take(Buffer.concat([copied(withCommas), rest]), cuts)
        assert.equal(taken.text, `[${rows.map(row => row.join('')).join(',')}]`)
        assert.deepEqual(taken.rest, rest)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a byte at a time', () => {
    const sent = Buffer.concat([
      copied([
        [null, ',{"a":', null, '1}'],
        ['', ',2', ''],
      ]),
      rest,
    ])
    assert.equal(take(sent, Array.from(sent.keys())).text, '[{"a":1},2]')
  })

  test('a row may be spread over messages, and notices come between', () => {
    const body = Buffer.concat([
      header,
      int16(2),
      int32(4),
      Buffer.from(',"a"'),
      int32(-1),
      int16(1),
      int32(2),
      Buffer.from(',7'),
    ])
    const pieces = [body.subarray(0, 7), body.subarray(7, 26), body.subarray(26)].map(piece => message('d', piece))
    const notice = message('N', Buffer.from('nothing\0'))
    const setting = message('S', Buffer.from('TimeZone\0UTC\0'))
    const sent = Buffer.concat([
      notice,
      ...pieces.flatMap(piece => [piece, setting, notice]),
      message('d', int16(-1)),
      rest,
    ])
    assert.equal(take(sent, [3, 30, 50]).text, '["a",7]')
  })
})

suite('literals', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase({ migrated: false })
  })
  after(() => database.close())

  const texts = ["o'clock", '\\', "\\'; drop table x; --", '$1', '$$', 'Ї😀', 'a\nb', '']
  test('come back as they were, alone and in lists', async () => {
    for (const text of texts) {
      const [row] = await database.database.query(
        withLiterals('select $1::text as one, $2::text[] as list', [text, texts]),
      )
      assert.deepEqual(row, { one: text, list: texts })
    }
    const at = new Date('2026-11-21T08:15:00.123Z')
    const query = withLiterals(
      'select $1::timestamptz as at, $2::text is null as no, $3::text[] as none, $9::text as left',
      [at, null, []],
    )
    assert.deepEqual(await database.database.query(query), [{ at, no: true, none: [], left: null }])
  })
})

describe('a connection for long reads', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase({ migrated: false })
  })
  after(() => database.close())

  const pidOf = (end = async () => {}) =>
    database.database.longRead('files', async client => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      await copyAsJson(client, "select ',1'", { stallMs: 1_000, wholeMs: 1_000 }).writeTo(new PassThrough().resume())
      await end()
      return rows[0]?.pid
    })

  test('is kept for the next read', async () => assert.equal(await pidOf(), await pidOf()))

  test('is ended when a read breaks off', async () => {
    const pid = await pidOf()
    await assert.rejects(
      pidOf(() => Promise.reject(new Error('broken off'))),
      /broken off/,
    )
    assert.notEqual(await pidOf(), pid)
  })

  test('that has fallen silent fails one read, and no other connection of its age is used afterwards', async () => {
    const proxy = await startMuteProxy(database.url)
    const through = openDatabase({ connection: { connectionString: proxy.url }, poolSize: 2 })
    try {
      const read = () =>
        through.longRead('files', async client => {
          await client.query('select pg_sleep(0.05)')
          return 'read'
        })
      const both = () => Promise.allSettled([read(), read()])
      const fulfilled = (settled: PromiseSettledResult<string>[]) =>
        settled.filter(({ status }) => status === 'fulfilled')
      assert.equal(fulfilled(await both()).length, 2)
      // After this, one of the two open connections works again and the other stays silent forever.
      assert.equal(proxy.fallSilent(), 2)
      proxy.speakAgain()
      const met = await both()
      assert.equal(fulfilled(met).length, 1)
      for (const { status, reason } of met as PromiseRejectedResult[])
        if (status === 'rejected') assert.equal(reason.code, 'unavailable')
      for (const _ of [1, 2, 3]) assert.equal(fulfilled(await both()).length, 2)
    } finally {
      await through.close()
      await proxy.close()
    }
  })

  test('is of one read at a time', async () => {
    const pids = await Promise.all([pidOf(() => sleep(50)), pidOf(() => sleep(50))])
    assert.equal(new Set(pids).size, 2)
  })
})

for (const kind of ['a lending socket', 'a usual socket'] as const)
  describe(`over ${kind}`, () => {
    let database: TestDatabase
    before(async () => {
      database = await createTestDatabase({ migrated: false })
    })
    after(() => database.close())

    /** Time limits that are longer than any wait of a test, so that they end nothing. */
    const limits = { stallMs: 30_000, wholeMs: 60_000 }
    const within = <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> =>
      kind === 'a lending socket' ? database.database.longRead('files', work) : database.database.dedicated(work)
    const many = "select ',' || n, repeat(chr(65 + n % 26), (n * 37) % 5000) from generate_series(1, 3000) n"
    const expected = `[${Array.from({ length: 3000 }, (_, index) => `${index + 1}${String.fromCharCode(65 + ((index + 1) % 26)).repeat(((index + 1) * 37) % 5000)}`).join(',')}]`

    /** Takes each piece at the given pace and keeps a copy, because the sender may then use the buffer again. */
    const taker = (pace: () => Promise<unknown>) => {
      const taken: Buffer[] = []
      const writable = new Writable({
        write(chunk: Buffer, _, done) {
          void pace().then(() => {
            taken.push(Buffer.from(chunk))
            done()
          })
        },
      })
      return Object.assign(writable, { text: () => Buffer.concat(taken).toString() })
    }

    for (const [name, pace] of [
      ['at once', async () => {}],
      ['slowly', () => sleep(2)],
      ['unevenly', () => (Math.random() < 0.2 ? sleep(10) : new Promise(setImmediate))],
    ] as const)
      test(`everything arrives as it is, taken ${name}, and the connection is free again`, async () => {
        await within(async client => {
          const to = taker(pace)
          for (let round = 0; round < 2; round++) await copyAsJson(client, many, limits).writeTo(to)
          assert.equal(to.text(), expected + expected)
          assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }])
        })
      })

    test('one field of 40 MB, and none', async () => {
      await within(async client => {
        const long = taker(async () => {})
        await copyAsJson(client, "select ',' || repeat('x', 40000000)", limits).writeTo(long)
        assert.equal(long.text(), `[${'x'.repeat(40_000_000)}]`)
        const none = taker(async () => {})
        await copyAsJson(client, 'select 1 where false', limits).writeTo(none)
        assert.equal(none.text(), '[]')
      })
    })

    test('it has begun before anybody takes it', async () => {
      await within(async client => {
        const read = copyAsJson(client, many, limits)
        await read.begun
        await sleep(50)
        const to = taker(async () => {})
        await read.writeTo(to)
        assert.equal(to.text(), expected)
      })
    })

    test('a fault of the query comes before anything has begun; the connection can be used on', async () => {
      await within(async client => {
        const read = copyAsJson(client, 'select 1/0', limits)
        await assert.rejects(read.begun, /division by zero/)
        await assert.rejects(read.writeTo(new PassThrough()), /division by zero/)
        assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }])
      })
    })

    test('a fault in the middle ends it', async () => {
      await within(async client => {
        const to = taker(async () => {})
        const text = "select repeat('x', 10000) || (1000000 / (2000 - n)) from generate_series(1, 3000) n"
        const read = copyAsJson(client, text, limits)
        await read.begun
        await assert.rejects(read.writeTo(to), /division by zero/)
        assert.ok(to.text().startsWith('[xxx') && !to.text().endsWith(']'))
      })
    })

    test('a connection that breaks ends it', async () => {
      await assert.rejects(
        within(async client => {
          const { rows } = await client.query('select pg_backend_pid() as pid')
          const read = copyAsJson(client, many, limits)
          await read.begun
          await database.database.query('select pg_terminate_backend($1)', [rows[0].pid])
          await read.writeTo(taker(() => sleep(5)))
        }),
        { code: 'unavailable' },
      )
    })

    const endless = "select repeat('x', 100000) from generate_series(1, 20000)"
    const backends = async () =>
      (
        await database.database.query<{ count: number }>(
          "select count(*)::int as count from pg_stat_activity where query like 'copy%' and datname = current_database()",
        )
      )[0]?.count
    const freed = () => until('the database sends no more', async () => (await backends()) === 0)

    test('a taker that stops taking is cut off after the stall, and the database is free', async () => {
      const start = performance.now()
      const stuck = new Writable({ write() {} })
      const read = within(client => copyAsJson(client, endless, { ...limits, stallMs: 300 }).writeTo(stuck))
      await assert.rejects(read, { code: 'unavailable' })
      assert.ok(performance.now() - start >= 290)
      await freed()
    })

    test('so is one that nobody ever takes', async () => {
      const read = within(client => copyAsJson(client, endless, { ...limits, stallMs: 200 }).ended)
      await assert.rejects(read, { code: 'unavailable' })
      await freed()
    })

    test('a taker that dawdles is cut off after the whole time', async () => {
      const start = performance.now()
      const slow = taker(() => sleep(20))
      const read = within(client => copyAsJson(client, endless, { stallMs: 1_000, wholeMs: 1_500 }).writeTo(slow))
      await assert.rejects(read, { code: 'unavailable' })
      assert.ok(performance.now() - start >= 1_490)
      await freed()
    })

    test('a taker that breaks ends it, and so does a stop', async () => {
      const broken = new Writable({ write: (_chunk, _, done) => done(new Error('broken')) })
      broken.on('error', () => {})
      await assert.rejects(
        within(client => copyAsJson(client, endless, limits).writeTo(broken)),
        /broken/,
      )
      await assert.rejects(
        within(async client => {
          const read = copyAsJson(client, endless, limits)
          const to = new PassThrough()
          to.resume()
          setTimeout(() => read.stop(new Error('enough')), 50)
          await read.writeTo(to)
        }),
        /enough/,
      )
      const gone = new PassThrough()
      const closed = once(gone, 'close')
      const read = within(client => copyAsJson(client, endless, limits).writeTo(gone))
      gone.destroy()
      await closed
      await assert.rejects(read)
      await freed()
    })
  })
