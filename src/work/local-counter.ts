/** Counts events in this process for a limited time. */
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible'

/**
 * Creates a counter in the memory of this process.
 *
 * @param points the maximum number of events
 * @param duration seconds after which counting starts again
 */
export function createLocalCounter(keyPrefix: string, points: number, duration: number): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix, points, duration })
}
