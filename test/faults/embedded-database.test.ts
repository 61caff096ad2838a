/**
 * The embedded database with real servers and real processes (contract/reliability.md, "The embedded database"). Called
 * with `own DATA_DIR`, this file is the process that owns a server and gets killed: it prints that it is ready or why
 * it is not, then the number of each row that it has committed.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { packagedRuntime } from '../../src/db/embedded/runtime.ts'
import { type EmbeddedServer, startEmbeddedDatabase } from '../../src/db/embedded/server.ts'

const thisFile = fileURLToPath(import.meta.url)
if (process.argv[2] === 'own') await own(process.argv[3] ?? '', process.argv[4])

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
const root = await mkdtemp(join(tmpdir(), 'perkline-embedded-'))
await chmod(root, 0o755)
const started: ChildProcess[] = []
after(async () => {
  for (const child of started) child.kill('SIGKILL')
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

/** A data folder that several tests share, so that not every test waits for a new cluster. */
const dataDir = join(root, 'data, "one" ї')

test('the first start makes a durable cluster of our own that only its folder leads to', async () => {
  const server = await startEmbeddedDatabase({ dataDir })
  const { host, port } = server.connection
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  assert.equal(statSync(host).mode & 0o777, 0o700)
  assert.ok(statSync(join(host, `.s.PGSQL.${port}`)).isSocket())
  const [row] = await query(
    server,
    `select current_user, current_database(), current_setting('listen_addresses') as tcp, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as commit, current_setting('timezone') as timezone,
       current_setting('server_encoding') as encoding,
       (select rolsuper from pg_roles where rolname = current_user) as superuser,
       (select datcollate from pg_database where datname = current_database()) as locale`,
  )
  assert.deepEqual(row, {
    ...{ current_user: 'perkline', current_database: 'perkline', tcp: '', fsync: 'on', commit: 'on', timezone: 'UTC' },
    ...{ encoding: 'UTF8', superuser: false, locale: 'C' },
  })
  await query(server, 'create table kept (id int primary key, word text)')
  await query(server, `insert into kept values (1, 'kept')`)
  await Promise.all([server.stop(), server.stop()])
  assert.ok(!existsSync(join(dataDir, 'postgres', 'postmaster.pid')))
})

test('a later start keeps the data, and takes settings', async () => {
  const server = await startEmbeddedDatabase({ dataDir, settings: { max_connections: '17' } })
  assert.deepEqual(await query(server, 'select word from kept'), [{ word: 'kept' }])
  assert.deepEqual(await query(server, 'show max_connections'), [{ max_connections: '17' }])
  await server.stop()
})

test('values of rows and parameters never reach the log', async () => {
  const server = await startEmbeddedDatabase({ dataDir })
  await query(server, 'create table secrets (code text primary key)')
  await query(server, 'insert into secrets values ($1)', ['planted-code'])
  await assert.rejects(query(server, 'insert into secrets values ($1)', ['planted-code']), { code: '23505' })
  await assert.rejects(query(server, 'select $1::text::int', ['planted-code']), { code: '22P02' })
  await assert.rejects(query(server, `select 'planted-code'::int`), { code: '22P02' })
  await server.stop()
  const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  assert.match(log, /ready to accept connections/)
  assert.doesNotMatch(log, /planted/)
})

test('a second process on the folder gets one clear sentence, and the first is unharmed', async () => {
  const server = await startEmbeddedDatabase({ dataDir })
  const sentence = `The data folder ${dataDir} is in use by another Perkline process (pid ${process.pid}): stop it first, or set DATA_DIR to another folder.`
  const second = owner(dataDir)
  assert.equal(await second.line(), `fault ${sentence}`)
  await assert.rejects(startEmbeddedDatabase({ dataDir }), { message: sentence })
  const third = owner(dataDir)
  assert.equal(await third.line(), `fault ${sentence}`)
  assert.deepEqual(await query(server, 'select word from kept'), [{ word: 'kept' }])
  await server.stop()
})

test('of simultaneous starts exactly one wins', async () => {
  const owners = [owner(dataDir), owner(dataDir), owner(dataDir)]
  const lines = await Promise.all(owners.map(one => one.line()))
  const winner = owners[lines.findIndex(line => line.startsWith('ready'))]
  assert.ok(winner)
  const losers = lines.filter(line => line.includes(`is in use by another Perkline process (pid ${winner.child.pid})`))
  assert.equal(losers.length, 2, lines.join('\n'))
  await winner.kill()
})

test('kill -9 of the owner loses no committed row, leaves no server and does not hinder the next start', async () => {
  const killed = owner(dataDir)
  assert.match(await killed.line(), /^ready/)
  let committed = 0
  while (committed < 100) committed = Number(await killed.line())
  const pid = serverPid(dataDir)
  await killed.kill()
  for (let line = await killed.line(); line !== 'closed'; line = await killed.line()) committed = Number(line)
  const server = await startEmbeddedDatabase({ dataDir })
  const [row] = await query<{ rows: number }>(server, 'select count(*)::int as rows from committed')
  assert.ok(row && row.rows >= committed, `${row?.rows} of ${committed}`)
  assert.ok(!isRunning(pid))
  await server.stop()
})

