/** Sales through haproxy while the primary of a Patroni cluster is killed, and what must hold then. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bankAt, range } from './esim.ts'
import { eventually, startPatroni } from './patroni.ts'
import { sharedSettings, startProcess } from './process.ts'
import { openShop } from './world.ts'

const sellers = 8
const pauseMs = 60
const recoverWithinMs = 30_000

export type FailoverFigures = { acknowledged: number; away: number; recoveriesMs: number[] }

/**
 * Kills the primary so many times; each time its machine comes back as a standby before the next.
 *
 * @throws AssertionError when an answer was wrong, an acknowledged order is lost, or sales took too long to go on
 */
export async function surviveDeaths(deaths: number): Promise<FailoverFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-failover-'))
  const cluster = await startPatroni()
  try {
    const settings = { ...sharedSettings(cluster.databaseUrl, folder), LOG_LEVEL: 'error', DATABASE_POOL: '6' }
    const platform = await startProcess(settings)
    const { alpha } = await openShop(platform, { profiles: 3_000, seed: 7_950 })
    const bank = bankAt(platform, alpha)
    const acknowledged = new Map<string, string>()
    const wrong: string[] = []
    let [going, away, lastSoldMs, next] = [true, 0, performance.now(), 0]
    const sell = async () => {
      while (going) {
        const reserved = await bank.reserve(`failover-${next++}`).catch(() => null)
        const answers = [reserved]
        if (reserved?.status === 201) {
          acknowledged.set(reserved.body.orderId, 'reserved')
          const confirmed = await bank.confirm(reserved.body.orderId).catch(() => null)
          answers.push(confirmed)
          if (confirmed?.status === 200) {
            acknowledged.set(reserved.body.orderId, 'confirmed')
            lastSoldMs = performance.now()
          }
        }
        for (const answer of answers) {
          if (answer?.status === 503) away++
          else if (answer && answer.status >= 400) wrong.push(`${answer.status} ${answer.text}`)
        }
        await sleep(pauseMs)
      }
    }
    const selling = range(sellers).map(sell)
    const recoveriesMs: number[] = []
    for (let death = 0; death < deaths; death++) {
      await sleep(1_500)
      const primary = await cluster.primary()
      const killedAtMs = performance.now()
      await cluster.kill(primary)
      await eventually('sales go on', () => lastSoldMs > killedAtMs + 1_500, recoverWithinMs)
      recoveriesMs.push(Math.round(lastSoldMs - killedAtMs))
      cluster.revive(primary)
      await eventually('the other one is a standby again', () => cluster.hasStandby(), 60_000)
    }
    going = false
    await Promise.all(selling)
    assert.deepEqual(wrong, [], '503 only')
    for (const [orderId, status] of acknowledged) {
      const { status: code, body } = await bank.read(orderId)
      assert.equal(code, 200, `${orderId} is lost`)
      if (status === 'confirmed') assert.equal(body.status, 'confirmed', orderId)
    }
    const { checks } = await platform.admin('GET', '/audit')
    assert.deepEqual(
      checks.filter(({ ok }: { ok: boolean }) => !ok),
      [],
    )
    await platform.stop()
    return { acknowledged: acknowledged.size, away, recoveriesMs }
  } finally {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
}
