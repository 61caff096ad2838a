/** Refuses what was done too often within a counter's time. */
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import { DomainError } from '../errors.ts'

/**
 * Counts one event.
 *
 * @param text for people: what was done too often
 * @param max the maximum number of events of this key; default: the counter's
 * @throws DomainError 'too-many' with this text beyond the maximum
 */
export async function countIn(
  counter: RateLimiterAbstract,
  key: string,
  text: string,
  max = counter.points,
): Promise<void> {
  const { consumedPoints, msBeforeNext } = await counter.penalty(key, 1)
  if (consumedPoints <= max) return
  throw new DomainError('too-many', text, { retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) })
}
