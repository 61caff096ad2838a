/**
 * The loop that sends deliveries in a process. While requests are under way, one statement at a time records the accepted
 * deliveries and claims the next ones, for all endpoints together.
 */
import { attempt, type DeliveringDeps, openSecrets } from './delivering.ts'
import { type Claimed, findDueEndpoints, giveBack, recordAndClaim } from './delivery-store.ts'
import { isIdle, type Lane, Lanes } from './lanes.ts'

/** How often the loop looks for due deliveries by itself. It finds those of other processes, and those that are tried again. */
const lookEveryMs = 250
/**
 * Accepted deliveries are recorded together: as soon as there are `recordedTogether` of them, but no later than
 * `recordWithinMs` after a request has ended.
 */
const recordedTogether = 20
const recordWithinMs = 5
/**
 * If claiming deliveries takes longer than this, they are given back unsent. This happens, for example, when the
 * process is frozen before it reads the database's answer.
 */
const maxClaimMs = 10_000

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
  /** The accounts of the endpoints that may have deliveries to claim, by endpoint. The endpoint that has waited longest is the first. */
  const due = new Map<string, string>()
  const exchangeNow = () => {
    clearTimeout(recording)
    recording = undefined
    return exchange(deps, { lanes, due }, onError)
  }

  let lookedAtMs = Number.NEGATIVE_INFINITY
  const step = async () => {
    if (performance.now() - lookedAtMs >= lookEveryMs) {
      lookedAtMs = performance.now()
      const found = new Map(
        (await findDueEndpoints(deps.database)).map(({ endpointId, accountId }) => [endpointId, accountId]),
      )
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
      const look = setTimeout(() => work.resolve(), lookedAtMs + lookEveryMs - performance.now())
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
 * Gives back what is not sent, records what was accepted, and claims the next deliveries of due endpoints. An endpoint
 * stays due if the claim found as many deliveries as the endpoint has room for. If the claim found none, the endpoint
 * stays due until the loop looks for due endpoints again. Perhaps the hand-over or another process had locked it, or
 * its only allowed request was just ending.
 */
async function exchange(
  deps: DeliveringDeps,
  { lanes, due }: { lanes: Lanes; due: Map<string, string> },
  onError: (error: unknown) => void,
): Promise<void> {
  const { database } = deps
  lanes.beginAll()
  if (lanes.unsent.length > 0) await giveBack(database, lanes.unsent.splice(0))
  const claims = lanes.ask(due)
  if (claims.length === 0 && lanes.delivered.length === 0) return
  const askedAtMs = performance.now()
  const claimed = await recordAndClaim(database, { delivered: lanes.delivered.splice(0), claims })
  const sinceMs = performance.now()
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  const found = claims.map(one => ({ ...one, claimed: byEndpoint.get(one.endpointId) ?? [] }))
  for (const { lane, max, claimed } of found) {
    due.delete(lane.endpointId)
    if (claimed.length === max || claimed.length === 0) due.set(lane.endpointId, lane.accountId)
  }
  await readSecrets(deps, found, onError)
  const isLate = performance.now() - askedAtMs > maxClaimMs
  if (isLate) lanes.unsent.push(...claimed)
  // Without a secret, nothing is sent. Either the endpoint was deleted, or its secrets could not be decrypted. In the
  // second case the error was reported, and the deliveries are claimed again when their leases end.
  else for (const { lane, claimed } of found) lanes.add(lane, lane.secrets.length > 0 ? claimed : [], sinceMs)
}

/** Reads the secrets of lanes that are new, or whose endpoints have changed. */
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
