/** Sales in a separate world that is repeatedly disturbed, for CHAOS_SECONDS. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { proveBooks, range } from '../support/esim.ts'
import { persist, proveSales, recoverWithinMs, recoverWithinQuietMs, type Sale, sell } from '../support/sales.ts'
import { startWorld, type World } from '../support/world.ts'

export const durationMs = Number(process.env.CHAOS_SECONDS ?? 60) * 1_000
const profiles = 100_000
let slowestMs = 0

/**
 * Sells in a new world while `disturb` is repeated, then checks everything.
 * @param options.grown true: first sells so much that the busiest statements run with cached plans
 * @param options.minRounds the minimum number of disturbances (default: 1), even if they take longer than CHAOS_SECONDS
 */
export async function sellUnder(
  options: { processes: number; sellers: number; seed: number; grown?: boolean; minRounds?: number },
  disturb: (world: World, round: number) => Promise<void>,
): Promise<void> {
  const world = await startWorld({ ...options, profiles })
  let endAt = Number.POSITIVE_INFINITY
  slowestMs = 0
  try {
    const sales: Sale[] = []
    const sellers = Promise.all(
      range(options.sellers).map(() => sell(world.at, sales, () => performance.now() < endAt)),
    )
    // Errors here are reported at the end, because the world is needed until then.
    sellers.catch(() => {})
    if (options.grown) await grow(world, sales)
    const enoughAt = performance.now() + durationMs
    let round = 0
    while (round < (options.minRounds ?? 1) || performance.now() < enoughAt) await disturb(world, round++)
    endAt = performance.now()
    await sellers
    await proveSales(world.at, sales)
    const books = await proveBooks(world.database, new Date())
    assert.equal(books.profiles, profiles)
    assert.equal(books.sold, sales.filter(({ state }) => state === 'confirmed').length)
    const audit = await world.processes[0]?.admin('GET', '/audit')
    assert.equal(audit.ok, true, JSON.stringify(audit))
    for (const ended of [...world.ended, ...world.processes])
      assert.deepEqual(ended.output().match(/^.*"statusCode":500.*$/gm) ?? [], [])
    const confirmed = sales.filter(({ state }) => state === 'confirmed').length
    console.log(
      `${sales.length} sales (${confirmed} confirmed), ${round} disturbances: nothing lost; back in ${slowestMs} ms at most`,
    )
  } finally {
    endAt = 0
    await world.close()
  }
}

const grownOrders = 1_100
const growWithinMs = 120_000

/** Waits until tables have grown (`db/grown-tables.ts`) and every process has seen it. */
async function grow(world: World, sales: readonly Sale[]): Promise<void> {
  const giveUpAt = performance.now() + growWithinMs
  while (sales.length < grownOrders) {
    assert.ok(performance.now() < giveUpAt, `only ${sales.length} sales`)
    await sleep(100)
  }
  for (const table of ['orders', 'profiles']) await world.database.execute(`analyze ${table}`)
  while (!(await keepsPlans(world))) assert.ok(performance.now() < giveUpAt, 'plans are not kept')
}

/**
 * Returns whether the busiest statements run with cached plans. If they do, they have connections of their own. So this
 * watches for about a second, and checks that reservations and cancellations never use the same connection.
 */
async function keepsPlans({ database }: World): Promise<boolean> {
  const busiest = new Set<number>()
  const others = new Set<number>()
  for (let looked = 0; looked < 100; looked++) {
    const rows = await database.query<{ pid: number; busiest: boolean; other: boolean }>(
      `select pid, query ilike '%insert into orders%' as busiest, query ilike '%set status = ''cancelled''%' as other
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    for (const row of rows) {
      if (row.busiest) busiest.add(row.pid)
      if (row.other) others.add(row.pid)
    }
    await sleep(10)
  }
  return busiest.size > 0 && others.size > 0 && busiest.isDisjointFrom(others)
}

/**
 * Waits until each process sells again, and asserts that this does not take too long.
 *
 * @param since when the disturbance ended
 */
export async function recover(world: World, since: number, what = 'the disturbance'): Promise<void> {
  for (const index of range(world.processes.length)) {
    const { body } = await persist(() => world.at(index).reserve(`recovered-${randomInt(2 ** 47)}`), [201])
    await persist(() => world.at(index).cancel(body.orderId), [200])
  }
  const tookMs = Math.round(performance.now() - since)
  if (tookMs > slowestMs) slowestMs = tookMs
  const told = `${what}: it took ${tookMs} ms at a load of ${loadavg()[0]}`
  const withinMs = recoverWithinMs()
  if (withinMs > recoverWithinQuietMs && tookMs > recoverWithinQuietMs)
    console.log(`*** ${told}, which proves nothing about ${recoverWithinQuietMs} ms`)
  assert.ok(tookMs < withinMs, told)
}

/** Returns the process id of the database server, and those of all its children. */
export async function serverPids(world: World): Promise<{ main: number; all: number[] }> {
  const note = await readFile(join(world.folder, 'server/postgres/postmaster.pid'), 'utf8')
  const main = Number.parseInt(note, 10)
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(main)], { encoding: 'utf8' })
  return { main, all: [main, ...children.trim().split(/\s+/).map(Number)] }
}
