/**
 * The loop that sends deliveries in a process. While requests are under way, one statement at a time records the accepted
 * deliveries and claims the next ones, for all endpoints together.
 */
import { DomainError } from '../errors.ts'
import { attempt, type DeliveringDeps, openSecrets } from './delivering.ts'
import { type Claimed, findDueEndpoints, giveBack, recordAndClaim } from './delivery-store.ts'
import { isIdle, type Lane, Lanes } from './lanes.ts'

/**
 * How often the loop looks for due deliveries without a call of `wake`. It finds retries, and deliveries created by
 * other processes.
 */
const lookEveryMs = 250
/**
 * Accepted deliveries are recorded together: as soon as there are `recordedTogether` of them, but no later than
 * `recordWithinMs` after a request has ended.
 */
const recordedTogether = 20
const recordWithinMs = 5
/**
 * If claiming takes longer than this, the claimed deliveries are given back unsent. This happens, for example, when the
 * process is frozen before it reads the database's answer.
 */
const maxClaimMs = 10_000
/** After the secrets of an endpoint could not be decrypted, none of its deliveries is claimed for this long. */
const unreadableMs = 10_000

/**
 * Starts the loop.
 *
 * @param max concurrent requests of this process
 * @returns `wake`, which makes the loop look for due deliveries at once, and `stop`, which ends the loop and waits for
 *   running requests
 */
export function startDelivering(
  deps: DeliveringDeps,
  max: number,
  onError: (error: unknown) => void,
): { wake(): void; stop(): Promise<void> } {
  const stopping = new AbortController()
  let work = Promise.withResolvers<void>()
  let recording: NodeJS.Timeout | undefined
  const lanes = new Lanes(max, {
    attempt: (claimed, lane) =>
      attempt(deps, claimed, lane).catch(error => {
        onError(error)
        return null
      }),
    ended(lane) {
      recording ??= setTimeout(() => work.resolve(), recordWithinMs)
      if (isIdle(lane) || lanes.delivered.length >= recordedTogether) work.resolve()
    },
  })
  /**
   * The endpoints that may have deliveries to claim, and the account of each. The endpoint that has waited longest
   * comes first.
   */
  const due = new Map<string, string>()
  /** Endpoints whose secrets could not be decrypted, and until when nothing is claimed for them. */
  const unreadable = new Map<string, number>()
  const exchangeNow = () => {
    clearTimeout(recording)
    recording = undefined
    return exchange(deps, { lanes, due, unreadable }, onError)
  }

  let lookedAtMs = Number.NEGATIVE_INFINITY
  const step = async () => {
    if (performance.now() - lookedAtMs >= lookEveryMs) {
      lookedAtMs = performance.now()
      const found = new Map(
        (await findDueEndpoints(deps.database)).map(({ endpointId, accountId }) => [endpointId, accountId]),
      )
      for (const [id, untilMs] of unreadable)
        if (performance.now() < untilMs) found.delete(id)
        else unreadable.delete(id)
      for (const id of due.keys()) if (!found.has(id)) due.delete(id)
      for (const [id, accountId] of found) due.set(id, accountId)
    }
    await exchangeNow()
    lanes.closeIdle()
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      // Renew `work` before the step. If a request ends during the step, it resolves `work`, and the next step follows
      // at once.
      work = Promise.withResolvers()
      await step().catch(onError)
      const look = setTimeout(() => work.resolve(), Math.max(1, lookedAtMs + lookEveryMs - performance.now()))
      if (!stopping.signal.aborted) await work.promise
      clearTimeout(look)
    }
  }
  const ending = loop()
  return {
    wake() {
      lookedAtMs = Number.NEGATIVE_INFINITY
      work.resolve()
    },
    async stop() {
      stopping.abort()
      lanes.stop()
      work.resolve()
      await ending
      lanes.beginAll()
      await lanes.allEnded()
      due.clear()
      await exchangeNow().catch(onError)
    },
  }
}

/**
 * Releases the claims on deliveries that this process will not send, records accepted ones, and claims the next
 * deliveries of due endpoints. If the database does not answer, the next call releases and records the same deliveries.
 *
 * After the claim, an endpoint stays due in three cases:
 * - As many deliveries were claimed as there was room for.
 * - The endpoint allows one request at a time, and one delivery was claimed.
 * - No delivery was claimed. Another transaction may have locked the endpoint, or its only request has not been recorded
 *   as finished yet. It stays due until the loop looks for due endpoints again.
 */
async function exchange(
  deps: DeliveringDeps,
  { lanes, due, unreadable }: { lanes: Lanes; due: Map<string, string>; unreadable: Map<string, number> },
  onError: (error: unknown) => void,
): Promise<void> {
  const { database } = deps
  lanes.beginAll()
  if (lanes.unsent.length > 0) await takenFrom(lanes.unsent, unsent => giveBack(database, unsent))
  const claims = lanes.ask(due)
  if (claims.length === 0 && lanes.delivered.length === 0) return
  const askedAtMs = performance.now()
  const claimed = await takenFrom(lanes.delivered, delivered => recordAndClaim(database, { delivered, claims }))
  const sinceMs = performance.now()
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  const found = claims.map(one => ({ ...one, claimed: byEndpoint.get(one.endpointId) ?? [] }))
  for (const { lane, max, claimed } of found) {
    due.delete(lane.endpointId)
    const [first] = claimed
    lane.oneOnly = first?.oneOnly === true
    if (claimed.length === max || !first || first.oneOnly) due.set(lane.endpointId, lane.accountId)
  }
  await readSecrets(deps, found, onError).catch(error => {
    lanes.unsent.push(...claimed)
    throw error
  })
  const isLate = performance.now() - askedAtMs > maxClaimMs
  for (const { lane, claimed } of found) {
    // Without a secret, nothing is sent. Either the endpoint was deleted, or its secrets could not be decrypted, and the
    // error was reported.
    const hasSecret = lane.secrets.length > 0
    lanes.add(lane, hasSecret && !isLate ? claimed : [], sinceMs)
    if (hasSecret && !isLate) continue
    lanes.unsent.push(...claimed)
    if (hasSecret || claimed.length === 0) continue
    due.delete(lane.endpointId)
    unreadable.set(lane.endpointId, performance.now() + unreadableMs)
  }
}

/**
 * Empties the list and passes its items to `work`. If the database is unavailable (a `DomainError`), the items return
 * to the list. Any other error may be caused by an item and would repeat, so the items are not put back: their leases
 * expire.
 */
async function takenFrom<Item, Result>(list: Item[], work: (items: Item[]) => Promise<Result>): Promise<Result> {
  const items = list.splice(0)
  try {
    return await work(items)
  } catch (error) {
    if (error instanceof DomainError) list.unshift(...items)
    throw error
  }
}

/** Reads the secrets of endpoints that are new to this process (new lanes), or that have changed. */
async function readSecrets(
  deps: DeliveringDeps,
  found: readonly { lane: Lane; claimed: Claimed[] }[],
  onError: (error: unknown) => void,
): Promise<void> {
  const stale = found.flatMap(({ lane, claimed: [first] }) =>
    first && first.version !== lane.version ? [{ lane, version: first.version }] : [],
  )
  if (stale.length === 0) return
  const ids = stale.map(({ lane }) => lane.endpointId)
  const secrets = await openSecrets(deps, ids, onError)
  for (const { lane, version } of stale) Object.assign(lane, { secrets: secrets.get(lane.endpointId) ?? [], version })
}
