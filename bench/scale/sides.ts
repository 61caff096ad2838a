/** The two generated databases (worlds) that are compared. Each has its own platform; both are on one server. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { freePort } from '../../test/support/free-port.ts'
import type { Bench } from '../bench.ts'
import { type PlatformProcess, startPlatform } from '../platform.ts'
import { cpuMsOf } from '../processes.ts'
import { connectTo } from './loading.ts'
import { banks, merchants, type Sizes, tariffs } from './sizes.ts'
import { type Keys, keptWorld } from './world.ts'

export type Partner = keyof typeof banks | `merchant-${keyof typeof merchants}`

export type Side = PlatformProcess & {
  name: 'small' | 'large'
  sizes: Sizes
  database: string
  operatorKey: string
  metricsPort: number
  tokens: Record<Partner, string>
  /** Environment variables of a platform on this world. */
  settings: Record<string, string>
  /** Runs a statement without time limits. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
}
export type Sides = { small: Side; large: Side; stop(): Promise<void> }

/**
 * The sizes of the small world: as few banks as possible, a hundredth of the large world's campaigns.
 *
 * @param times how many times fewer orders and profiles the small world has
 */
const smallOf = (large: Sizes, times: number): Sizes => ({
  ...large,
  orders: Math.max(tariffs * 20, Math.round(large.orders / times)),
  profiles: Math.max(tariffs * 30, Math.round(large.profiles / times)),
  campaigns: Math.max(1_000, Math.round(large.campaigns / 100)),
  banks: Math.min(large.banks, 20),
})

/** Makes both worlds and starts a platform on each. */
export async function startSides(bench: Bench): Promise<Sides> {
  const sizes = { small: smallOf(bench.sizes, bench.times), large: bench.sizes }
  const keys = {
    small: await keptWorld(bench, databaseOf('small'), sizes.small),
    large: await keptWorld(bench, databaseOf('large'), sizes.large),
  }
  const sides: Side[] = []
  const stop = async () => {
    for (const side of sides) await side.stop()
  }
  try {
    for (const name of ['small', 'large'] as const)
      sides.push(await startSide(bench, { name, sizes: sizes[name], keys: keys[name] }))
  } catch (error) {
    await stop()
    throw error
  }
  const [small, other] = sides as [Side, Side]
  await untilIdle(bench, sides)
  return { small, large: other, stop }
}

/** How long the platforms must be idle, and how long they may take to become so. */
const [idleMs, maxBusyMs] = [3_000, 300_000]
/** The jobs of two idle platforms and of their databases take less than this share of a processor. */
const idleShare = 0.12

/**
 * Waits until both platforms have done the work that became due since an earlier run used the same database, such as
 * marking expired reservations. Otherwise the first measurement would include this work.
 */
async function untilIdle({ server, tell }: Bench, sides: readonly Side[]): Promise<void> {
  const workMs = () => sides.reduce((sum, { child }) => sum + cpuMsOf(child.pid), server.cpuMs())
  const start = performance.now()
  for (;;) {
    const before = workMs()
    await sleep(idleMs)
    const busy = (workMs() - before) / idleMs
    if (busy <= idleShare) break
    if (performance.now() - start > maxBusyMs) throw new Error(`The platforms stay busy: ${busy.toFixed(2)} processors`)
  }
  tell(`  idle after ${Math.round((performance.now() - start) / 1000)} s`)
}

const databaseOf = (name: Side['name']): string => `scale_${name}`

async function startSide(bench: Bench, params: Pick<Side, 'name' | 'sizes'> & { keys: Keys }): Promise<Side> {
  const { name, sizes, keys } = params
  const database = databaseOf(name)
  const url = bench.server.url(database)
  const settings = {
    DATABASE_URL: url,
    DATA_DIR: bench.folder,
    MASTER_KEY: keys.masterKey,
    OPERATOR_KEY: keys.operatorKey,
  }
  const metricsPort = await freePort()
  const platform = await startPlatform({ ...settings, METRICS_PORT: String(metricsPort) })
  let client: pg.Client | null = null
  const stop = async () => {
    await client?.end()
    await platform.stop()
  }
  try {
    client = await connectTo(url)()
    const tokens = await issueTokens(platform.url, keys.operatorKey)
    await untilCaughtUp(bench, `${platform.url}${salesOfToday()}`, tokens.tiny)
    const query: Side['query'] = async (text, values) => (await (client as pg.Client).query(text, values)).rows
    return {
      ...platform,
      name,
      sizes,
      database,
      operatorKey: keys.operatorKey,
      metricsPort,
      tokens,
      settings,
      query,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const salesOfToday = (): string => {
  const today = new Date().toISOString().slice(0, 10)
  return `/portal/esim/sales?from=${today}&to=${today}`
}

/**
 * Waits until the platform has added up the sales from before its upgrade. Until then it answers other requests, but
 * refuses requests for sales figures.
 */
async function untilCaughtUp({ tell }: Bench, url: string, token: string): Promise<void> {
  const start = performance.now()
  for (;;) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const told = await answer.text()
    if (answer.ok) break
    if (answer.status !== 503) throw new Error(`The sales figures answer ${answer.status}: ${told.slice(0, 300)}`)
    await sleep(200)
  }
  tell(`  sales figures of earlier orders: ${Math.round((performance.now() - start) / 1000)} s`)
}

async function issueTokens(url: string, operatorKey: string): Promise<Side['tokens']> {
  const tokens: Partial<Side['tokens']> = {}
  for (const bank of Object.keys(banks) as (keyof typeof banks)[])
    tokens[bank] = await tokenOf(url, operatorKey, { bank, role: 'ADMIN' })
  for (const merchant of Object.keys(merchants) as (keyof typeof merchants)[])
    tokens[`merchant-${merchant}`] = await tokenOf(url, operatorKey, { merchant })
  return tokens as Side['tokens']
}

/**
 * A token of a new credential.
 * @param partner as in `POST /admin/credentials`
 */
export async function tokenOf(url: string, operatorKey: string, partner: object): Promise<string> {
  const issued = await post(`${url}/admin/credentials`, operatorKey, partner)
  return (await post(`${url}/getToken/auth`, operatorKey, issued)).access_token
}

/** @throws Error unless the answer is a success */
export async function post(url: string, token: string, body: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`POST ${new URL(url).pathname} answers ${answer.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}
