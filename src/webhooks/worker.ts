/**
 * The loop that sends deliveries in a process. One statement at a time records what receivers have accepted and claims the next
 * deliveries, of all endpoints together, while further requests are under way.
 */
import { attempt, type DeliveringDeps, openSecrets, type Secret } from './delivering.ts'
import {
  type Claimed,
  type Delivered,
  findDueEndpoints,
  giveBack,
  maxAtOnce,
  recordAndClaim,
} from './delivery-store.ts'

const lookEveryMs = 100
/**
 * Accepted deliveries are recorded together: as soon as there are `recordedTogether` of them, but no later than
 * `recordWithinMs` after a request has ended.
 */
const recordedTogether = 20
const recordWithinMs = 5
/**
 * A process claims more deliveries of a fast endpoint than it sends at once: as many more as the endpoint accepts in
 * this time.
 */
const aheadMs = 200
const maxAhead = 40
/**
 * A claimed delivery whose request cannot begin in this time is given back. So its lease outlives its request, and nothing is sent long
 * after its endpoint was disabled or deleted.
 */
const maxWaitMs = 1_000
/**
 * Deliveries are also given back when claiming them took longer, for example because the process was frozen before it
 * read the answer.
 */
const maxClaimMs = 10_000

/** An endpoint that this process is sending to. */
type Lane = {
  endpointId: string
  /** Claimed deliveries whose requests have not begun. */
  waiting: { claimed: Claimed; sinceMs: number }[]
  underWay: number
  /** How long the last request took; infinite until one was accepted, and after one has failed. */
  tookMs: number
  secrets: Secret[]
  /** The endpoint's version when its secrets were read. */
  version: number
}

/**
 * Starts the loop.
 *
 * @param max concurrent requests of this process
 * @returns a function that stops the loop and waits for running requests
 */
