/** Counts events in this process, each for a while. */
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible'

/**
 * @param points how many are allowed
 * @param duration seconds after which a count begins anew
 */
export function createLocalCounter(keyPrefix: string, points: number, duration: number): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix, points, duration })
}
