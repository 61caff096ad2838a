/**
 * Sells through haproxy on a Patroni cluster while something happens to the cluster, and checks what must hold then.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bank, bankAt, type EsimAnswer, range } from './esim.ts'
import { type ClusterOptions, eventually, type PatroniCluster, startPatroni } from './patroni.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from './process.ts'
import { openShop } from './world.ts'

const sellers = 10
const pauseMs = 60
const recoverWithinMs = 30_000
const standbyWithinMs = 90_000

export type FailoverFigures = {
  /** Orders that a client was told of; none of them may be lost. */
  acknowledged: number
  /** Orders that were confirmed or cancelled. */
  sold: number
  /** The number of answers with 503. */
  away: number
  /** Requests that failed after all of a client's attempts. */
  failed: number
  /** From each event to the next confirmed order. */
  recoveriesMs: number[]
}
type Scene = {
  cluster: PatroniCluster
  settings: Settings
  figures: FailoverFigures
  /**
   * Waits until an order that was reserved after an instant (`performance.now()`) is confirmed, and records how long it
   * took.
   */
  sellsAgain(sinceMs: number): Promise<void>
  /** Waits until there is a synchronous standby. */
  isSafeAgain(): Promise<void>
  /**
   * Sells once at another process; its acknowledged orders must not be lost either.
   * @returns the status of the answer, 0 for none
   */
  sellAt(platform: PerklineProcess): Promise<number>
}

/**
 * Sells while something happens to the cluster.
 *
 * @param options.tries how often a client sends a request that is answered with 503, each time after the wait that the
 *   answer names
 * @throws AssertionError when an answer was neither right nor 503, an acknowledged order is lost, or the books are
 *   wrong
 */
export async function sellThrough(
  options: ClusterOptions & { tries?: number },
  happens: (scene: Scene) => Promise<void>,
): Promise<FailoverFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-failover-'))
  const cluster = await startPatroni(options)
  try {
    const settings = { ...sharedSettings(cluster.databaseUrl, folder), LOG_LEVEL: 'error', DATABASE_POOL: '6' }
    const platform = await startProcess(settings)
    try {
      const { alpha } = await openShop(platform, { profiles: 12_000, seed: 7_950 })
      const ledger = openLedger(bankAt(platform, alpha), options.tries ?? 1)
      try {
        await happens({
          cluster,
          settings,
          figures: ledger.figures,
          sellsAgain: sinceMs => sellsAgain(ledger, sinceMs),
          isSafeAgain: () => eventually('there is a standby', () => cluster.hasStandby(), standbyWithinMs),
          sellAt: other => ledger.sellOnce(bankAt(other, alpha)),
        })
      } finally {
        await ledger.stop()
      }
      await ledger.prove()
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
 */
export function surviveDeaths(deaths: number, what: 'machine' | 'server'): Promise<FailoverFigures> {
  return sellThrough({}, async ({ cluster, sellsAgain, isSafeAgain }) => {
    for (let death = 0; death < deaths; death++) {
      await sleep(1_500)
      const primary = await cluster.primary()
      const killedAtMs = performance.now()
      await (what === 'machine' ? cluster.kill(primary) : cluster.killServer(primary))
      await sellsAgain(killedAtMs)
      if (what === 'machine') cluster.revive(primary)
      await isSafeAgain()
    }
  })
}

type Ledger = ReturnType<typeof openLedger>

async function sellsAgain(ledger: Ledger, sinceMs: number): Promise<void> {
  await eventually('sales go on', () => ledger.soldSince(sinceMs) !== null, recoverWithinMs)
  ledger.figures.recoveriesMs.push(Math.round((ledger.soldSince(sinceMs) ?? 0) - sinceMs))
}

/** Sellers that remember the answers they got. */
function openLedger(bank: Bank, tries: number) {
  const figures: FailoverFigures = { acknowledged: 0, sold: 0, away: 0, failed: 0, recoveriesMs: [] }
  const acknowledged = new Map<string, 'reserved' | 'confirmed' | 'cancelled'>()
  const wrong: string[] = []
  let [going, next] = [true, 0]
  let [lastBeganMs, lastEndedMs] = [0, 0]

  const ask = async (send: () => Promise<EsimAnswer>, most: number): Promise<EsimAnswer | null> => {
    for (let tried = 1; ; tried++) {
      const answer = await send().catch(() => null)
      if (answer?.status === 503) figures.away++
      else if (answer && answer.status >= 400)
        wrong.push(`${answer.method} ${answer.path}: ${answer.status} ${answer.text}`)
      if (answer && answer.status < 400) return answer
      if (tried >= most) {
        figures.failed++
        return answer
      }
      await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 1))
    }
  }
  /** @returns the status of the last answer */
  const sellOnce = async (at: Bank, most = 1): Promise<number> => {
    const beganMs = performance.now()
    const reserved = await ask(() => at.reserve(`failover-${next++}`), most)
    if (reserved?.status !== 201 && reserved?.status !== 200) return reserved?.status ?? 0
    const { orderId } = reserved.body
    acknowledged.set(orderId, 'reserved')
    const isCancelled = next % 4 === 0
    const ended = await ask(() => (isCancelled ? at.cancel(orderId) : at.confirm(orderId)), most)
    if (ended?.status !== 200) return ended?.status ?? 0
    acknowledged.set(orderId, isCancelled ? 'cancelled' : 'confirmed')
    figures.sold++
    ;[lastBeganMs, lastEndedMs] = [Math.max(lastBeganMs, beganMs), performance.now()]
    return 200
  }
  const selling = range(sellers).map(async () => {
    while (going) {
      await sellOnce(bank, tries)
      await sleep(pauseMs)
    }
  })
  return {
    figures,
    sellOnce,
    soldSince: (sinceMs: number) => (lastBeganMs > sinceMs ? lastEndedMs : null),
    async stop(): Promise<void> {
      going = false
      await Promise.all(selling)
    },
    /** @throws AssertionError with the lost orders, or with unexpected answers */
    async prove(): Promise<void> {
      assert.deepEqual(wrong, [], '503 only')
      figures.acknowledged = acknowledged.size
      for (const [orderId, status] of acknowledged) {
        const { status: code, body } = await bank.read(orderId)
        assert.equal(code, 200, `${orderId} is lost`)
        // After a lost answer, the order has ended in one of the two ways.
        if (status !== 'reserved') assert.equal(body.status, status, orderId)
      }
    },
  }
}
