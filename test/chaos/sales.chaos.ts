/** Sales while everything around them fails, for CHAOS_SECONDS. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertError, range, tally } from '../support/esim.ts'
import { startWorld } from '../support/world.ts'
import { durationMs, recover, sellUnder, serverPids } from './selling.ts'

/** The minimum number of rounds in the race for the last profile. */
const minRounds = 25

test('kill -9 of one of three processes every 2 seconds', () =>
  sellUnder({ processes: 3, sellers: 30, seed: 8_001 }, async (world, round) => {
    await sleep(2_000)
    const killedAt = performance.now()
    await world.replace(round % 3, victim => victim.kill())
    await recover(world, killedAt)
  }))

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
    // A slow machine plays few rounds until `endAt`. The minimum makes it likely that each process wins a round.
    for (let round = 0; round < minRounds || performance.now() < endAt; round++) {
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
