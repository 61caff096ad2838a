/**
 * Banks that sell despite failures: they repeat each step until it is answered, remember the answers, and check them
 * at the end.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertError, type Bank, type EsimAnswer, each } from './esim.ts'

export type Sale = {
  externalId: string
  orderId: string
  state: 'reserved' | 'cancelled' | 'confirmed'
  activationCode?: string
}

/** The pause between two sales, and before a retry after a 503. It leaves processor time to the platform. */
const restMs = 20
/**
 * The pause between sales after the first `quickSales`. With it, a small stock lasts until a slow process has started.
 */
const longRestMs = 500
const restAfterRefusalMs = 100

const isBusy = (): boolean => (loadavg()[0] ?? 0) > 4 * availableParallelism()

export const recoverWithinQuietMs = 5_000

/**
 * How many milliseconds may pass after a disturbance until sales go on (contract/reliability.md, "When something is
 * away"). On a busy machine the limit is higher, because starting a process already takes longer than the normal limit.
 */
export const recoverWithinMs = (): number => (isBusy() ? 45_000 : recoverWithinQuietMs)

/**
 * Repeats a request, at any process, until it gets one of these status codes. Every other outcome must be a documented
 * failure: no connection, or a 503.
 */
export async function persist(ask: (index: number) => Promise<EsimAnswer>, codes: number[]): Promise<EsimAnswer> {
  const giveUpAt = performance.now() + 60_000
  let last = ''
  for (let index = randomInt(2); ; index++) {
    assert.ok(performance.now() < giveUpAt, `no answer for a minute, at last ${last}`)
    const answer = await ask(index).catch((error: Error) => {
      last = String(error.cause ?? error)
      return null
    })
    if (answer && codes.includes(answer.status)) return answer
    if (answer) {
      assertError(answer, 503, /temporarily unavailable|free profile|at once/)
      last = answer.text
    }
    await sleep(answer ? restAfterRefusalMs : 5)
  }
}

/**
 * Sells while `going` is true: half of the orders are confirmed, some cancelled, the others left as they are.
 *
 * @param at the bank, at any of the processes
 * @param sales receives every acknowledged step
 * @param quickSales after so many sales the sellers slow down (default: never)
 */
export async function sell(
  at: (index: number) => Bank,
  sales: Sale[],
  going: () => boolean,
  quickSales = Number.POSITIVE_INFINITY,
): Promise<void> {
  while (going()) {
    const externalId = `sale-${randomInt(2 ** 47)}`
    const { body } = await persist(index => at(index).reserve(externalId), [200, 201])
    const sale: Sale = { externalId, orderId: body.orderId, state: 'reserved' }
    sales.push(sale)
    const next = randomInt(10)
    if (next < 5) {
      const confirmed = await persist(index => at(index).confirm(sale.orderId), [200])
      Object.assign(sale, { state: 'confirmed', activationCode: confirmed.body.esim.activationCode })
    } else if (next < 8) {
      await persist(index => at(index).cancel(sale.orderId), [200])
      sale.state = 'cancelled'
    }
    await sleep(sales.length < quickSales ? restMs : longRestMs)
  }
}

/** Reads every order again: acknowledged orders must exist, and no profile may be sold twice. */
export async function proveSales(at: (index: number) => Bank, sales: readonly Sale[]): Promise<void> {
  const codes = new Set<string>()
  await each(sales, 16, async ({ externalId, orderId, state, activationCode }, index) => {
    const { body } = await persist(next => at(index + next).read(orderId), [200])
    assert.deepEqual([body.externalId, body.status], [externalId, state])
    if (activationCode === undefined) return
    assert.ok(!codes.has(activationCode), 'a profile was sold twice')
    codes.add(activationCode)
    const again = await persist(next => at(index + next).confirm(orderId), [200])
    assert.equal(again.body.esim.activationCode, activationCode)
  })
}
