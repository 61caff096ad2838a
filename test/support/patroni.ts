/** Three PostgreSQL servers under Patroni, one etcd and a haproxy that leads to the primary, from the files in `deploy/postgres`. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from './free-port.ts'

const files = fileURLToPath(new URL('../../deploy/postgres/', import.meta.url))
export const binaries = '/usr/lib/postgresql/15/bin'
const user = 'perkline'

type Member = { name: string; port: number; api: number; patroni: ChildProcess; data: string }
export type PatroniCluster = {
  /** Through haproxy. */
  databaseUrl: string
  /** @returns the member that is the primary now */
  primary(): Promise<Member>
  /** Whether one standby flushes each acknowledged write. */
  hasStandby(): Promise<boolean>
  /** SIGKILL for Patroni and PostgreSQL, as if the machine had lost its power. */
  kill(member: Member): Promise<void>
  /** The machine is back. */
  revive(member: Member): void
  close(): Promise<void>
}

/** PostgreSQL refuses to run as root. */
export const asPostgres = (program: string, args: string[]): [string, string[]] =>
  process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, args]

export async function startPatroni(): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-patroni-'))
  chmodSync(folder, 0o755)
  const children: ChildProcess[] = []
  const start = (program: string, args: string[], env: Record<string, string> = {}): ChildProcess => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore', env: { ...process.env, ...env } })
    children.push(child)
    return child
  }
  const [etcd, peer, listen] = [await freePort(), await freePort(), await freePort()]
  const at = (port: number) => `http://127.0.0.1:${port}`
  start('etcd', [
    ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', at(etcd), '--advertise-client-urls', at(etcd)],
    ...[
      '--listen-peer-urls',
      at(peer),
      '--initial-advertise-peer-urls',
      at(peer),
      '--initial-cluster',
      `default=${at(peer)}`,
    ],
  ])
  const passwords = { SUPERUSER_PASSWORD: secret(), REPLICATION_PASSWORD: secret(), REWIND_PASSWORD: secret() }
  const run = (name: string) => start(...asPostgres('patroni', [join(folder, name, 'patroni.yml')]))
  const members: Member[] = []
  for (const name of ['one', 'two', 'three']) {
    const own = { name, port: await freePort(), api: await freePort(), data: join(folder, name, 'data') }
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'patroni.yml'), configOf({ ...own, folder: join(folder, name), etcd, passwords }))
    if (process.getuid?.() === 0) giveToPostgres(join(folder, name), join(folder, name, 'patroni.yml'))
    members.push({ ...own, patroni: run(name) })
  }
  const isPrimary = async ({ api }: Member): Promise<boolean> =>
    fetch(`${at(api)}/primary`).then(
      ({ status }) => status === 200,
      () => false,
    )
  const primary = async (): Promise<Member> => {
    for (const member of members) if (await isPrimary(member)) return member
    throw new Error('There is no primary')
  }
  const syncStandbys = async (): Promise<number> => {
    const answers = await Promise.all(
      members.map(({ api }) =>
        fetch(`${at(api)}/sync`).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    )
    return answers.filter(status => status === 200).length
  }
  const cluster: PatroniCluster = {
    hasStandby: async () => (await syncStandbys()) === 1,
    databaseUrl: `postgres://${user}:${user}@127.0.0.1:${listen}/${user}`,
    primary,
    async kill(member) {
      const [pid] = readFileSync(join(member.data, 'postmaster.pid'), 'utf8').split('\n')
      const gone = once(member.patroni, 'exit')
      // Patroni first: it would start the server again.
      process.kill(-(member.patroni.pid ?? 0), 'SIGKILL')
      process.kill(Number(pid), 'SIGKILL')
      await gone
    },
    revive(member) {
      member.patroni = run(member.name)
    },
    async close() {
      for (const { data } of members) stopServer(data)
      for (const { pid } of children) if (pid) killGroup(pid)
      for (const { data } of members) stopServer(data)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  try {
    await eventually(
      'there is a primary',
      async () => (await Promise.all(members.map(isPrimary))).includes(true),
      60_000,
    )
    await eventually('there is a synchronous standby', async () => (await syncStandbys()) === 1, 60_000)
    const { port } = await primary()
    const admin = new pg.Client({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      password: passwords.SUPERUSER_PASSWORD,
      database: 'postgres',
    })
    await admin.connect()
    await admin.query(`create role ${user} login password '${user}'`)
    await admin.query(`create database ${user} owner ${user}`)
    await admin.end()
    const addresses = members.flatMap(({ port, api }, index) => [
      [`DB_${index + 1}`, `127.0.0.1:${port}`],
      [`API_HOST_${index + 1}`, '127.0.0.1'],
      [`API_PORT_${index + 1}`, String(api)],
    ])
    start('haproxy', ['-db', '-q', '-f', join(files, 'haproxy.cfg')], {
      LISTEN: `127.0.0.1:${listen}`,
      ...Object.fromEntries(addresses),
    })
    await eventually('haproxy leads to it', () => answers(cluster.databaseUrl), 30_000)
    return cluster
  } catch (error) {
    await cluster.close()
    throw error
  }
}

/** @throws Error when it does not hold in time */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`Within ${withinMs} ms it never came true: ${what}`)
    await sleep(200)
  }
}

const secret = (): string => randomBytes(12).toString('hex')

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** The file as it is shipped, with the values of one member. */
function configOf(given: {
  name: string
  port: number
  api: number
  data: string
  folder: string
  etcd: number
  passwords: Record<string, string>
}): string {
  const values: Record<string, string> = {
    NAME: given.name,
    HOST: '127.0.0.1',
    PORT: String(given.port),
    ETCD_HOSTS: `127.0.0.1:${given.etcd}`,
    ARCHIVE_COMMAND: '/bin/true',
    DATA_DIR: given.data,
    BIN_DIR: binaries,
    SOCKET_DIR: given.folder,
    NETWORK: '127.0.0.1/32',
    ...given.passwords,
  }
  return readFileSync(join(files, 'patroni.yml'), 'utf8')
    .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
    .replaceAll(':8008', `:${given.api}`)
}

export function giveToPostgres(...paths: string[]): void {
  const [uid = 0, gid = 0] = ['-u', '-g'].map(option =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' })),
  )
  for (const path of paths) chownSync(path, uid, gid)
}

function stopServer(data: string): void {
  try {
    const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(pid), 'SIGKILL')
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
