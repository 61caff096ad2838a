/**
 * The embedded database: a real PostgreSQL server on our data folder, reached over a private Unix socket. It starts and ends with
 * this process. The data folder holds `postgres` (the cluster), `run` (the socket), `postgres.log`, `postgres.lock` and
 * `postgres.owner` (who uses the folder).
 */
import type { ChildProcess } from 'node:child_process'
import { chown, mkdir, mkdtemp, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { endOrphan, runningServer, signal, takeFolder } from './folder.ts'
import { openRuntime, type Runtime, type SystemUser } from './runtime.ts'

export type EmbeddedServer = {
  /** The connection settings for `pg`; the host is the folder of the socket. */
  connection: { host: string; port: number; user: string; database: string; password?: string; ssl: false }
  /** Shuts the server down, open sessions included; resolves when it has ended. May be called again. */
  stop(): Promise<void>
  /** Resolves with the reason when the server ends without `stop`; never after `stop`. */
  ended: Promise<string>
}

const name = 'perkline'
const superuser = 'postgres'
const port = 5432
const socketPathBytes = 103 // macOS; Linux has 107
const logBytes = 10 * 1024 * 1024
const readyTimeoutMs = 300_000 // replaying the log of a busy hour may take minutes
const stopTimeoutMs = 20_000

const fixedSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: String(port),
  max_connections: '60',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  wal_buffers: '16MB',
  min_wal_size: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  jit: 'off',
  // Parallel query plans take processors from other requests. They also need shared memory, which containers limit to
  // 64 MB.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  // Messages about statements and their errors contain stored values (contract/reliability.md, "Facts"), so only messages about
  // the server itself are logged.
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_lock_waits: 'off',
  log_checkpoints: 'off',
}

/**
 * Starts the server on the cluster in `<dataDir>/postgres`. The first start creates the cluster, with the database and
 * the role `perkline`.
 *
 * @param options.dataDir the data folder, made if missing
 * @param options.settings PostgreSQL settings that are added to ours or replace them
 * @param options.socketFolder the socket's folder (`connection.host`) of the server that this one replaces; it is used
 *   again, so that the address stays the same
 * @param options.runtimeDir folder with PostgreSQL's `bin`, `lib` and `share`; default: the npm package for this
 *   machine
 * @throws Error with one sentence for the person who starts us: the folder is in use, was made by another major version
 *   or belongs to another user; no programs for this machine; the server ended at once (with the last lines of its log)
 */
