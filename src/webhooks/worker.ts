/** The loop that sends deliveries in a process, with a limited number of concurrent requests. */
import { setTimeout as sleep } from 'node:timers/promises'
import { attemptDeliveries, type DeliveringDeps } from './delivering.ts'
import { claim, findDueEndpoints } from './delivery-store.ts'

const lookEveryMs = 100
/** The maximum number of concurrent requests to one endpoint. */
const maxAtOnce = 10

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
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  let roomMade = Promise.withResolvers<void>()

  const begin = (work: Promise<void>) => {
    const noted = work.catch(onError).finally(() => {
      underWay.delete(noted)
      roomMade.resolve()
    })
    underWay.add(noted)
  }
  const look = async () => {
    for (const endpointId of await findDueEndpoints(deps.database)) {
      const room = Math.min(maxAtOnce, max - underWay.size)
      if (room <= 0 || stopping.signal.aborted) return
      const claimed = await claim(deps.database, { endpointId, max: room, early: false, but: [] })
      for (const attempt of attemptDeliveries(deps, endpointId, claimed)) begin(attempt)
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      // `roomMade` is renewed before `look` runs. A request that ends during `look` makes room too, and its endpoint
      // may not have been due yet when `look` began.
      roomMade = Promise.withResolvers()
      await look().catch(onError)
      // A finished request makes room at once; otherwise look again after a while.
      await Promise.race([roomMade.promise, sleep(lookEveryMs, undefined, { signal: stopping.signal })]).catch(() => {})
    }
  }
  const ended = loop()
  return {
    async stop() {
      stopping.abort()
      await ended
      await Promise.all(underWay)
    },
  }
}
