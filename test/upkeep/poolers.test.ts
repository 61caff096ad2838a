/**
 * Poolers between the platform and its database. A pooler that keeps sessions works. The start refuses a pooler that
 * shares sessions between clients.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { createLogger } from '../../src/log.ts'
import { createTestDatabase } from '../support/database.ts'
import { openBank, range, tally, until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { startPlatform } from '../support/platform.ts'
import { requireProgram } from '../support/require-program.ts'

/**
 * Starts a PgBouncer.
 * @returns the address of a test database through it
 */
async function through(
  t: TestContext,
  poolMode: 'session' | 'transaction',
  url: string,
  sessions = 60,
): Promise<string> {
  const given = new URL(url)
  const host = given.searchParams.get('host') ?? given.hostname
  const folder = await mkdtemp(join(tmpdir(), 'perkline-pgbouncer-'))
  const port = await freePort()
  const name = given.pathname.slice(1)
  const server = `host=${host} port=${given.port || 5432} dbname=${name} user=${given.username}`
  await chmod(folder, 0o755)
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = ${server}${given.password ? ` password=${given.password}` : ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${sessions}
max_client_conn = 200
`,
  )
  // PgBouncer refuses to run as root, so it runs as the user of the test server, which that server accepts.
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child: ChildProcess = spawn('pgbouncer', ['-q', ...asUser, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' })
  const gone = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await gone
    await rm(folder, { recursive: true, force: true })
  })
  const isOpen = async () => {
    const socket = connect(port, '127.0.0.1')
    const opened = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    return opened.finally(() => socket.destroy())
  }
  await until('PgBouncer listens', isOpen)
  return `postgres://${given.username}@127.0.0.1:${port}/${name}`
}

test('PgBouncer in session mode: sells as without it', async t => {
  if (!requireProgram(t, 'pgbouncer')) return
  const direct = await startPlatform()
  t.after(() => direct.close())
  const pooled = await direct.sibling({ DATABASE_URL: await through(t, 'session', direct.databaseUrl) })
  try {
    await direct.addStock('kyivstar', 'eu-10gb', 100)
    const bank = await openBank(pooled)
    const answers = await Promise.all(range(100).map(n => bank.reserve(`pooled-${n}`)))
    assert.deepEqual(tally(answers), { 201: 100 })
    for (const { body } of answers.slice(0, 10)) assert.equal((await bank.confirm(body.orderId)).status, 200)
  } finally {
    await pooled.close()
  }
})

test('PgBouncer in session mode: a long statement is not taken for lost', async t => {
  if (!requireProgram(t, 'pgbouncer')) return
  const scratch = await createTestDatabase()
  t.after(() => scratch.close())
  const url = await through(t, 'session', scratch.url)
  const database = openDatabase({ connection: { connectionString: url }, poolSize: 2 })
  t.after(() => database.close())
  await database.dedicated(client => client.query('select pg_sleep(10)'))
})

test('PgBouncer in session mode: failed work does not end the session when another connection has got it', async t => {
  if (!requireProgram(t, 'pgbouncer')) return
  const scratch = await createTestDatabase()
  t.after(() => scratch.close())
  const url = await through(t, 'session', scratch.url, 2)
  const database = openDatabase({ connection: { connectionString: url }, poolSize: 2 })
  t.after(() => database.close())
  const failing = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<unknown>()
  const pidOf = async (client: pg.ClientBase) => (await client.query('select pg_backend_pid() as pid')).rows[0].pid
  const work = database.dedicated(async client => {
    failed.resolve(await pidOf(client))
    await failing.promise
  })
  const pid = await failed.promise
  // `work` and `brief` use both sessions. When `work` fails, `next` gets its session. The connection that looks for failed
  // work comes later, and must not end this session.
  const brief = database.dedicated(client => client.query('select pg_sleep(1.5)'))
  await sleep(300)
  const next = database.dedicated(async client => {
    const taken = await pidOf(client)
    await sleep(4_000)
    await client.query('select')
    return taken
  })
  await sleep(300)
  failing.reject(new Error('failed'))
  await assert.rejects(work, /failed/)
  await brief
  assert.equal(await next, pid)
})

test('PgBouncer in transaction mode: the start is refused with what to do', async t => {
  if (!requireProgram(t, 'pgbouncer')) return
  const direct = await startPlatform()
  t.after(() => direct.close())
  const url = await through(t, 'transaction', direct.databaseUrl)
  await assert.rejects(direct.sibling({ DATABASE_URL: url }), /pool_mode=session/)
})

test('a pool that is larger than the server allows is told at the start', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-few-'))
  const server = await startEmbeddedDatabase({ dataDir: join(folder, 'data'), settings: { max_connections: '60' } })
  t.after(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const { user, database, host } = server.connection
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`
  const told: string[] = []
  const logger = createLogger('warn', { write: line => void told.push(line) })
  const about = () => told.filter(line => line.includes('DATABASE_POOL')).length
  const small = await startPlatform({ DATABASE_URL: url }, { logger, directory: null })
  assert.equal(about(), 0)
  const large = await small.sibling({ DATABASE_POOL: '40' })
  assert.equal(about(), 1)
  await large.close()
  await small.close()
  assert.match(told.join(''), /DATABASE_POOL=40 lets this process open up to \d+ connections, .* 57 .*max_connections/)
})
