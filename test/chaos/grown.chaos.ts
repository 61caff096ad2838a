/**
 * Disturbances during sales, after tables have grown and the busiest statements run with cached plans on connections of
 * their own.
 */
import { randomInt } from 'node:crypto'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../support/world.ts'
import { recover, sellUnder, serverPids } from './selling.ts'

const endSessions = (world: World) =>
  world.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()`,
  )

/** Each disturbance returns the instant from which on sales must continue. */
const disturbances: Record<string, (world: World) => Promise<number>> = {
  async processKilled(world) {
    const killedAt = performance.now()
    await world.replace(randomInt(2), victim => victim.kill())
    return killedAt
  },
  async sessionsEnded(world) {
    for (let times = 0; times < 10; times++) {
      await endSessions(world)
      await sleep(randomInt(100))
    }
    return performance.now()
  },
  async serverStopped(world) {
    await world.server.stop()
    await sleep(randomInt(2_000))
    await world.startServer()
    return performance.now()
  },
  async serverKilled(world) {
    const { main } = await serverPids(world)
    process.kill(main, 'SIGKILL')
    await world.server.ended
    await world.startServer()
    return performance.now()
  },
}

test('kept plans: a process killed, all sessions ended, the server stopped and killed, by turns', () => {
  const all = Object.entries(disturbances)
  return sellUnder(
    { processes: 2, sellers: 16, seed: 8_201, grown: true, minRounds: all.length },
    async (world, round) => {
      await sleep(randomInt(500, 2_000))
      const [name = '', disturb] = all[round % all.length] ?? []
      await recover(world, (await disturb?.(world)) ?? performance.now(), name)
    },
  )
})
