/** The loop that keeps deliveries going in a process, with a bounded number of requests at a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { attemptDelivery, type DeliveringDeps } from './delivering.ts'
import { claim, findDueEndpoints } from './delivery-store.ts'

const lookEveryMs = 100
/** Of one endpoint. */
const mostAtOnce = 10

/**
 * Starts it.
 *
 * @param most requests of this process at a time
 * @returns stops it, waiting for the requests under way
 */
export function startDelivering(
  deps: DeliveringDeps,
  most: number,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()

  const begin = (work: Promise<void>) => {
    const noted = work.catch(onFault).finally(() => underWay.delete(noted))
    underWay.add(noted)
  }
  const look = async () => {
    for (const endpointId of await findDueEndpoints(deps.database)) {
      const room = Math.min(mostAtOnce, most - underWay.size)
      if (room <= 0 || stopping.signal.aborted) return
      for (const claimed of await claim(deps.database, { endpointId, most: room, early: false, but: [] }))
        begin(attemptDelivery(deps, claimed))
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await look().catch(onFault)
      // What has ended makes room at once; else there is time to look again.
      await Promise.race([...underWay, sleep(lookEveryMs, undefined, { signal: stopping.signal })]).catch(() => {})
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