test('a server whose owner and watcher were killed is ended by the next start', { skip: !isLinux }, async () => {
  const killed = owner(dataDir)
  assert.match(await killed.line(), /^ready/)
  const pid = serverPid(dataDir)
  const watcher = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  const children = readFileSync(`/proc/${watcher}/task/${watcher}/children`, 'utf8').trim().split(' ').map(Number)
  for (const one of [...children.filter(child => child !== pid), watcher]) process.kill(one, 'SIGKILL')
  await killed.kill()
  await sleep(200)
  assert.ok(isRunning(pid), 'the orphan was to live')
  const server = await startEmbeddedDatabase({ dataDir })
  assert.ok(!isRunning(pid))
  assert.notEqual(serverPid(dataDir), pid)
  await server.stop()
})

test('a stale postmaster.pid does not hinder a start, even if its process id has gone to another program', async () => {
  const { uid, gid } = statSync(join(dataDir, 'postgres'))
  const stranger = spawn('sleep', ['60'], { uid, gid })
  started.push(stranger)
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  await writeFile(pidFile, `${stranger.pid}\n${join(dataDir, 'postgres')}\n1\n5432\n\n\n0 0\nready   \n`, {
    mode: 0o600,
  })
  await chown(pidFile, uid, gid)
  const server = await startEmbeddedDatabase({ dataDir })
  assert.ok(isRunning(stranger.pid))
  await server.stop()
})

test('Ctrl-C reaches our process but not the server', async () => {
  const interrupted = owner(dataDir, { detached: true })
  assert.match(await interrupted.line(), /^ready/)
  await interrupted.line()
  process.kill(-(interrupted.child.pid ?? 0), 'SIGINT')
  let line = ''
  while (line !== 'interrupted' && line !== 'closed') line = await interrupted.line()
  // 300 more commits show that the server is not shutting down; otherwise it would stop long before.
  for (let commits = 0; commits < 300; commits++) assert.match(await interrupted.line(), /^\d+$/)
  await interrupted.kill()
})

test('when the server ends by itself, its last output is reported, and the folder is free again', async () => {
  const server = await startEmbeddedDatabase({ dataDir })
  process.kill(serverPid(dataDir), 'SIGINT')
  assert.match(await server.ended, /ended by itself \(exit code 0\)[\s\S]*database system is shut down/)
  await server.stop()
  await (await startEmbeddedDatabase({ dataDir })).stop()
})

test('when the server dies at its start, its last output is reported', async () => {
  await assert.rejects(startEmbeddedDatabase({ dataDir, settings: { shared_buffers: 'plenty' } }), {
    message: /ended by itself \(exit code 1\)[\s\S]*invalid value for parameter "shared_buffers"/,
  })
})

test('the log is emptied at start when it has grown over 10 MB', async () => {
  await writeFile(join(dataDir, 'postgres.log'), Buffer.alloc(10 * 1024 * 1024 + 1, '.'))
  await (await startEmbeddedDatabase({ dataDir })).stop()
  assert.ok(statSync(join(dataDir, 'postgres.log')).size < 100_000)
})

test('a socket path that is too long is replaced by a private folder, removed afterwards even by kill -9', async () => {
  const long = join(root, 'l'.repeat(100))
  await mkdir(long)
  const server = await startEmbeddedDatabase({ dataDir: long })
  const { host } = server.connection
  assert.ok(!host.startsWith(long))
  assert.equal(statSync(host).mode & 0o777, 0o700)
  await query(server, 'select')
  await server.stop()
  assert.ok(!existsSync(host))
  const again = await startEmbeddedDatabase({ dataDir: long, socketFolder: host })
  assert.equal(again.connection.host, host)
  await query(again, 'select')
  await again.stop()

  const killed = owner(long)
  const folder = (await killed.line()).split(' ')[1] ?? ''
  assert.ok(existsSync(folder))
  await killed.kill()
  await until(() => !existsSync(folder))
})

test('a cluster that a crash left half-made is not taken but made anew', async () => {
  const crashed = join(root, 'crashed')
  const killed = owner(crashed)
  const drafts = () =>
    existsSync(crashed) ? readdirSync(crashed).filter(entry => entry.startsWith('postgres.new')) : []
  await until(() => drafts().some(draft => existsSync(join(crashed, draft, 'PG_VERSION'))))
  await killed.kill()
  assert.ok(!existsSync(join(crashed, 'postgres')), 'it was to be killed before the end of initdb')
  const server = await startEmbeddedDatabase({ dataDir: crashed })
  assert.deepEqual(drafts(), [])
  await query(server, 'select')
  await server.stop()
})

