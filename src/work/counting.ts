/** Limits how often something may be done within some time. */
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import { DomainError } from '../errors.ts'

/** The time until a limit starts again, as whole seconds for `Retry-After`. */
export const retryAfter = (seconds: number): { retryAfterSeconds: number } => ({
  retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
})

/**
 * Counts one event.
 *
 * @param text the text of the error, which tells people what was done too often
 * @param max the maximum number of events of this key; default: the maximum of the counter
 * @throws DomainError 'too-many' with `text` when there are more events than the maximum
 */
export async function countIn(
  counter: RateLimiterAbstract,
  key: string,
  text: string,
  max = counter.points,
): Promise<void> {
  const { consumedPoints, msBeforeNext } = await counter.penalty(key, 1)
  if (consumedPoints <= max) return
  throw new DomainError('too-many', text, retryAfter(msBeforeNext / 1000))
}