export async function startEmbeddedDatabase(options: {
  dataDir: string
  settings?: Record<string, string>
  runtimeDir?: string
  socketFolder?: string
}): Promise<EmbeddedServer> {
  const { settings = {}, runtimeDir, socketFolder } = options
  // Other users may enter the folder, but not list it (mode 711). If this process is root, the server runs as another
  // user, who must enter it.
  await mkdir(resolve(options.dataDir), { recursive: true, mode: 0o711 }).catch((error: Error) => {
    throw new Error(`The data folder can't be made (${error.message}): set DATA_DIR to another one`)
  })
  const dataDir = await realpath(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  // Check the owner before taking the lock. In a folder of another user, taking the lock would fail, but the error
  // would not name the cause.
  await clusterOwner(cluster)
  const release = await takeFolder(dataDir)
  try {
    const owner = await clusterOwner(cluster)
    const runtime = await openRuntime({ dataDir, owner, runtimeDir })
    await endOrphan(cluster)
    if (!owner) await makeCluster(runtime, dataDir, cluster)
    await checkVersion(runtime, cluster)
    return await runServer(runtime, { dataDir, cluster, settings, socketFolder, release })
  } catch (error) {
    await release()
    throw error
  }
}

async function clusterOwner(cluster: string): Promise<SystemUser | undefined> {
  const found = await stat(cluster).catch(() => undefined)
  if (!found) return undefined
  const us = process.getuid?.()
  if (us !== 0 && us !== found.uid)
    throw new Error(
      `The database folder ${cluster} belongs to another user (${found.uid}): start Perkline as that user or as root, or set DATA_DIR to another folder.`,
    )
  return { uid: found.uid, gid: found.gid }
}

/**
 * Makes the cluster in a temporary folder, and renames this folder once the cluster is complete and on disk. So a crash never
 * leaves half a cluster.
 */
async function makeCluster(runtime: Runtime, dataDir: string, cluster: string): Promise<void> {
  const prefix = 'postgres.new-'
  for (const entry of await readdir(dataDir))
    if (entry.startsWith(prefix)) await rm(join(dataDir, entry), { recursive: true, force: true, maxRetries: 5 })
  const draft = await mkdtemp(join(dataDir, prefix))
  await giveTo(runtime.user, draft)
  const access = ['--username', superuser, '--auth-local=trust', '--auth-host=reject']
  const args = ['--pgdata', draft, ...access, '--encoding=UTF8', '--locale=C', '--no-instructions']
  const child = runtime.launch('initdb', args, { output: 'pipe' })
  const [exit, , complaint] = await Promise.all([exitOf(child), textOf(child.stdout), textOf(child.stderr)])
  if (exit !== 'exit code 0') {
    await rm(draft, { recursive: true, force: true })
    throw new Error(`The database could not be made in ${dataDir} (initdb: ${exit}):\n${lastLines(complaint)}`)
  }
  await rename(draft, cluster)
  await using folder = await open(dataDir)
  await folder.sync()
}

async function checkVersion(runtime: Runtime, cluster: string): Promise<void> {
  const made = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  if (made === runtime.version) return
  const problem = made
    ? `was made by PostgreSQL ${made}, and this is PostgreSQL ${runtime.version}: carry its data over with pg_dump`
    : 'holds no PostgreSQL database: move it away'
  throw new Error(`The database folder ${cluster} ${problem}, or set DATA_DIR to another folder.`)
}

async function runServer(
  runtime: Runtime,
  place: {
    dataDir: string
    cluster: string
    settings: Record<string, string>
    socketFolder: string | undefined
    release: () => Promise<void>
  },
): Promise<EmbeddedServer> {
  const { dataDir, cluster, release } = place
  const socket = await makeSocketFolder(runtime.user, dataDir, place.socketFolder)
  const log = await openLog(dataDir)
  const child = runtime.launch('postgres', serverArguments(cluster, socket.folder, place.settings), {
    output: log.fd,
    temporaryFolder: socket.temporary ? socket.folder : undefined,
  })
  log.close()

  let stopping: Promise<void> | undefined
  const { promise: ended, resolve: reportEnd } = Promise.withResolvers<string>()
  const life = new AbortController()
  const gone = exitOf(child).then(async exit => {
    // The watcher is a shell and a second process, which reads this pipe. If only the shell was killed, the second
    // process ends the server when the pipe closes.
    child.stdin?.end()
    const reason = `The embedded database ended by itself (${exit}). Its last words in ${log.path}:\n${await log.words()}`
    if (socket.temporary) await rm(socket.folder, { recursive: true, force: true })
    await release()
    life.abort(new Error(reason))
    if (!stopping) reportEnd(reason)
  })
  const stop = () => {
    stopping ??= endServer(child, gone, cluster)
    return stopping
  }

  const connection = { host: socket.folder, port, user: name, database: name, ssl: false as const }
  try {
    await untilReady(connection, life.signal)
  } catch (error) {
    await stop()
    throw error
  }
  return { connection, stop, ended }
}

function serverArguments(cluster: string, socketFolder: string, ownSettings: Record<string, string>): string[] {
  // The value of this setting is a list of folders. Quotes make a path with a comma or a space one entry.
  const unix_socket_directories = `"${socketFolder.replaceAll('"', '""')}"`
  const settings = Object.entries({ ...fixedSettings, unix_socket_directories, ...ownSettings })
  return ['-D', cluster, ...settings.flatMap(([key, value]) => ['-c', `${key}=${value}`])]
}

async function endServer(child: ChildProcess, gone: Promise<void>, cluster: string): Promise<void> {
  child.stdin?.end()
  const kill = async () => {
    const pid = await runningServer(cluster)
    if (pid) signal(pid, 'SIGQUIT')
  }
  const timer = setTimeout(() => kill().catch(() => {}), stopTimeoutMs)
  await gone
  clearTimeout(timer)
}

/**
 * The socket's folder is closed to all but the server's user and root, because the server accepts everybody who reaches the
 * socket.
 */
async function makeSocketFolder(user: SystemUser | undefined, dataDir: string, former: string | undefined) {
  const inside = join(dataDir, 'run')
  const temporary = Buffer.byteLength(`${inside}/.s.PGSQL.${port}`) > socketPathBytes
  if (!temporary) {
    await rm(inside, { recursive: true, force: true })
    await mkdir(inside, { mode: 0o700 })
  }
  // Do not use `recursive`: this must fail if somebody else has created the folder meanwhile.
  if (temporary && former) await mkdir(former, { mode: 0o700 })
  const folder = temporary ? (former ?? (await mkdtemp('/tmp/perkline-'))) : inside
  await giveTo(user, folder)
  return { folder, temporary }
}

async function openLog(dataDir: string) {
  const path = join(dataDir, 'postgres.log')
  const file = await open(path, 'a', 0o600)
  if ((await file.stat()).size > logBytes) await file.truncate()
  const { size: start } = await file.stat()
  return {
    path,
    fd: file.fd,
    close: () => file.close(),
    /** The last lines that the server logged since this start. */
    words: async () => lastLines((await readFile(path).catch(() => Buffer.of())).subarray(start).toString()),
  }
}

/**
 * Waits until the server accepts statements. Creates the role or database if a crash prevented it at the first start.
 */
async function untilReady(connection: EmbeddedServer['connection'], life: AbortSignal): Promise<void> {
  const retried = [undefined, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03']
  const giveUpAt = performance.now() + readyTimeoutMs
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 1.2, 250)) {
    life.throwIfAborted()
    try {
      return await query(connection, [])
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === '28000') await asSuperuser(connection, `create role ${name} login createdb`)
      else if (code === '3D000') await asSuperuser(connection, `create database ${name} owner ${name}`)
      else if (retried.includes(code) && performance.now() < giveUpAt) await sleep(waitMs)
      else throw error
    }
  }
}

function asSuperuser(connection: EmbeddedServer['connection'], statement: string): Promise<void> {
  return query({ ...connection, user: superuser, database: 'postgres' }, [statement])
}

async function query(connection: EmbeddedServer['connection'], statements: string[]): Promise<void> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

async function giveTo(user: SystemUser | undefined, path: string): Promise<void> {
  if (user) await chown(path, user.uid, user.gid)
}

/** `exit code 1`, `signal SIGKILL`, or why the program could not be started. */
function exitOf(child: ChildProcess): Promise<string> {
  child.stdin?.on('error', () => {})
  return new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
  })
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream ? text(stream as NodeJS.ReadStream) : ''
}

function lastLines(words: string): string {
  return words.trim().split('\n').slice(-10).join('\n')
}
