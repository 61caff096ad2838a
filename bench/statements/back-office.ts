/**
 * Reads of a bank's back office: one order by externalId, all orders as a file, a statement's file.
 * The bank has a million orders, and one statement that contains all its sales.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Bench, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { clients } from '../pgbench.ts'
import { startPlatform } from '../platform.ts'
import { memoryOf, runProgram, stopProcess } from '../processes.ts'
import type { Read, Reading } from '../reader.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { tokenOf } from '../scale/sides.ts'
import { keptWorld } from '../scale/world.ts'

const name = 'bench_back_office'
const targets = { lookUp: 0.7, ordersTimes: 2, ordersMb: 64, ordersFirstByteMs: 100, statement: 0.7 }
/**
 * The number of orders that are looked up. A process caches fewer orders, so each order is read from the database.
 */
const lookedUp = 15_000
const keptInMemory = 500
const reader = fileURLToPath(new URL('../reader.ts', import.meta.url))
const fileServer = fileURLToPath(new URL('../file-server.ts', import.meta.url))

type Office = { port: number; pid: number | undefined; token: string; client: pg.Client; orders: number }

const parts: Record<string, (bench: Bench, office: Office) => Promise<Figure[]>> = {
  'look-ups': lookUps,
  'orders-csv': exportOrders,
  file: async (bench, office) => [await download(bench, office)],
}
export const officeParts: readonly string[] = Object.keys(parts)

/** @param chosen the names of the parts to measure */
export async function measureBackOffice(bench: Bench, chosen: readonly string[]): Promise<Figure[]> {
  if (chosen.length === 0) return []
  const orders = bench.quick ? 50_000 : 1_300_000
  const keys = await keptWorld(bench, name, { orders, profiles: orders, campaigns: 1_000, banks: 16, share: 80 })
  const url = bench.server.url(name)
  const settings = {
    DATABASE_URL: url,
    DATA_DIR: bench.folder,
    MASTER_KEY: keys.masterKey,
    OPERATOR_KEY: keys.operatorKey,
  }
  return using(startPlatform(settings), async platform => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const token = await tokenOf(platform.url, keys.operatorKey, { bank: 'big', role: 'ADMIN' })
      const office = { port: platform.port, pid: platform.child.pid, token, client, orders: await countOrders(client) }
      const figures: Figure[] = []
      for (const [part, measure] of Object.entries(parts))
        if (chosen.includes(part)) figures.push(...(await measure(bench, office)))
      return figures
    } finally {
      await client.end()
    }
  })
}

const ofBig = `bank_id = (select bank_id from banks where code = 'big')`

