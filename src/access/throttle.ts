/**
 * Slows down guessing (behaviour.md, section 2): after 10 failures for one clientId or login from one address, or 50 from one
 * address, within a minute, that address waits. The rightful client elsewhere is never locked out.
 */
import { createHash } from 'node:crypto'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { DomainError } from '../errors.ts'

const windowSeconds = 60
const failuresOfName = 10
const failuresOfAddress = 50

export type Throttle = {
  /** @throws DomainError 'too-many' when this address has failed too often */
  check(address: string, name: string): Promise<void>
  fail(address: string, name: string): Promise<void>
}

/** @param create makes the counter that all processes share, or that of this process */
export function createThrottle(create: typeof createLocalCounter = createLocalCounter): Throttle {
  const byName = create('name', failuresOfName, windowSeconds)
  const byAddress = create('address', failuresOfAddress, windowSeconds)
  // The name is the caller's text of any length, and may be a secret in the wrong field.
  const nameKey = (address: string, name: string) =>
    `${address}|${createHash('sha256').update(name).digest('base64url').slice(0, 22)}`

  return {
    async check(address, name) {
      const counted = await Promise.all([byName.get(nameKey(address, name)), byAddress.get(address)])
      const limits = [failuresOfName, failuresOfAddress]
      const waits = counted.map((count, index) =>
        count !== null && count.consumedPoints >= (limits[index] ?? 0) ? count.msBeforeNext : 0,
      )
      const waitMs = Math.max(...waits)
      if (waitMs > 0)
        throw new DomainError('too-many', 'Too many failed attempts from your address; wait a moment', {
          retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
        })
    },
    async fail(address, name) {
      await Promise.all([byName.penalty(nameKey(address, name), 1), byAddress.penalty(address, 1)])
    },
  }
}

export function createLocalCounter(keyPrefix: string, points: number, duration: number): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix, points, duration })
}
