/** Sales while everything around them fails, for as long as CHAOS_SECONDS says. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertError, proveBooks, range, tally } from '../support/esim.ts'
import { persist, proveSales, type Sale, sell } from '../support/sales.ts'
import { startWorld, type World } from '../support/world.ts'

const durationMs = Number(process.env.CHAOS_SECONDS ?? 60) * 1_000
const profiles = 100_000
const recoverWithinMs = 5_000

/** Sells in a new world while `disturb` is repeated, then proves everything. */
async function sellUnder(
  options: { processes: number; sellers: number; seed: number },
  disturb: (world: World, round: number) => Promise<void>,
): Promise<void> {
  const world = await startWorld({ ...options, profiles })
  try {
    const sales: Sale[] = []
    const endAt = performance.now() + durationMs
    const sellers = Promise.all(
      range(options.sellers).map(() => sell(world.at, sales, () => performance.now() < endAt)),
    )
    let round = 0
    while (performance.now() < endAt) await disturb(world, round++)
    await sellers
    await proveSales(world.at, sales)
    const books = await proveBooks(world.database, new Date())
    assert.equal(books.profiles, profiles)
    assert.equal(books.sold, sales.filter(({ state }) => state === 'confirmed').length)
    const audit = await world.processes[0]?.admin('GET', '/audit')
    assert.equal(audit.ok, true, JSON.stringify(audit))
    for (const ended of [...world.ended, ...world.processes])
      assert.deepEqual(ended.output().match(/^.*"statusCode":500.*$/gm) ?? [], [])
    console.log(`${sales.length} sales, ${round} disturbances: nothing lost`)
  } finally {
    await world.close()
  }
}

/** How long it takes until each process sells again. */
async function recover(world: World, since: number): Promise<void> {
  for (const index of range(world.processes.length)) {
    const { body } = await persist(() => world.at(index).reserve(`recovered-${randomInt(2 ** 47)}`), [201])
    await persist(() => world.at(index).cancel(body.orderId), [200])
  }
  const tookMs = performance.now() - since
  assert.ok(tookMs < recoverWithinMs, `it took ${Math.round(tookMs)} ms`)
}

test('kill -9 of one of three processes every 2 seconds', () =>
  sellUnder({ processes: 3, sellers: 30, seed: 8_001 }, async (world, round) => {
    await sleep(2_000)
    await world.replace(round % 3, victim => victim.kill())
  }))

/** The server and every one of its sessions. */
async function serverPids(world: World): Promise<{ main: number; all: number[] }> {
  const note = await readFile(join(world.folder, 'server/postgres/postmaster.pid'), 'utf8')
  const main = Number.parseInt(note, 10)
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(main)], { encoding: 'utf8' })
  return { main, all: [main, ...children.trim().split(/\s+/).map(Number)] }
}

test('the database server crashes every few seconds', () =>
  sellUnder({ processes: 2, sellers: 16, seed: 8_002 }, async world => {
    await sleep(randomInt(1_000, 4_000))
    const { main } = await serverPids(world)
    process.kill(main, 'SIGKILL')
    await world.server.ended
    await sleep(randomInt(2_000))
    await world.startServer()
    await recover(world, performance.now())
  }))

test('the sessions are ended several times a second', () =>
  sellUnder({ processes: 2, sellers: 16, seed: 8_003 }, async world => {
    await sleep(randomInt(400))
    await world.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()`,
    )
  }))

test('the database server freezes for longer than anybody waits', () =>
  sellUnder({ processes: 2, sellers: 8, seed: 8_004 }, async world => {
    await sleep(2_000)
    const { all } = await serverPids(world)
    for (const pid of all) process.kill(pid, 'SIGSTOP')
    try {
      const startedAt = performance.now()
      const answers = await Promise.all(range(10).map(index => world.at(index).reserve(`frozen-${randomInt(2 ** 47)}`)))
      for (const answer of answers) assertError(answer, 503)
      assert.ok(performance.now() - startedAt < 15_000, 'a caller had to wait too long')
    } finally {
      for (const pid of all) process.kill(pid, 'SIGCONT')
    }
    await recover(world, performance.now())
  }))

test('the last profile, wanted by 200 callers of three processes', async () => {
  const world = await startWorld({ processes: 3, profiles: 1, seed: 8_005 })
  try {
    const endAt = performance.now() + durationMs
    const winners = [0, 0, 0]
    while (performance.now() < endAt) {
      const answers = await Promise.all(range(200).map(index => world.at(index).reserve(`last-${randomInt(2 ** 47)}`)))
      assert.deepEqual(tally(answers), { 201: 1, 503: 199 })
      const winner = answers.findIndex(({ status }) => status === 201)
      winners[winner % 3] = (winners[winner % 3] ?? 0) + 1
      const cancelled = await world.at(winner + 1).cancel(answers[winner]?.body.orderId)
      assert.equal(cancelled.status, 200)
    }
    assert.ok(
      winners.every(count => count > 0),
      `the processes never came near each other: ${winners}`,
    )
    console.log(`won by ${winners}`)
  } finally {
    await world.close()
  }
})
