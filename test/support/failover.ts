/**
 * Sells through haproxy on a Patroni cluster while something happens to the cluster, and checks what must hold then.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openCampaigners } from './campaigners.ts'
import { bankAt } from './esim.ts'
import { type FailoverFigures, type Ledger, openLedger } from './failover-ledger.ts'
import { type ClusterOptions, eventually, logOf, type PatroniCluster, startPatroni } from './patroni.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from './process.ts'
import { openShop } from './world.ts'

const recoverWithinMs = 30_000
/**
 * How long to wait for the next sale. It is longer than a recovery may take, so that a slow recovery is measured, too.
 * The test then fails at its end.
 */
const giveUpMs = 120_000
const standbyWithinMs = 180_000
/**
 * The cluster must be whole for this long before a test goes on. A standby that has just come back may fail again a
 * moment later, and then no member may take over.
 */
const steadyMs = 5_000

type Scene = {
  cluster: PatroniCluster
  settings: Settings
  figures: FailoverFigures
  /**
   * Waits until an order that was reserved after an instant (`performance.now()`) is confirmed, and records how long it
   * took.
   */
  sellsAgain(sinceMs: number): Promise<void>
  /** Waits until all three members run and one of them is a synchronous standby, because two failures at once may lose data. */
  isSafeAgain(): Promise<void>
  /**
   * Sells one order through another process. If the order is acknowledged, it must not be lost either.
   * @returns the status of the answer, 0 for none
   */
  sellAt(platform: PerklineProcess): Promise<number>
}

/**
 * Sells while something happens to the cluster.
 *
 * @param options.recoverWithinMs the longest allowed time from a disturbance to the next sale
 * @param options.tries how often a client sends a request in total while the answer is 503 or missing. Before each
 *   retry it waits as long as `Retry-After` says
 * @throws AssertionError when an answer was neither right nor 503, an acknowledged order is lost, a recovery took too long,
 *   or the books are wrong
 */
export async function sellThrough(
  options: ClusterOptions & { tries?: number; recoverWithinMs?: number },
  happens: (scene: Scene) => Promise<void>,
): Promise<FailoverFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-failover-'))
  const cluster = await startPatroni(options)
  try {
    const settings = { ...sharedSettings(cluster.databaseUrl, folder), LOG_LEVEL: 'error', DATABASE_POOL: '6' }
    const platform = await startProcess(settings, logOf('platform'))
    try {
      // This directory must be imported first, because it chooses the ids of its entries. An id never changes, and
      // `openShop` imports an entry with the same code (bank `alpha`) without an id.
      const campaigners = await openCampaigners(platform)
      const { alpha } = await openShop(platform, { profiles: 12_000, seed: 7_950 })
      const ledger = openLedger({ platform, campaigners, bank: bankAt(platform, alpha), tries: options.tries ?? 1 })
      try {
        await happens({
          cluster,
          settings,
          figures: ledger.figures,
          sellsAgain: sinceMs => sellsAgain(ledger, sinceMs),
          isSafeAgain: () => eventually('all three run', isSteady(cluster), standbyWithinMs),
          sellAt: other => ledger.sellOnce(bankAt(other, alpha)),
        })
      } finally {
        await ledger.stop()
      }
      await ledger.prove()
      const longestMs = Math.max(...ledger.figures.recoveriesMs)
      assert.ok(longestMs <= (options.recoverWithinMs ?? recoverWithinMs), JSON.stringify(ledger.figures))
      const { checks } = await platform.admin('GET', '/audit')
      assert.deepEqual(
        checks.filter(({ ok }: { ok: boolean }) => !ok),
        [],
      )
      assert.equal(await platform.stop(), 0)
      return ledger.figures
    } finally {
      await platform.kill()
    }
  } finally {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Kills the primary this many times. Its machine comes back as a standby before the next time. If only its server was
 * killed, Patroni starts the server again, there or on another machine.
 *
 * @param options.isAhead true: the primary dies with data that no standby has received. No client got an answer for that
 *   data
 */
export function surviveDeaths(
  deaths: number,
  what: 'machine' | 'server',
  options: { recoverWithinMs?: number; isAhead?: boolean } = {},
): Promise<FailoverFigures> {
  return sellThrough(options, async ({ cluster, sellsAgain, isSafeAgain }) => {
    for (let death = 0; death < deaths; death++) {
      // A test that kills one primary needs only one standby. On a busy machine the second standby starts late.
      if (deaths === 1) await eventually('there is a standby', () => cluster.hasStandby(), standbyWithinMs)
      else await isSafeAgain()
      const primary = await cluster.primary()
      if (options.isAhead) await cluster.outrun(primary)
      const killedAtMs = performance.now()
      await (what === 'machine' ? cluster.kill(primary) : cluster.killServer(primary))
      await sellsAgain(killedAtMs)
      if (what === 'machine') cluster.revive(primary)
    }
  })
}

function isSteady(cluster: PatroniCluster): () => Promise<boolean> {
  let sinceMs = performance.now()
  return async () => {
    if (!(await cluster.isWhole())) sinceMs = performance.now()
    return performance.now() - sinceMs > steadyMs
  }
}

async function sellsAgain(ledger: Ledger, sinceMs: number): Promise<void> {
  await eventually('sales go on', () => ledger.soldSince(sinceMs) !== null, giveUpMs)
  const recoveryMs = Math.round((ledger.soldSince(sinceMs) ?? 0) - sinceMs)
  const round = ledger.figures.recoveriesMs.push(recoveryMs)
  if (process.env.CHAOS_SECONDS)
    process.stdout.write(`# ${new Date().toISOString()} ${round}: it sells again after ${recoveryMs} ms\n`)
}
