/**
 * A feed when the primary's machine dies (contract/events.md, "The feed"): it continues on the synchronous standby,
 * with every committed event once and without a gap.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { ask } from '../support/careful-client.ts'
import { range } from '../support/esim.ts'
import * as stream from '../support/event-stream.ts'
import { eventually, startPatroni } from '../support/patroni.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'

const writers = 8
const patienceMs = 180_000

/**
 * Each transaction records an event and inserts the same key into a table of this test. So the event must exist exactly
 * if the row does, even where the writer does not know whether its commit succeeded.
 */
async function startWriting(database: Database) {
  await database.execute('create table written (key text primary key)')
  const [bank] = await database.query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  const bankId = bank?.id ?? assert.fail('no bank')
  const acknowledged: { key: string; atMs: number }[] = []
  let [isOver, failed] = [false, 0]
  const write = (writer: number, version: number) =>
    database.transaction(async transaction => {
      const data = { operatorCode: String(writer), tariffCode: String(version), available: true }
      await recordEvents(transaction, [{ type: 'tariff.availability_changed', at: null, banks: [bankId], data }])
      await transaction.execute('insert into written values ($1)', [`${writer}/${version}`])
    })
  const goOn = async (writer: number) => {
    for (let version = 1; !isOver; version++) {
      await write(writer, version).then(
        () => acknowledged.push({ key: `${writer}/${version}`, atMs: performance.now() }),
        () => failed++,
      )
      await sleep(20)
    }
  }
  const writing = Promise.all(range(writers).map(goOn))
  return {
    acknowledged,
    async stop(): Promise<number> {
      isOver = true
      await writing
      return failed
    },
  }
}

/** Reads from the database the keys of all committed events. The times of the commits are unknown, so they are 0. */
async function readWritten(database: Database): Promise<ReadonlyMap<string, { committedAtMs: number }>> {
  const rows = await database.query<{ key: string }>('select key from written')
  return new Map(rows.map(({ key }) => [key, { committedAtMs: 0 }]))
}

test('the primary is killed while 8 write and two read: one feed goes on, each committed event once', async t => {
  for (const program of ['patroni', 'etcd', 'haproxy']) if (!requireProgram(t, program)) return
  const folder = await mkdtemp(join(tmpdir(), 'perkline-feed-failover-'))
  const cluster = await startPatroni()
  try {
    const shared = sharedSettings(cluster.databaseUrl, folder)
    const processes = [await startProcess({ ...shared, LOG_LEVEL: 'fatal', DATABASE_POOL: '6' })]
    const [platform = assert.fail()] = processes
    const database = openDatabase({ connection: { connectionString: cluster.databaseUrl }, poolSize: writers })
    const { alpha: token } = await openShop(platform, { profiles: 1, seed: 8_210 })
    const feed = () => ask(processes, { method: 'GET', path: '/partner/v1/events?after=now', token })
    const { feedId } = (await feed()).body
    const reading = stream.readers.slice(0, 2).map(one => stream.startReading(processes, token, one))
    const writing = await startWriting(database)
    try {
      const hasSeen = () => reading.every(({ seen }) => seen.length > 100)
      await eventually('readers follow', hasSeen, patienceMs)
      await cluster.kill(await cluster.primary())
      const killedAtMs = performance.now()
      const goesOn = () => writing.acknowledged.filter(({ atMs }) => atMs > killedAtMs + 1_000).length > 100
      await eventually('events are written again', goesOn, patienceMs)
      const failed = await writing.stop()
      const end = await feed()
      assert.deepEqual([end.status, end.body.feedId], [200, feedId], end.text)
      for (const reader of reading) await reader.readTo(end.body.nextAfter)
      const told = await readWritten(database)
      assert.deepEqual(
        writing.acknowledged.filter(({ key }) => !told.has(key)),
        [],
      )
      for (const reader of reading) stream.proveSeen(reader, { told })
      const audit = await ask(processes, { method: 'GET', path: '/admin/audit', token: shared.OPERATOR_KEY ?? '' })
      assert.equal(audit.body.ok, true, audit.text)
      t.diagnostic(`${told.size} committed, ${writing.acknowledged.length} acknowledged, ${failed} failed`)
    } finally {
      for (const reader of reading) reader.stop()
      await writing.stop()
      await database.close()
      await platform.kill()
    }
  } finally {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
})
