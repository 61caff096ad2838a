/** Clients that send requests and remember the answers while the database fails over: a bank that sells, and partners with campaigns. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { type Campaigners, campaignSteps } from './campaigners.ts'
import { type Bank, range } from './esim.ts'
import type { Answer } from './platform.ts'
import type { PerklineProcess } from './process.ts'

/** Ten sellers with `pauseMs` sell about 100 orders a second. */
const sellers = 10
const pauseMs = 60
const campaignPauseMs = 1_000
/** How often profiles are imported, and how many each time: more than are sold until the next import. */
const delivery = { everyMs: 20_000, profiles: 3_000, firstSeed: 7_000 }
const readAtOnce = 20

export type FailoverFigures = {
  /** Orders whose client got an answer; none of them may be lost. */
  acknowledged: number
  /** Orders that were confirmed or cancelled. */
  sold: number
  /** Changes of campaigns whose client got an answer; none of them may be lost. */
  moved: number
  /** The number of answers with 503. */
  away: number
  /** Requests that failed after all of a client's attempts. */
  failed: number
  /** The last answers of failed requests, by status and error code. */
  failures: Record<string, number>
  /**
   * The times from each disturbance to the next confirmed order. If a disturbance is only requested, as a switchover is,
   * it begins a little later, and sales go on until then.
   */
  recoveriesMs: number[]
  /** The times longer than a second in which no order ended. They include the wait that the 503 asks for. */
  gapsMs: number[]
}

type Told = Pick<Answer, 'status' | 'text' | 'body' | 'headers'>
type Scene = { platform: PerklineProcess; campaigners: Campaigners; bank: Bank; tries: number }
export type Ledger = ReturnType<typeof openLedger>

export function openLedger({ platform, campaigners, bank, tries }: Scene) {
  const figures: FailoverFigures = {
    acknowledged: 0,
    sold: 0,
    moved: 0,
    away: 0,
    failed: 0,
    failures: {},
    recoveriesMs: [],
    gapsMs: [],
  }
  const asking = openAsking(figures)
  const sales = openSales(asking, figures)
  const campaigns = openCampaigns(asking, figures, campaignSteps(platform, campaigners), tries)
  let going = true
  const repeat = async (everyMs: number, what: (count: number) => Promise<unknown>) => {
    for (let count = 0; going; count++) {
      await what(count)
      await sleep(everyMs)
    }
  }
  const running = [
    ...range(sellers).map(() => repeat(pauseMs, () => sales.sellOnce(bank, tries))),
    repeat(campaignPauseMs, campaigns.runOne),
  ]
  const delivering = deliver(platform)
  return {
    figures,
    sellOnce: (at: Bank) => sales.sellOnce(at, 1),
    soldSince: sales.soldSince,
    async stop(): Promise<void> {
      going = false
      await Promise.all([...running, delivering.end()])
    },
    /** @throws AssertionError with what is lost, or with unexpected answers */
    async prove(): Promise<void> {
      assert.deepEqual(asking.wrong, [], '503 only')
      await sales.prove(bank)
      await campaigns.prove()
    },
  }
}

/** Imports profiles again and again. An import may fail while the database is away. */
function deliver(platform: PerklineProcess) {
  const ended = new AbortController()
  const pause = () =>
    sleep(delivery.everyMs, null, { signal: ended.signal }).catch((error: Error) =>
      assert.equal(error.name, 'AbortError'),
    )
  const delivering = (async () => {
    for (let seed = delivery.firstSeed; !ended.signal.aborted; seed++) {
      await pause()
      const lines = [...profileLines({ count: delivery.profiles, seed })].join('')
      // Each delivery has new profiles, so a delivery whose answer was lost is not repeated.
      await platform.admin('POST', '/profiles?operator=kyivstar&tariff=eu-10gb', lines).catch(() => null)
    }
  })()
  return {
    end() {
      ended.abort()
      return delivering
    },
  }
}

