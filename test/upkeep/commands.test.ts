/** Commands for the administrator of the machine (contract/production.md, "Commands"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { applicationName } from '../../src/db/application-name.ts'
import { openDatabase } from '../../src/db/database.ts'
import { type Migration, migrate, pendingMigrations, readMigrations, SchemaError } from '../../src/db/migrate.ts'
import { compareVersions, connectedVersions, previousVersion, refusedBy } from '../../src/db/versions.ts'
import { masterKeyFile } from '../../src/settings/key-files.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { sharedSettings, startProcess } from '../support/process.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-upkeep-'))
})
after(() => rm(folder, { recursive: true, force: true }))

describe('perkline health', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await startPlatform()
  })
  after(() => platform.close())
  const none = { OPERATOR_KEY: '', PERKLINE_URL: '' }

  test('exit code 0 and one line when the process lives, and when it is ready; no key is needed', async () => {
    for (const [args, word] of [
      [['health'], 'live'],
      [['health', '--ready'], 'ready'],
    ] as const) {
      const told = await perkline([...args, '--url', platform.url], { env: none })
      assert.deepEqual(told, { code: 0, stdout: `${word}: ${platform.url}\n`, stderr: '' })
    }
    const byPort = await perkline(['health', '--ready', '--json'], {
      env: { ...none, HOST: '0.0.0.0', PORT: new URL(platform.url).port },
    })
    assert.deepEqual(JSON.parse(byPort.stdout), { ok: true, url: platform.url, status: 'ready', reason: null })
  })

  test('exit code 1 and one line when nobody answers, and when the process stops', async () => {
    const nobody = await perkline(['health', '--url', `http://127.0.0.1:${await freePort()}`], { env: none })
    assert.equal(nobody.code, 1)
    assert.equal(nobody.stdout, '')
    assert.match(nobody.stderr, /^not live: http:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\)\n$/)
    const sibling = await platform.sibling()
    sibling.platform.drain()
    const stopping = await perkline(['health', '--ready', '--url', sibling.url], { env: none })
    assert.deepEqual([stopping.code, stopping.stderr], [1, `not ready: ${sibling.url} (stopping)\n`])
    assert.equal((await perkline(['health', '--url', sibling.url], { env: none })).code, 0, 'it still lives')
    await sibling.close()
  })

  test('--wait asks again until the process is ready', async () => {
    const port = await freePort()
    const waiting = perkline(['health', '--ready', '--wait', '60', '--url', `http://127.0.0.1:${port}`], { env: none })
    const database = await createTestDatabase()
    const settings = { ...sharedSettings(database.url, folder), PORT: String(port) }
    const started = await startProcess(settings)
    assert.equal((await waiting).code, 0)
    await started.stop()
    await database.close()
    const before = performance.now()
    const given = await perkline(['health', '--wait', '1', '--url', `http://127.0.0.1:${port}`], { env: none })
    assert.equal(given.code, 1)
    assert.ok(performance.now() - before >= 1_000)
  })

  test('wrong usage exits with 2', async () => {
    assert.equal((await perkline(['health', '--wait', 'long'])).code, 2)
    assert.equal((await perkline(['health', '--url', 'ftp://x'])).code, 2)
  })
})

describe('perkline keys fingerprint', () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const other = Buffer.alloc(32, 8).toString('base64')
  const show = async (env: Record<string, string>, ...args: string[]) =>
    perkline(['keys', 'fingerprint', ...args], { env: { OPERATOR_KEY: '', DATA_DIR: folder, ...env } })

  test('8 digits that are the same wherever the key comes from, and others for another key', async () => {
    const path = join(folder, 'master-key')
    await writeFile(path, `${key}\n`, { mode: 0o600 })
    const first = await show({ MASTER_KEY: key })
    assert.match(first.stdout, /^\d{8}\n$/)
    assert.deepEqual(await show({ MASTER_KEY_FILE: path }), first)
    assert.notEqual((await show({ MASTER_KEY: other })).stdout, first.stdout)
    const both = JSON.parse((await show({ MASTER_KEY: `${key},${other}` }, '--json')).stdout)
    assert.equal(`${both.fingerprint}\n`, first.stdout)
    assert.equal(`${both.further[0]}\n`, (await show({ MASTER_KEY: other })).stdout)
  })

  test('without a key, or with a wrong one, exit code 1 says so without showing it', async () => {
    const none = await show({})
    assert.equal(none.code, 1)
    assert.match(none.stderr, /There is no master key/)
    const wrong = await show({ MASTER_KEY: 'planted-secret' })
    assert.equal(wrong.code, 1)
    assert.doesNotMatch(wrong.stderr, /planted/)
  })

  test('a stored key that this user cannot read is told in words', async () => {
    // Makes a folder in place of the file, because nobody can read a folder as a file, not even root.
    await mkdir(masterKeyFile(folder), { recursive: true })
    const { code, stderr } = await show({})
    assert.equal(code, 1)
    assert.match(stderr, /MASTER_KEY is not set, and this user can't read it from DATA_DIR \(EISDIR/)
    assert.doesNotMatch(stderr, / at /, 'no stack')
  })
})

describe('versions side by side', () => {
  let scratch: TestDatabase
  before(async () => {
    scratch = await createTestDatabase()
  })
  after(() => scratch.close())
  const own = readMigrations()
  const newer = (sql: string): Migration => ({ version: own.length + 1, name: 'newer', sql, checksum: 'x' })
  const demanding = newer('-- serves: 99.0\nselect 1')

  test('versions are compared by their numbers', () => {
    assert.deepEqual(['0.10', '0.2', '1.0', '0.9'].sort(compareVersions), ['0.2', '0.9', '0.10', '1.0'])
    assert.deepEqual(refusedBy(['select 1'], ['0.1']), [])
    assert.deepEqual(refusedBy(['-- serves: 0.3\nselect 1', '-- serves: 0.2\n'], ['0.2', '0.3', '0.4']), ['0.2'])
  })

  test('the previous version is the one before in the changelog', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
    const released = [...changelog.matchAll(/^## \[(\d+\.\d+)\.\d+\]/gm)].map(([, version]) => version)
    assert.ok(released.slice(0, 2).includes(previousVersion), `${previousVersion} is not among ${released}`)
  })

  test('each connection tells its version', async () => {
    assert.match(applicationName, /^perkline\/\d+\.\d+\.\d+$/)
    const old = new pg.Client({ connectionString: scratch.url, application_name: 'perkline' })
    await old.connect()
    const version = applicationName.split('/')[1]?.split('.').slice(0, 2).join('.') ?? ''
    assert.deepEqual(await connectedVersions(scratch.database), [...new Set(['0.2', version])])
    await old.end()
  })

  test('a migration that an older process could not serve on waits until that has ended', async () => {
    const database = openDatabase({ connection: { connectionString: scratch.url }, poolSize: 2 })
    const old = new pg.Client({ connectionString: scratch.url, application_name: 'perkline' })
    await old.connect()
    const bearable = newer('-- serves: 0.3\nselect 1')
    await assert.rejects(
      migrate(database, [...own, bearable]),
      (error: Error) => error instanceof SchemaError && /Processes of version 0\.2 are connected/.test(error.message),
    )
    await old.end()
    await database.close()
  })

  test('the schema of a newer version is accepted as long as it serves this one, so that a roll-out can be undone', async () => {
    const there = await createTestDatabase()
    const add = (serves: string | null) =>
      there.database.execute(
        `insert into schema_migrations (version, name, checksum, serves) values (9999, 'later', 'x', $1)
         on conflict (version) do update set serves = excluded.serves`,
        [serves],
      )
    await add(previousVersion)
    assert.deepEqual(await pendingMigrations(there.database), [])
    for (const serves of ['99.0', null]) {
      await add(serves)
      await assert.rejects(pendingMigrations(there.database), /newer version of Perkline/)
    }
    await there.close()
  })

  test('a user who may not make tables: migrate --check and migrate name it, with exit code 1', async () => {
    const empty = await createTestDatabase({ migrated: false })
    try {
      await empty.database.execute('revoke create on schema public from pg_database_owner')
      const env = { ...sharedSettings(empty.url, folder), LOG_LEVEL: 'silent' }
      const denied = /permission denied for schema public.*heck DATABASE_URL, and what its user \w+ may do/
      const check = await perkline(['migrate', '--check'], { env, cwd: folder })
      assert.match(check.stdout, /migrations would be applied/)
      assert.match(check.stderr, denied)
      assert.equal(check.code, 1)
      const migrated = await perkline(['migrate'], { env, cwd: folder })
      assert.match(migrated.stderr, denied)
      assert.equal(migrated.code, 1)
    } finally {
      await empty.close()
    }
  })

  test('migrate --check lists what would be applied and changes nothing; exit code 3 when the previous version can’t go on', async () => {
    const empty = await createTestDatabase({ migrated: false })
    const env = { ...sharedSettings(empty.url, folder), LOG_LEVEL: 'silent' }
    const check = (...args: string[]) => perkline(['migrate', '--check', ...args], { env, cwd: folder })
    const told = await check('--json')
    assert.equal(told.code, 0, told.stderr)
    const value = JSON.parse(told.stdout)
    assert.equal(value.pending.length, own.length)
    assert.deepEqual(Object.keys(value.pending[0]), ['version', 'name', 'serves'])
    assert.equal(value.previousVersion, previousVersion)
    assert.equal(value.previousVersionServes, true)
    assert.match((await check()).stdout, /migrations would be applied:[\s\S]*Version 0\.2 can go on serving/)
    assert.equal((await perkline(['migrate'], { env, cwd: folder })).code, 0)
    assert.equal((await check()).stdout, 'The database is already at this version.\n')
    await empty.close()
    assert.deepEqual(refusedBy([demanding.sql], [previousVersion]), [previousVersion])
  })
})

describe('settings', () => {
  const base = { DATABASE_URL: 'postgres://localhost/x', MASTER_KEY: randomBytes(32).toString('base64') }
  const [one, two] = ['1'.repeat(32), '2'.repeat(32)] as const

  test('several operator keys are accepted; commands send the first', async () => {
    const config = readConfig({ ...base, OPERATOR_KEY: `${two},${one}` })
    assert.deepEqual([config.operatorKey, config.furtherOperatorKeys], [two, [one]])
    assert.throws(() => readConfig({ ...base, OPERATOR_KEY: `${one},short` }), /at least 32 characters/)
    const platform = await startPlatform({ OPERATOR_KEY: `${two},${one}` })
    try {
      for (const [token, status] of [
        [one, 200],
        [two, 200],
        ['3'.repeat(32), 401],
        [`${two},${one}`, 401],
      ] as const)
        assert.equal((await platform.call('GET', '/admin/overview', { token })).status, status, token)
      const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: `${two},${one}` }
      assert.equal((await perkline(['stock', '--json'], { env })).code, 0)
    } finally {
      await platform.close()
    }
  })

  test('how long a stop takes is set by durations', () => {
    const read = (env: Record<string, string>) => readConfig({ ...base, OPERATOR_KEY: one, ...env }).shutdown
    assert.deepEqual(read({}), { noticeMs: 3_000, limitMs: 30_000 })
    assert.deepEqual(read({ PERKLINE_MODE: 'sandbox' }), { noticeMs: 0, limitMs: 30_000 })
    assert.deepEqual(read({ SHUTDOWN_NOTICE: 'PT10S', SHUTDOWN_LIMIT: 'PT1M' }), { noticeMs: 10_000, limitMs: 60_000 })
    assert.throws(() => read({ SHUTDOWN_LIMIT: '30s' }), /SHUTDOWN_LIMIT must be an ISO 8601 duration/)
    assert.throws(() => read({ SHUTDOWN_LIMIT: 'P1D' }), /at most ten minutes/)
  })

  test('a process that stops gives notice for as long as is set', async () => {
    const database = await createTestDatabase()
    const process = await startProcess({ ...sharedSettings(database.url, folder), SHUTDOWN_NOTICE: 'PT2S' })
    const before = performance.now()
    const ended = process.stop()
    await new Promise(resolve => setTimeout(resolve, 500))
    assert.equal((await process.call('GET', '/health/ready')).status, 503)
    assert.equal(await ended, 0)
    const tookMs = performance.now() - before
    assert.ok(tookMs >= 2_000 && tookMs < 10_000, `${tookMs} ms`)
    await database.close()
  })

  test('each line of the log names the process', async () => {
    const database = await createTestDatabase()
    const process = await startProcess({ ...sharedSettings(database.url, folder), INSTANCE: 'perkline-9' })
    await process.stop()
    const line = process
      .output()
      .split('\n')
      .find(each => each.includes('"ready"'))
    assert.equal(JSON.parse(line ?? '{}').instance, 'perkline-9')
    await database.close()
    assert.throws(() => readConfig({ ...base, OPERATOR_KEY: one, INSTANCE: 'two words' }), /INSTANCE/)
  })
})
