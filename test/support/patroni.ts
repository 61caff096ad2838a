/**
 * Starts three PostgreSQL servers under Patroni, one or more etcd servers, and a haproxy that leads to the primary, with the
 * files in `deploy/postgres`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { type Link, openLink } from './link.ts'

const files = fileURLToPath(new URL('../../deploy/postgres/', import.meta.url))
export const binaries = '/usr/lib/postgresql/15/bin'
const user = 'perkline'
const names = ['one', 'two', 'three']
/** The folder for the logs of all members, of etcd, haproxy and the platform. Without it they are lost. */
const logs = process.env.HA_LOGS
/** @returns an open file for the log of a program, if logs are kept */
export const logOf = (name: string): number | undefined => (logs ? openSync(join(logs, `${name}.log`), 'a') : undefined)
/** The time limit of a request to Patroni. A frozen machine never answers. */
const answerWithinMs = 3_000
const at = (port: number) => `http://127.0.0.1:${port}`

export type Member = {
  name: string
  port: number
  api: number
  patroni: ChildProcess
  data: string
  /** The network links from this member's machine to etcd, and from the other machines to it. */
  links: Link[]
}
export type PatroniCluster = {
  /** The address through haproxy. */
  databaseUrl: string
  members: readonly Member[]
  /**
   * Waits until there is a primary.
   * @returns its member
   */
  primary(): Promise<Member>
  /** Whether there is a synchronous standby, which has each acknowledged write on its disk. */
  hasStandby(): Promise<boolean>
  /** SIGKILL for Patroni and PostgreSQL, as in a power failure. */
  kill(member: Member): Promise<void>
  /**
   * Stops sending the write-ahead log to the standbys, and waits until etcd knows a position in it that no standby has
   * reached. This happens in practice when a machine’s network fails shortly before the machine.
   */
  outrun(member: Member): Promise<void>
  /** SIGKILL for PostgreSQL alone. */
  killServer(member: Member): void
  /** Starts the machine again. */
  revive(member: Member): void
  /** SIGSTOP for everything on the machine, or SIGCONT. */
  freeze(member: Member): void
  thaw(member: Member): void
  /** The role of each member as the others know it: `leader`, `sync_standby`, `replica`. */
  roles(): Promise<Record<string, string>>
  /** Whether all three members run, and one of them is the synchronous standby. */
  isWhole(): Promise<boolean>
  metrics(member: Member): Promise<string>
  /**
   * Sends a request to Patroni.
   * @throws Error when it refuses
   */
  ask(member: Member, method: string, path: string, body: object): Promise<void>
  /** Kills this many of the etcd servers with SIGKILL. */
  loseEtcd(count: number): Promise<void>
  /** Starts the killed etcd servers again. */
  regainEtcd(): void
  close(): Promise<void>
}
export type ClusterOptions = {
  /** The number of etcd servers; default: one. */
  etcds?: number
  /** Whether members can be cut off. If not, they connect to each other directly, which is faster. */
  cuttable?: boolean
  /** The folder of each member; default: one temporary folder. */
  folders?: readonly string[]
}

/** PostgreSQL refuses to run as root. */
export const asPostgres = (program: string, args: string[]): [string, string[]] =>
  process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, args]