/** Sends requests like a client that tries again after 503. Collects every answer that is neither right nor 503. */
function openAsking(figures: FailoverFigures) {
  const wrong: string[] = []
  /** @param done the status that a repeated request gets if the first one succeeded and its answer was lost */
  const ask = async <A extends Told>(send: () => Promise<A>, most: number, done?: number): Promise<A | null> => {
    for (let tried = 1; ; tried++) {
      const answer = await send().catch(() => null)
      if (answer && (answer.status < 400 || (tried > 1 && answer.status === done))) return answer
      if (answer?.status === 503) figures.away++
      else if (answer) wrong.push(`${answer.status} ${answer.text}`)
      if (tried >= most) {
        const last = answer ? `${answer.status} ${answer.headers.get('perkline-error-code')}` : 'no answer'
        figures.failed++
        figures.failures[last] = (figures.failures[last] ?? 0) + 1
        return answer
      }
      await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 1))
    }
  }
  return { ask, wrong }
}

type Asking = ReturnType<typeof openAsking>

function openSales({ ask }: Asking, figures: FailoverFigures) {
  const acknowledged = new Map<string, 'reserved' | 'confirmed' | 'cancelled'>()
  const externalIds = new Map<string, string>()
  let next = 0
  let [lastBeganMs, lastEndedMs] = [0, 0]
  return {
    /** @returns the status of the last answer, 0 for none */
    async sellOnce(at: Bank, most: number): Promise<number> {
      const [beganMs, externalId] = [performance.now(), `failover-${next++}`]
      const reserved = await ask(() => at.reserve(externalId), most)
      if (reserved?.status !== 201 && reserved?.status !== 200) return reserved?.status ?? 0
      const { orderId } = reserved.body
      assert.equal(externalIds.get(orderId), undefined, 'no order twice')
      externalIds.set(orderId, externalId)
      acknowledged.set(orderId, 'reserved')
      const isCancelled = next % 4 === 0
      const ended = await ask(() => (isCancelled ? at.cancel(orderId) : at.confirm(orderId)), most)
      if (ended?.status !== 200) return ended?.status ?? 0
      acknowledged.set(orderId, isCancelled ? 'cancelled' : 'confirmed')
      figures.sold++
      const gapMs = Math.round(performance.now() - lastEndedMs)
      if (lastEndedMs > 0 && gapMs > 1_000) figures.gapsMs.push(gapMs)
      ;[lastBeganMs, lastEndedMs] = [Math.max(lastBeganMs, beganMs), performance.now()]
      return 200
    },
    soldSince: (sinceMs: number) => (lastBeganMs > sinceMs ? lastEndedMs : null),
    async prove(bank: Bank): Promise<void> {
      figures.acknowledged = acknowledged.size
      const left = acknowledged.entries()
      const proveOn = async () => {
        for (const [orderId, status] of left) {
          const { status: code, body } = await bank.read(orderId)
          assert.equal(code, 200, `${orderId} is lost`)
          assert.equal(body.externalId, externalIds.get(orderId))
          // If the last answer said `reserved`, a later confirm or cancel may have succeeded although its answer was lost.
          if (status !== 'reserved') assert.equal(body.status, status, orderId)
        }
      }
      await Promise.all(range(readAtOnce).map(proveOn))
    },
  }
}

/** The status of a campaign after each of its three steps. */
const statuses = ['awaitingBankApproval', 'awaitingMerchantApproval', 'approved'] as const
/** The status of a repeated launch: a launched campaign cannot be launched again. */
const alreadyLaunched = 400
type Status = (typeof statuses)[number]

function openCampaigns(
  { ask }: Asking,
  figures: FailoverFigures,
  steps: ReturnType<typeof campaignSteps>,
  tries: number,
) {
  const acknowledged = new Map<string, Status>()
  const note = (id: string, status: Status) => {
    acknowledged.set(id, status)
    figures.moved++
  }
  return {
    async runOne(count: number): Promise<void> {
      const made = await ask(() => steps.make(`failover ${count}`), tries)
      if (made?.status !== 201) return
      const { id } = made.body
      note(id, 'awaitingBankApproval')
      if ((await ask(() => steps.approve(id), tries))?.status !== 201) return
      note(id, 'awaitingMerchantApproval')
      const launched = await ask(() => steps.launch(id), tries, alreadyLaunched)
      if (launched?.status !== 201 && launched?.status !== alreadyLaunched) return
      note(id, 'approved')
    },
    async prove(): Promise<void> {
      for (const [id, least] of acknowledged) {
        const { status, body, text } = await steps.read(id)
        assert.equal(status, 200, `${id} is lost: ${text}`)
        // A later step may have succeeded although its answer was lost.
        assert.ok(statuses.indexOf(body.status) >= statuses.indexOf(least), `${id}: ${body.status} after ${least}`)
      }
    },
  }
}
