/** A newer version migrates the schema while the previous one serves (contract/reliability.md, "Experiments"). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/db/database.ts'
import { type Migration, migrate, readMigrations } from '../../src/db/migrate.ts'
import { createTestDatabase } from '../support/database.ts'
import { bankAt, proveBooks, range, until } from '../support/esim.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { openShop } from '../support/world.ts'

/** What a newer version may add to the busiest tables while the older version serves. */
const sql = `
  alter table orders add column channel text not null default 'api';
  alter table profiles add column batch int;
  alter table banks add column note text;
  create table order_notes (order_id uuid primary key, note text not null);
  create index orders_channel_idx on orders (channel) where channel <> 'api'`

/** Indexes that a newer version may build on a large table, which must not be locked meanwhile. */
const concurrentSql = `
  -- For the channels; sales go on.
  create index concurrently if not exists orders_tariff_idx on orders (tariff_id, order_id);
  create index concurrently if not exists orders_profile_idx on orders (profile_id) where status = 'cancelled';
  alter table orders set (autovacuum_analyze_scale_factor = 0.01);`

/** How long a transaction blocks the migration: longer than any request may wait. */
const heldMs = 11_500

const kinds = [
  // The migration waits for every transaction that holds a lock on its tables.
  { name: 'at once', sql, hold: 'begin; select from orders limit 1; select from banks limit 1' },
  // Building an index waits for older transactions, because they may still need rows that the index does not contain.
  {
    name: 'with indexes built concurrently',
    sql: concurrentSql,
    hold: 'begin isolation level repeatable read; select from orders limit 1',
  },
]

for (const { name, sql, hold } of kinds)
  test(`the schema of a newer version comes ${name} while a process sells and a long read holds it up: no request fails`, async t => {
    const database = await createTestDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'perkline-migrating-'))
    const platform = await startProcess(sharedSettings(database.url, folder))
    const own = readMigrations()
    const newer: Migration = {
      version: own.length + 1,
      name: 'newer',
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
    }
    const migrators = range(2).map(() => openDatabase({ connection: { connectionString: database.url }, poolSize: 2 }))
    try {
      const { alpha } = await openShop(platform, { profiles: 4_000, seed: 7_501 })
      await using load = steadyLoad(bankAt(platform, alpha))
      await until('sales go on', () => load.answered() > 20)
      const reader = await database.database.connect()
      await reader.query(hold)
      const before = load.answered()
      let waits = true
      const migrating = Promise.all(migrators.map(each => migrate(each, [...own, newer]))).finally(() => {
        waits = false
      })
      migrating.catch(() => {})
      await sleep(heldMs)
      await until('sales go on while it waits', () => load.answered() >= before + 50)
      assert.ok(waits, 'it still waits')
      const during = load.answered() - before
      await reader.query('commit')
      await reader.end()
      const applied = await migrating
      assert.deepEqual(applied.flat(), ['newer'], 'once, by one of the two')
      const at = load.answered()
      await until('sales go on after it', () => load.answered() > at + 20)
      const { answered, faults, slowestMs } = await load.end()
      t.diagnostic(`${answered} requests answered, ${during} of them while it waited; slowest ${slowestMs} ms`)
      assert.deepEqual(faults, [])
      await proveBooks(database.database, new Date())
      assert.equal((await platform.admin('GET', '/audit')).ok, true)
      assert.doesNotMatch(platform.output(), /"statusCode":5|unexpected error/)
    } finally {
      await platform.kill()
      await Promise.all(migrators.map(each => each.close()))
      await database.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