async function countOrders(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as orders from orders where ${ofBig}`)
  return rows[0].orders
}

type Named = { orderId: string; externalId: string }

async function lookUps(bench: Bench, office: Office): Promise<Figure[]> {
  const { rows } = await office.client.query<Named>(
    `select order_id as "orderId", external_id as "externalId" from orders where ${ofBig} and status = 'confirmed'
     order by hashint8(hashtext(order_id::text)) limit ${lookedUp}`,
  )
  return [
    await lookUp(bench, office, { name: 'neither in memory', orders: rows, isAwake: false }),
    await lookUp(bench, office, { name: 'again and again', orders: rows.slice(0, keptInMemory), isAwake: true }),
  ]
}

async function lookUp(
  bench: Bench,
  { port, token }: Office,
  { name, orders, isAwake }: { name: string; orders: readonly Named[]; isAwake: boolean },
): Promise<Figure> {
  const rate = (what: string, paths: string[]) => {
    const file = join(bench.folder, `${what}.txt`)
    writeFileSync(file, paths.join('\n'))
    const load = { kind: 'get', file } as const
    return (seconds: number) =>
      rateOf({ ports: [port], token, connections: clients, seconds, load, awake: isAwake }, 'get')
  }
  const byExternalId = rate(
    'external-ids',
    orders.map(({ externalId }) => `/partner/v1/orders/by-external-id?externalId=${externalId}`),
  )
  const byId = rate(
    'order-ids',
    orders.map(({ orderId }) => `/esim/v1/orders/${orderId}`),
  )
  // These reads warm up both sides and are not measured. A platform needs some seconds to notice that the tables have
  // grown. After that, PostgreSQL makes new plans for the platform's queries.
  await byExternalId(6)
  await byId(1)
  const { ours, limit, ratio } = await compare(
    bench.rounds,
    () => byExternalId(bench.seconds / 2),
    () => byId(bench.seconds / 2),
  )
  return {
    name: `an order by its externalId, against GET /esim/v1/orders/{orderId}, ${name}`,
    ours: `${Math.round(ours)}/s`,
    limit: `${Math.round(limit)}/s`,
    ratio,
    target: `>= ${targets.lookUp}`,
    pass: ratio >= targets.lookUp,
  }
}

async function read({ port, token }: Pick<Office, 'port' | 'token'>, path: string): Promise<Read> {
  const reading: Reading = { port, path, token, atOnce: 1, headers: { Connection: 'close' } }
  const [found] = JSON.parse(await runProgram(process.execPath, [reader, JSON.stringify(reading)])) as Read[]
  if (!found) throw new Error('Nothing was read')
  return found
}

async function exportOrders(bench: Bench, office: Office): Promise<Figure[]> {
  const what = `orders.csv of ${office.orders.toLocaleString('en')} orders`
  // The first read is not measured, because it makes the process's memory grow more than later reads do.
  await read(office, '/partner/v1/orders.csv')
  let [firstByteMs, growthMb] = [0, 0]
  const { ours, limit, ratio } = await compare(
    bench.quick ? 1 : 3,
    async () => {
      const before = memoryOf(office.pid).nowMb
      writeFileSync(`/proc/${office.pid}/clear_refs`, '5')
      const found = await read(office, '/partner/v1/orders.csv')
      firstByteMs = Math.max(firstByteMs, found.firstByteMs)
      growthMb = Math.max(growthMb, memoryOf(office.pid).peakMb - before)
      return found.totalMs
    },
    () => copyOrders(bench),
  )
  return [
    {
      name: `${what}, against psql copying the same columns`,
      ours: `${(ours / 1000).toFixed(2)} s`,
      limit: `${(limit / 1000).toFixed(2)} s`,
      ratio,
      target: `<= ${targets.ordersTimes}`,
      pass: ratio <= targets.ordersTimes,
    },
    plain(`${what}: growth of the process`, growthMb, 'MB', targets.ordersMb),
    plain(`${what}: first byte`, firstByteMs, 'ms', targets.ordersFirstByteMs),
  ]
}

const plain = (figure: string, value: number, unit: string, target: number): Figure => ({
  name: figure,
  ours: `${Math.round(value)} ${unit}`,
  limit: '',
  ratio: null,
  target: `<= ${target} ${unit}`,
  pass: value <= target,
})

/** @returns the time in milliseconds */
async function copyOrders({ server }: Bench): Promise<number> {
  if (!server.psql) throw new Error('psql is missing: install PostgreSQL (Debian: postgresql)')
  const copy = `copy (
    select o.order_id, o.external_id, m.code, t.code, o.status, p.msisdn, o.reserved_until, o.created_at, o.confirmed_at, o.price,
      o.currency, coalesce(o.confirmed_at, o.cancelled_at, o.reserved_until), o.cancelled_at, o.delivery_mode, o.mail,
      o.payment_reference, s.statement_id, s.number, s.day
    from orders o join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id)
    join profiles p using (profile_id) left join statement_lines l on l.order_id = o.order_id
    left join statements s on s.statement_id = l.statement_id
    where o.${ofBig} order by o.order_id desc) to stdout (format csv)`
  const start = performance.now()
  await runProgram(server.psql, ['-X', '-o', '/dev/null', '-c', copy, server.url(name)])
  return performance.now() - start
}

async function download(bench: Bench, office: Office): Promise<Figure> {
  const { rows } = await office.client.query(
    `select statement_id as id, lines from statements where ${ofBig} order by lines desc limit 1`,
  )
  const [{ id, lines }] = rows
  const path = `/partner/v1/statements/${id}.csv`
  const file = join(bench.folder, 'statement.csv')
  const answer = await fetch(`http://127.0.0.1:${office.port}${path}`, {
    headers: { authorization: `Bearer ${office.token}` },
  })
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  return using(serveFile(file), async bare => {
    const rateAt = (where: Pick<Office, 'port' | 'token'>) => async () => {
      const { bytes, totalMs } = await read(where, path)
      return bytes / totalMs / 1000
    }
    const { ours, limit, ratio } = await compare(bench.quick ? 3 : 7, rateAt(office), rateAt({ ...bare, token: '' }))
    return {
      name: `a statement's file of ${lines.toLocaleString('en')} lines, against the same file through node:http`,
      ours: `${ours.toFixed(0)} MB/s`,
      limit: `${limit.toFixed(0)} MB/s`,
      ratio,
      target: `>= ${targets.statement}`,
      pass: ratio >= targets.statement,
    }
  })
}

async function serveFile(file: string) {
  const child = spawn(process.execPath, [fileServer, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { port: Number(line.toString()), stop: () => stopProcess(child) }
}