export function startDelivering(
  deps: DeliveringDeps,
  max: number,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const { database } = deps
  const stopping = new AbortController()
  const lanes = new Map<string, Lane>()
  /** Endpoints that may have deliveries to claim, the one that has waited longest first. */
  const due = new Set<string>()
  const requests = new Set<Promise<void>>()
  const delivered: Delivered[] = []
  const unsent: Claimed[] = []
  let work = Promise.withResolvers<void>()
  let recording: NodeJS.Timeout | undefined

  const isIdle = ({ waiting, underWay }: Lane) => waiting.length === 0 && underWay === 0
  /** How many concurrent requests each endpoint may have. */
  const share = () => Math.max(1, Math.min(maxAtOnce, Math.floor(max / lanes.size)))
  const roomOf = ({ waiting, underWay, tookMs }: Lane) => {
    const ahead = Math.min(maxAhead, Math.floor((share() * aheadMs) / Math.max(tookMs, 1)))
    return share() + ahead - waiting.length - underWay
  }

  const send = async (lane: Lane, claimed: Claimed) => {
    lane.underWay++
    const accepted = await attempt(deps, claimed, lane).catch(onError)
    lane.underWay--
    lane.tookMs = accepted?.durationMs ?? Number.POSITIVE_INFINITY
    if (accepted) delivered.push(accepted)
    // After a failure the next deliveries are claimed anew, by the rules for endpoints that fail.
    else unsent.push(...lane.waiting.splice(0).map(({ claimed }) => claimed))
  }
  const begin = (lane: Lane) => {
    const first = () => lane.waiting[0]
    for (let next = first(); next; next = first()) {
      const isLate = performance.now() - next.sinceMs > maxWaitMs || stopping.signal.aborted
      if (!isLate && (lane.underWay >= share() || requests.size >= max)) return
      lane.waiting.shift()
      if (isLate) unsent.push(next.claimed)
      else {
        const request = send(lane, next.claimed).then(() => {
          requests.delete(request)
          ended(lane)
        })
        requests.add(request)
      }
    }
  }
  const beginAll = () => {
    for (const lane of lanes.values()) begin(lane)
  }
  const ended = (lane: Lane) => {
    begin(lane)
    if (requests.size < max) beginAll()
    recording ??= setTimeout(() => work.resolve(), recordWithinMs)
    if (isIdle(lane) || delivered.length >= recordedTogether) work.resolve()
  }

  /**
   * Chooses the endpoints to claim deliveries for. While a due endpoint has no lane, existing lanes claim nothing, so
   * that one of them becomes free.
   */
  const ask = () => {
    const without = [...due].filter(id => !lanes.has(id))
    const opened = without.slice(0, max - lanes.size)
    for (const id of opened) lanes.set(id, openLane(id))
    const asking = opened.length < without.length ? opened : [...due]
    return asking.flatMap(id => {
      const lane = lanes.get(id)
      const room = lane ? roomOf(lane) : 0
      return lane && room > 0 ? [{ lane, endpointId: id, max: room, held: lane.waiting.length + lane.underWay }] : []
    })
  }
  const exchange = async () => {
    clearTimeout(recording)
    recording = undefined
    beginAll()
    if (unsent.length > 0) await giveBack(database, unsent.splice(0))
    const asked = ask()
    if (asked.length === 0 && delivered.length === 0) return
    const askedAtMs = performance.now()
    const claimed = await recordAndClaim(database, { delivered: delivered.splice(0), asked })
    const sinceMs = performance.now()
    const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
    const found = asked.map(one => ({ ...one, claimed: byEndpoint.get(one.endpointId) ?? [] }))
    for (const { endpointId, max, claimed } of found) {
      due.delete(endpointId)
      if (claimed.length === max) due.add(endpointId)
    }
    await readSecrets(found)
    const isLate = performance.now() - askedAtMs > maxClaimMs
    if (isLate) unsent.push(...claimed)
    for (const { lane, claimed } of isLate ? [] : found) {
      // Without a secret, nothing is sent. Either the endpoint was deleted, or its secrets could not be decrypted. In
      // the second case the error was reported, and the deliveries are claimed again after their leases.
      if (lane.secrets.length > 0) lane.waiting.push(...claimed.map(one => ({ claimed: one, sinceMs })))
      begin(lane)
    }
  }
  /** Reads the secrets of lanes that are new, or whose endpoints have changed. */
  const readSecrets = async (found: { lane: Lane; claimed: Claimed[] }[]) => {
    const stale = found.flatMap(({ lane, claimed: [first] }) =>
      first && first.version !== lane.version ? [{ lane, version: first.version }] : [],
    )
    if (stale.length === 0) return
    const ids = stale.map(({ lane }) => lane.endpointId)
    const secrets = await openSecrets(deps, ids, onError)
    for (const { lane, version } of stale) Object.assign(lane, { secrets: secrets.get(lane.endpointId) ?? [], version })
  }

  let lookedAtMs = Number.NEGATIVE_INFINITY
  const step = async () => {
    if (performance.now() - lookedAtMs >= lookEveryMs) {
      lookedAtMs = performance.now()
      for (const id of await findDueEndpoints(database)) due.add(id)
    }
    await exchange()
    for (const lane of lanes.values()) if (isIdle(lane)) lanes.delete(lane.endpointId)
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      // `work` is renewed before a step, because a request that ends during the step makes work for the next one.
      work = Promise.withResolvers()
      await step().catch(onError)
      const look = setTimeout(() => work.resolve(), lookEveryMs)
      if (!stopping.signal.aborted) await work.promise
      clearTimeout(look)
    }
  }
  const ending = loop()
  return {
    async stop() {
      stopping.abort()
      work.resolve()
      await ending
      beginAll()
      await Promise.all(requests)
      due.clear()
      await exchange().catch(onError)
    },
  }
}

const openLane = (endpointId: string): Lane => ({
  endpointId,
  waiting: [],
  underWay: 0,
  tookMs: Number.POSITIVE_INFINITY,
  secrets: [],
  version: 0,
})
