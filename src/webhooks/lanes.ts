/** The endpoints that a process is sending to. Decides which claimed deliveries begin, and which are given back. */
import type { Secret } from './delivering.ts'
import type { Claimed, ClaimRequest, Delivered } from './delivery-store.ts'
import { maxAtOnce } from './record-and-claim-sql.ts'

/**
 * A process claims more deliveries of a fast endpoint than it can send at once. The number of additional deliveries is
 * what the endpoint accepts in this time.
 */
const aheadMs = 200
const maxAhead = 40
/**
 * A claimed delivery is given back if its request cannot begin within this time. So the request ends before the lease
 * does, and nothing is sent long after the endpoint was disabled or deleted.
 */
const maxWaitMs = 1_000

/** An endpoint that this process is sending to. */
export type Lane = {
  endpointId: string
  accountId: string
  /** Claimed deliveries whose requests have not begun. */
  waiting: { claimed: Claimed; sinceMs: number }[]
  underWay: number
  /**
   * How long the last request took. It is infinite before the first request has ended, and after a request that failed.
   */
  tookMs: number
  /** Whether the endpoint got only one request at a time when deliveries for it were last claimed. */
  oneOnly: boolean
  secrets: Secret[]
  /** The endpoint's version when its secrets were read. */
  version: number
}

type Actions = {
  /** Makes one request. It never rejects. @returns the success; null after a failure */
  attempt(claimed: Claimed, lane: Lane): Promise<Delivered | null>
  /** Called when a request has ended. */
  ended(lane: Lane): void
}

/**
 * How many lanes (endpoints that the process is sending to) an account has, and how many of its requests are running.
 */
type Share = { lanes: number; underWay: number }

/**
 * The lanes of a process: one for each endpoint that it is sending to. At most `max` requests run at once. Accounts
 * share these places equally, and the lanes of an account share the account's places equally. An account begins a
 * request only while it has fewer running requests than there are free places. So some places always stay free for
 * another account, even if all current receivers are slow.
 */
export class Lanes {
  /** Accepted deliveries that are not recorded yet. */
  readonly delivered: Delivered[] = []
  /** Claimed deliveries that will not be sent. The loop in `worker.ts` gives them back. */
  readonly unsent: Claimed[] = []
  readonly #max: number
  readonly #actions: Actions
  readonly #lanes = new Map<string, Lane>()
  /** By account. */
  readonly #shares = new Map<string, Share>()
  readonly #requests = new Set<Promise<void>>()
  #isStopping = false

  constructor(max: number, actions: Actions) {
    this.#max = max
    this.#actions = actions
  }

  /**
   * Opens lanes for due endpoints, and chooses the endpoints to claim deliveries for. If there is no room for the lanes
   * of all due endpoints, deliveries are claimed only for new lanes. So one of the older lanes soon becomes idle and is
   * closed, which makes room.
   *
   * @param due the due endpoints and the account of each; the endpoint that has waited longest comes first
   */
  ask(due: ReadonlyMap<string, string>): (ClaimRequest & { lane: Lane })[] {
    const without = [...due].filter(([id]) => !this.#lanes.has(id))
    const opened = without.slice(0, this.#max - this.#lanes.size)
    for (const [id, accountId] of opened) {
      this.#lanes.set(id, openLane(id, accountId))
      this.#shareOf(accountId).lanes++
    }
    const asking = opened.length < without.length ? opened : [...due]
    return asking.flatMap(([id]) => {
      const lane = this.#lanes.get(id)
      const room = lane ? this.#roomOf(lane) : 0
      return lane && room > 0 ? [{ lane, endpointId: id, max: room, held: lane.waiting.length + lane.underWay }] : []
    })
  }

  /** Adds deliveries that were claimed at `sinceMs`, and begins the requests for which there is room. */
  add(lane: Lane, claimed: readonly Claimed[], sinceMs: number): void {
    lane.waiting.push(...claimed.map(one => ({ claimed: one, sinceMs })))
    this.#begin(lane)
  }

  /** Begins the requests for which there is room, and moves deliveries that have waited too long to `unsent`. */
  beginAll(): void {
    for (const lane of this.#lanes.values()) this.#begin(lane)
  }

  closeIdle(): void {
    for (const lane of this.#lanes.values()) {
      if (!isIdle(lane)) continue
      this.#lanes.delete(lane.endpointId)
      const share = this.#shareOf(lane.accountId)
      if (--share.lanes === 0) this.#shares.delete(lane.accountId)
    }
  }

  /** Lets no more requests begin. */
  stop(): void {
    this.#isStopping = true
  }

  /** Waits for the requests that are under way. */
  async allEnded(): Promise<void> {
    await Promise.all(this.#requests)
  }

  #shareOf(accountId: string): Share {
    const known = this.#shares.get(accountId)
    if (known) return known
    const share = { lanes: 0, underWay: 0 }
    this.#shares.set(accountId, share)
    return share
  }

  /** How many concurrent requests an endpoint of this account may have. It leaves room for one more account. */
  #maxOfLane(accountId: string): number {
    const ofAccount = this.#max / (this.#shares.size + 1)
    return Math.max(1, Math.min(maxAtOnce, Math.floor(ofAccount / this.#shareOf(accountId).lanes)))
  }

  #hasPlace(accountId: string): boolean {
    return this.#shareOf(accountId).underWay < this.#max - this.#requests.size
  }

  #roomOf(lane: Lane): number {
    const { accountId, waiting, underWay, tookMs } = lane
    if (!this.#hasPlace(accountId) || (lane.oneOnly && !isIdle(lane))) return 0
    const share = this.#maxOfLane(accountId)
    const ahead = Math.min(maxAhead, Math.floor((share * aheadMs) / Math.max(tookMs, 1)))
    return share + ahead - waiting.length - underWay
  }

  #begin(lane: Lane): void {
    const first = () => lane.waiting[0]
    for (let next = first(); next; next = first()) {
      const isLate = performance.now() - next.sinceMs > maxWaitMs || this.#isStopping
      if (!isLate && (lane.underWay >= this.#maxOfLane(lane.accountId) || !this.#hasPlace(lane.accountId))) return
      lane.waiting.shift()
      if (isLate) this.unsent.push(next.claimed)
      else this.#request(lane, next.claimed)
    }
  }

  #request(lane: Lane, claimed: Claimed): void {
    const request = this.#send(lane, claimed).then(() => {
      this.#requests.delete(request)
      this.#begin(lane)
      if (this.#requests.size < this.#max) this.beginAll()
      this.#actions.ended(lane)
    })
    this.#requests.add(request)
  }

  async #send(lane: Lane, claimed: Claimed): Promise<void> {
    const share = this.#shareOf(lane.accountId)
    lane.underWay++
    share.underWay++
    const accepted = await this.#actions.attempt(claimed, lane)
    lane.underWay--
    share.underWay--
    lane.tookMs = accepted?.durationMs ?? Number.POSITIVE_INFINITY
    if (accepted) this.delivered.push(accepted)
    // After a failure, the waiting deliveries are given back. They are claimed again later, by the rules for failing
    // endpoints.
    else this.unsent.push(...lane.waiting.splice(0).map(({ claimed }) => claimed))
  }
}

export const isIdle = ({ waiting, underWay }: Lane): boolean => waiting.length === 0 && underWay === 0

const openLane = (endpointId: string, accountId: string): Lane => ({
  endpointId,
  accountId,
  waiting: [],
  underWay: 0,
  tookMs: Number.POSITIVE_INFINITY,
  oneOnly: false,
  secrets: [],
  version: 0,
})