test('a folder of another major version, or of none, is refused with a clear sentence', async () => {
  const foreign = join(root, 'foreign')
  await mkdir(join(foreign, 'postgres'), { recursive: true })
  await assert.rejects(startEmbeddedDatabase({ dataDir: foreign }), {
    message: /postgres holds no PostgreSQL database/,
  })
  await writeFile(join(foreign, 'postgres', 'PG_VERSION'), '16\n')
  await assert.rejects(startEmbeddedDatabase({ dataDir: foreign }), {
    message: /postgres was made by PostgreSQL 16, and this is PostgreSQL \d+: .*DATA_DIR/,
  })
})

test('a machine without a package is told to set DATABASE_URL', () => {
  assert.throws(() => packagedRuntime('sunos', 'sparc'), {
    message: /^There is no embedded database for sunos on sparc .*: set DATABASE_URL to a PostgreSQL server\.$/,
  })
})

test('as root, programs and data below folders of mode 700 work, and missing library links are made', {
  skip: !(isRoot && existsSync('/usr/bin/setpriv')) && 'needs root and setpriv',
}, async () => {
  const closed = join(root, 'closed')
  await mkdir(closed, { mode: 0o700 })
  const runtimeDir = await copyRuntime(closed)
  for (let start = 1; start <= 2; start++) {
    const server = await startEmbeddedDatabase({ dataDir: join(closed, 'data'), runtimeDir })
    await query(server, `create table start_${start} ()`)
    assert.notEqual(statSync(join(closed, 'data', 'postgres')).uid, 0)
    await server.stop()
  }
  assert.equal(statSync(closed).mode & 0o777, 0o700)
  assert.ok((await lstat(join(runtimeDir, 'lib', 'libpq.so.5'))).isSymbolicLink())
})

test('an ordinary user may start it, from a package that it may not write to', { skip: !isLinux }, async t => {
  const user = isRoot ? { uid: idOf('-u', 'nobody'), gid: idOf('-g', 'nobody') } : {}
  const reach = spawnSync(process.execPath, ['-e', `fs.readFileSync(${JSON.stringify(thisFile)})`], {
    ...user,
    cwd: '/',
  })
  if (reach.status !== 0) return t.skip('the checkout is out of reach for an ordinary user')
  const folder = join(root, 'ordinary')
  await mkdir(folder, { mode: 0o755 })
  const runtimeDir = await copyRuntime(folder)
  await chmod(join(runtimeDir, 'lib'), 0o555)
  const data = join(folder, 'data')
  await mkdir(data)
  if (user.uid !== undefined) await chown(data, user.uid, user.gid)
  const ordinary = owner(data, { ...user, runtimeDir })
  assert.match(await ordinary.line(), /^ready/)
  await ordinary.line()
  await ordinary.kill()
  await chmod(join(runtimeDir, 'lib'), 0o755)
  assert.ok(!existsSync(join(runtimeDir, 'lib', 'libpq.so.5')))
})

/** A process that owns a server on the folder. */
function owner(folder: string, options: { detached?: boolean; uid?: number; gid?: number; runtimeDir?: string } = {}) {
  const { runtimeDir = '', ...spawned } = options
  const child = spawn(process.execPath, [thisFile, 'own', folder, runtimeDir], {
    ...spawned,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  const exit = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    /** The next line; `closed` when there are no more. */
    line: async () => String((await lines.next()).value ?? 'closed'),
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
  }
}

async function own(folder: string, runtimeDir?: string): Promise<never> {
  process.on('SIGINT', () => process.stdout.write('interrupted\n'))
  const server = await startEmbeddedDatabase({ dataDir: folder, ...(runtimeDir ? { runtimeDir } : {}) }).catch(
    error => {
      process.stdout.write(`fault ${error.message}\n`)
      process.exit(1)
    },
  )
  process.stdout.write(`ready ${server.connection.host}\n`)
  const client = new pg.Client(server.connection)
  await client.connect()
  await client.query('create table if not exists committed (row bigint generated always as identity)')
  for (;;) {
    const { rows } = await client.query('insert into committed default values returning row')
    process.stdout.write(`${rows[0].row}\n`)
  }
}

async function query<Row extends object>(server: EmbeddedServer, text: string, values?: unknown[]): Promise<Row[]> {
  const client = new pg.Client(server.connection)
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Copies the server's programs as npm unpacks them: without the symbolic links between their libraries. */
async function copyRuntime(folder: string): Promise<string> {
  const copy = join(folder, 'native')
  const filter = async (path: string) => !(await lstat(path)).isSymbolicLink()
  await cp(packagedRuntime(process.platform, process.arch), copy, { recursive: true, filter })
  return copy
}

function serverPid(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)
}

function isRunning(pid: number | undefined): boolean {
  if (isLinux) return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return spawnSync('ps', ['-p', String(pid)]).status === 0
}

function idOf(flag: string, user: string): number {
  return Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout)
}

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt++) {
    assert.ok(attempt < 2000, 'it never came to hold')
    await sleep(5)
  }
}
