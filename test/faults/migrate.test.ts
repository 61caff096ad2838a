import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Database } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/database.ts'
import { type Migration, migrate, pendingMigrations, readMigrations } from '../../src/db/migrate.ts'
import { createTestDatabase, isBuildingIndex } from '../support/database.ts'
import { until } from '../support/esim.ts'

const own = readMigrations()

async function emptyDatabase(t: TestContext): Promise<{ database: Database; url: string }> {
  const test = await createTestDatabase({ migrated: false })
  t.after(() => test.close())
  return test
}

const migration = (version: number, sql: string): Migration => ({
  version,
  name: `step_${version}`,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
})

const tablesOf = async (database: Database): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  )
  return rows.map(({ name }) => name)
}

const refused = (promise: Promise<unknown>, message: RegExp) =>
  assert.rejects(promise, { name: 'SchemaError', message })

/**
 * The last migration that may not change any more. Version 0.2.0 contains migrations up to 0013. Migrations 0014 to
 * 0025 were published later, before work on version 0.3 began.
 */
const lastReleased = 25

test('released migrations have the texts that databases remember', () => {
  const released = own.filter(({ version }) => version <= lastReleased).map(({ sql }) => sql)
  const hash = createHash('sha256').update(released.join('')).digest('hex')
  assert.equal(hash, '9ecf728fa82bd2a483a4ada250cf3ae9344be2970b0b8dfd44370db3690c1778')
})

test('the migrations of the program are numbered from 1 without a gap', () => {
  assert.deepEqual(
    own.map(({ version }) => version),
    own.map((_, index) => index + 1),
  )
})

test('a fresh database gets every migration in order, and the next start finds nothing to do', async t => {
  const { database } = await emptyDatabase(t)
  assert.equal((await pendingMigrations(database)).length, own.length)
  // 0038 is applied together with 0028.
  const { 37: together, ...others } = own.map(({ name }) => name)
  assert.deepEqual(await migrate(database), Object.values(others).toSpliced(28, 0, together ?? ''))
  assert.deepEqual(await pendingMigrations(database), [])
  assert.deepEqual(await migrate(database), [])
  const applied = await database.query('select version, name, checksum from schema_migrations order by version')
  assert.deepEqual(
    applied,
    own.map(({ version, name, checksum }) => ({ version, name, checksum })),
  )
  assert.ok((await tablesOf(database)).includes('orders'))
})

test('a new version applies only what is new, and keeps the data', async t => {
  const { database } = await emptyDatabase(t)
  const first = migration(1, 'create table things (id int primary key)')
  const second = migration(2, `alter table things add column name text not null default 'old'`)
  assert.deepEqual(await migrate(database, [first]), ['step_1'])
  await database.execute('insert into things (id) values (7)')
  assert.deepEqual(await migrate(database, [first, second]), ['step_2'])
  assert.deepEqual(await database.query('select id, name from things'), [{ id: 7, name: 'old' }])
})

test('the schema of a newer version is refused and left as it is', async t => {
  const { database } = await emptyDatabase(t)
  const first = migration(1, 'create table things (id int primary key)')
  const second = migration(2, 'create table more_things (id int primary key)')
  await migrate(database, [first, second])
  await refused(migrate(database, [first]), /newer version of Perkline.*migration 2.*knows up to 1/)
  await refused(pendingMigrations(database, [first]), /newer version/)
  assert.deepEqual(await tablesOf(database), ['more_things', 'schema_migrations', 'things'])
})

test('a migration that was applied with another text is refused', async t => {
  const { database } = await emptyDatabase(t)
  await migrate(database, [migration(1, 'create table things (id int primary key)')])
  const altered = migration(1, 'create table things (id bigint primary key)')
  await refused(migrate(database, [altered]), /Migration 1 \(step_1\) was applied with another text/)
})

test('a database with tables of others is refused and left as it is', async t => {
  const { database } = await emptyDatabase(t)
  await database.execute('create table invoices (id int)')
  await refused(migrate(database), /tables that are not Perkline/)
  assert.deepEqual(await tablesOf(database), ['invoices'])
  await database.execute('create table schema_migrations (version text primary key)')
  await refused(migrate(database), /tables that are not Perkline/)
  assert.deepEqual(await tablesOf(database), ['invoices', 'schema_migrations'])
})