export async function startPatroni(options: ClusterOptions = {}): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-patroni-'))
  chmodSync(folder, 0o755)
  const children: ChildProcess[] = []
  const start = (program: string, args: string[], env: Record<string, string> = {}, name = program): ChildProcess => {
    const log = logOf(name) ?? 'ignore'
    const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } })
    children.push(child)
    return child
  }
  const listen = await freePort()
  const etcd = await startEtcd(join(folder, 'etcd'), options.etcds ?? 1, start)
  const passwords = {
    ...{ SUPERUSER_PASSWORD: secret(), REPLICATION_PASSWORD: secret(), REWIND_PASSWORD: secret() },
    API_PASSWORD: secret(),
  }
  const folderOf = (index: number, name: string) => join(options.folders?.[index] ?? folder, name)
  const run = (name: string) =>
    start(...asPostgres('patroni', [join(folderOf(names.indexOf(name), name), 'patroni.yml')]), {}, name)
  const members: Member[] = []
  for (const [index, name] of names.entries()) {
    const own = folderOf(index, name)
    const [port, api] = [await freePort(), await freePort()]
    const links = options.cuttable ? await openLinks(port, api, etcd.ports) : null
    const seen = links ? { port: links.port, api: links.api } : { port, api }
    const given = {
      name,
      port,
      api,
      data: join(own, 'data'),
      folder: own,
      etcds: links?.etcds ?? etcd.ports,
      seen,
      passwords,
    }
    mkdirSync(own)
    writeFileSync(join(own, 'patroni.yml'), configOf(given))
    if (process.getuid?.() === 0) giveToPostgres(own, join(own, 'patroni.yml'))
    members.push({ name, port, api, data: given.data, patroni: run(name), links: links?.all ?? [] })
  }
  const isPrimary = async ({ api }: Member): Promise<boolean> =>
    fetch(`${at(api)}/primary`, { signal: AbortSignal.timeout(answerWithinMs) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  const primary = async (): Promise<Member> => {
    let found: Member | undefined
    const find = async () => {
      for (const member of members) if (!found && (await isPrimary(member))) found = member
      return found !== undefined
    }
    await eventually('there is a primary', find, 60_000)
    return found as unknown as Member
  }
  const syncStandbys = async (): Promise<number> => {
    const answers = await Promise.all(
      members.map(({ api }) =>
        fetch(`${at(api)}/sync`, { signal: AbortSignal.timeout(answerWithinMs) }).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    )
    return answers.filter(status => status === 200).length
  }
  /**
   * Returns the position in the primary's write-ahead log that etcd knows: the primary has written at least that far.
   */
  const writtenAsKnown = async (): Promise<number> => {
    const answer = await fetch(`${at(etcd.ports[0] as number)}/v2/keys/perkline/perkline/status`)
    const { node } = (await answer.json()) as { node: { value: string } }
    return JSON.parse(node.value).optime
  }
  const known = async () => {
    const { api } = await primary()
    const answer = await fetch(`${at(api)}/cluster`, { signal: AbortSignal.timeout(answerWithinMs) }).catch(() => null)
    const { members } = answer
      ? ((await answer.json()) as { members: Record<'name' | 'role' | 'state', string>[] })
      : {}
    return members ?? []
  }
  /**
   * Counts the standbys that receive the write-ahead log from the primary now. It asks the primary, because the states in
   * etcd are up to `loop_wait` old and may show a standby as running that is being rewound.
   */
  const streaming = async (): Promise<number> => {
    const { api } = await primary()
    const answer = await fetch(`${at(api)}/patroni`, { signal: AbortSignal.timeout(answerWithinMs) }).catch(() => null)
    const { replication = [] } = answer ? ((await answer.json()) as { replication?: { state: string }[] }) : {}
    return replication.filter(({ state }) => state === 'streaming').length
  }
  const cluster: PatroniCluster = {
    hasStandby: async () => (await syncStandbys()) === 1,
    members,
    databaseUrl: `postgres://${user}:${user}@127.0.0.1:${listen}/${user}`,
    primary,
    async kill(member) {
      const gone = once(member.patroni, 'exit')
      // End Patroni first, because it would start the server again.
      process.kill(-(member.patroni.pid ?? 0), 'SIGKILL')
      endAll(serverOf(member))
      await gone
    },
    async outrun(member) {
      const isAhead = async () => {
        // Stop the senders again each time: a standby that receives nothing for 5 s connects again, and its new sender
        // runs.
        for (const pid of sendersOf(member)) process.kill(pid, 'SIGSTOP')
        const written = await writtenAsKnown()
        return (await receivedBy(members.filter(each => each !== member))).every(received => received < written)
      }
      await eventually('it has written more than its standbys have', isAhead, 60_000)
    },
    killServer: member => endAll(serverOf(member).slice(0, 1)),
    revive(member) {
      member.patroni = run(member.name)
    },
    freeze: member => signalMachine(member, 'SIGSTOP'),
    thaw: member => signalMachine(member, 'SIGCONT'),
    async ask({ api }, method, path, body) {
      const authorization = `Basic ${Buffer.from(`perkline:${passwords.API_PASSWORD}`).toString('base64')}`
      const answer = await fetch(at(api) + path, { method, headers: { authorization }, body: JSON.stringify(body) })
      const text = await answer.text()
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    },
    roles: async () => Object.fromEntries((await known()).map(({ name, role }) => [name, role])),
    isWhole: async () => (await streaming()) === names.length - 1 && (await cluster.hasStandby()),
    metrics: async ({ api }) => (await fetch(`${at(api)}/metrics`)).text(),
    loseEtcd: etcd.lose,
    regainEtcd: etcd.regain,
    async close() {
      for (const member of members) {
        endAll(serverOf(member))
        for (const link of member.links) link.close()
      }
      endAll(children.flatMap(({ pid }) => (pid ? [-pid] : [])))
      for (const member of members) endAll(serverOf(member))
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

/** @returns ports of servers of etcd that know each other, and functions to end and start them */
async function startEtcd(
  folder: string,
  count: number,
  start: (program: string, args: string[]) => ChildProcess,
): Promise<{ ports: number[]; lose(count: number): Promise<void>; regain(): void }> {
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      ...{ name: `etcd-${index}`, client: await freePort(), peer: await freePort() },
    })),
  )
  const all = servers.map(({ name, peer }) => `${name}=${at(peer)}`).join(',')
  const run = ({ name, client, peer }: (typeof servers)[number]) =>
    start('etcd', [
      ...['--enable-v2', '--name', name, '--data-dir', join(folder, name), '--initial-cluster', all],
      ...['--listen-client-urls', at(client), '--advertise-client-urls', at(client)],
      ...['--listen-peer-urls', at(peer), '--initial-advertise-peer-urls', at(peer)],
    ])
  mkdirSync(folder, { recursive: true })
  const running = servers.map(run)
  let lost: number[] = []
  return {
    ports: servers.map(({ client }) => client),
    async lose(howMany) {
      lost = Array.from({ length: howMany }, (_, index) => index)
      for (const index of lost) {
        const child = running[index] as ChildProcess
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }
    },
    regain() {
      for (const index of lost) running[index] = run(servers[index] as (typeof servers)[number])
      lost = []
    },
  }
}

/** The links by which a member and the others reach each other. Clients of the database have links of their own. */
async function openLinks(port: number, api: number, etcds: number[]) {
  const [toServer, toApi] = [await openLink(port), await openLink(api)]
  const toEtcd = await Promise.all(etcds.map(openLink))
  return {
    port: toServer.port,
    api: toApi.port,
    etcds: toEtcd.map(link => link.port),
    all: [toServer, toApi, ...toEtcd],
  }
}

/** @returns the process ids of the database server and of what it has started; none if it does not run */
function serverOf({ data }: Member): number[] {
  try {
    const [server = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const backends = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ')
    return [server, ...backends].filter(each => each !== '').map(Number)
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return []
  }
}

/** The processes of the server that send the write-ahead log to its standbys. */
const sendersOf = (member: Member): number[] =>
  serverOf(member).filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walsender'))

/** Asks each standby how much of the write-ahead log it has received. */
const receivedBy = (standbys: readonly Member[]): Promise<number[]> =>
  Promise.all(
    standbys.map(async ({ api }) => {
      const answer = await fetch(`${at(api)}/patroni`, { signal: AbortSignal.timeout(answerWithinMs) })
      return ((await answer.json()) as { xlog: { received_location: number } }).xlog.received_location
    }),
  )

/** Sends a signal to Patroni, the database server and all processes that they have started. */
function signalMachine(member: Member, signal: NodeJS.Signals): void {
  const server = serverOf(member)
  process.kill(-(member.patroni.pid ?? 0), signal)
  for (const pid of server) process.kill(pid, signal)
}

/** @throws Error when the condition does not hold in time */
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

/** Returns the shipped configuration with the values of one member. */
function configOf(given: {
  name: string
  port: number
  api: number
  data: string
  folder: string
  etcds: number[]
  /** The ports by which the others reach the member. */
  seen: { port: number; api: number }
  passwords: Record<string, string>
}): string {
  const values: Record<string, string> = {
    NAME: given.name,
    HOST: '127.0.0.1',
    PORT: String(given.port),
    ETCD_HOSTS: given.etcds.map(port => `127.0.0.1:${port}`).join(','),
    ARCHIVE_COMMAND: '/bin/true',
    DATA_DIR: given.data,
    BIN_DIR: binaries,
    SOCKET_DIR: given.folder,
    NETWORK: '127.0.0.1/32',
    ...given.passwords,
  }
  return (
    readFileSync(join(files, 'patroni.yml'), 'utf8')
      .replace(/connect_address: .*:8008/, `connect_address: 127.0.0.1:${given.seen.api}`)
      .replace(/connect_address: \S+PORT\}/, `connect_address: 127.0.0.1:${given.seen.port}`)
      // Without this setting, Patroni would ask etcd for its addresses and connect to them directly, without our links.
      .replace(/^etcd:/m, given.seen.port === given.port ? 'etcd:' : 'etcd:\n  use_proxies: true')
      .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
      .replaceAll(':8008', `:${given.api}`)
  )
}

export function giveToPostgres(...paths: string[]): void {
  const [uid = 0, gid = 0] = ['-u', '-g'].map(option =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' })),
  )
  for (const path of paths) chownSync(path, uid, gid)
}

/** SIGKILL for processes that have not ended; a negative id stands for a group. */
function endAll(pids: number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}