test('a database whose encoding can’t hold every text is refused and left as it is', async t => {
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const { database, url } = await emptyDatabase(t)
    const name = `${new URL(url).pathname.slice(1)}_other`
    await database.execute(`create database ${name} encoding '${encoding}' locale 'C' template template0`)
    const other = openDatabase({
      connection: { connectionString: Object.assign(new URL(url), { pathname: `/${name}` }).href },
      poolSize: 2,
    })
    try {
      await refused(migrate(other), new RegExp(`has the encoding ${encoding}.*encoding 'UTF8'`))
      assert.deepEqual(await tablesOf(other), [])
    } finally {
      await other.close()
      await database.execute(`drop database ${name}`)
    }
  }
})

test('a migration that fails leaves nothing behind, names itself, and those before it stay', async t => {
  const { database } = await emptyDatabase(t)
  const steps = [
    migration(1, 'create table things (id int primary key)'),
    migration(2, 'create table more_things (id int primary key); insert into nowhere values (1)'),
    migration(3, 'create table last_things (id int primary key)'),
  ]
  await refused(migrate(database, steps), /Migration 2 \(step_2\) failed: .*nowhere/)
  assert.deepEqual(await tablesOf(database), ['schema_migrations', 'things'])
  const mended = [steps[0], migration(2, 'create table more_things (id int primary key)'), steps[2]] as Migration[]
  assert.deepEqual(await migrate(database, mended), ['step_2', 'step_3'], 'and the lock is free again')
})

test('a first migration that fails leaves the database empty', async t => {
  const { database } = await emptyDatabase(t)
  await refused(migrate(database, [migration(1, 'create table things (id int); select 1 / 0')]), /failed/)
  assert.deepEqual(await tablesOf(database), [])
})

test('if several processes migrate at once, one does the work and the others find nothing to do', async t => {
  const { url } = await emptyDatabase(t)
  const processes = Array.from({ length: 4 }, () =>
    openDatabase({ connection: { connectionString: url }, poolSize: 1 }),
  )
  t.after(() => Promise.all(processes.map(database => database.close())))
  const applied = await Promise.all(processes.map(database => migrate(database)))
  assert.deepEqual(applied.map(names => names.length).sort(), [0, 0, 0, own.length])
})

test('only files named by number and name are migrations', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-migrations-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const file of ['0002_second.sql', '0001_first.sql', 'README.md', '0003_draft.sql.orig', '3_short.sql'])
    await writeFile(join(folder, file), `-- ${file}`)
  const found = readMigrations(pathToFileURL(`${folder}/`))
  assert.deepEqual(
    found.map(({ version, name, sql }) => ({ version, name, sql })),
    [
      { version: 1, name: 'first', sql: '-- 0001_first.sql' },
      { version: 2, name: 'second', sql: '-- 0002_second.sql' },
    ],
  )
})

test('an index that is built concurrently is finished by the next start when its building was broken off', async t => {
  const { database } = await emptyDatabase(t)
  const things = migration(1, 'create table things (id int, name text); insert into things values (1), (1)')
  const indexed = migration(
    2,
    `create index concurrently if not exists things_name_index on things (name);
     create unique index concurrently if not exists things_id_key on things (id);`,
  )
  await refused(migrate(database, [things, indexed]), /Migration 2 \(step_2\) failed: could not create unique index/)
  await database.execute('delete from things where ctid = (select min(ctid) from things)')
  assert.deepEqual(await migrate(database, [things, indexed]), ['step_2'])
  const built = await database.query(
    `select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid where indrelid = 'things'::regclass order by 1`,
  )
  assert.deepEqual(built, [
    { name: 'things_id_key', valid: true },
    { name: 'things_name_index', valid: true },
  ])
})

test('a process of the version before that starts while an index is built gets its turn, and the index is built', async t => {
  const { database } = await emptyDatabase(t)
  const things = migration(1, 'create table things (id int)')
  await migrate(database, [things])
  const writer = await database.connect()
  await writer.query('begin; insert into things values (1)')
  const indexed = migration(2, 'create index concurrently if not exists things_id_index on things (id)')
  const migrating = migrate(database, [things, indexed])
  migrating.catch(() => {})
  await until('the index is being built', () => isBuildingIndex(database))
  // A process of 0.2 waits for the lock of migrations in one statement, which holds a snapshot.
  const older = await database.connect()
  const turn = older.query('select pg_advisory_lock(7365012)').then(() => older.end())
  // The deadlock check of the waiting process passes before there is a deadlock.
  await sleep(1_500)
  await writer.query('commit')
  await writer.end()
  const late = sleep(8_000, ['late'], { ref: false })
  assert.deepEqual(await Promise.race([migrating, late]), ['step_2'])
  await turn
})
