/**
 * Limits the requests of an account or an address (contract/limits.md, "Requests"). Each account or address has a token
 * bucket, which is stored as the instant at which it will be full again (the generic cell rate algorithm). The buckets
 * are in this process, or in Redis or Valkey for all processes.
 */
import type { FastifyReply } from 'fastify'
import { DomainError } from '../../errors.ts'

export type RateLimit = { perSecond: number; burst: number }
export type Decision = {
  allowed: boolean
  /** How many more requests are allowed right now. */
  remaining: number
  /** Seconds until the bucket is full again. */
  resetSeconds: number
  /** Seconds to wait when the request is not allowed, at least 1. */
  retryAfterSeconds: number
}

export type RateLimiter = {
  limit: RateLimit
  /** Takes one token from the bucket of `key`, if there is one. */
  take(key: string): Promise<Decision> | Decision
  close(): Promise<void>
}

/** Full buckets are deleted only when the map has more buckets than this. */
const fewBuckets = 10_000

/**
 * Decides whether a request is allowed. Each allowed request moves the instant at which the bucket is full by `1000 /
 * perSecond` milliseconds.
 */
export function decide(limit: RateLimit, fullAtMs: number, nowMs: number): { fullAtMs: number; decision: Decision } {
  const costMs = 1000 / limit.perSecond
  const capacityMs = limit.burst * costMs
  const start = Math.max(fullAtMs, nowMs)
  const allowed = start + costMs - nowMs <= capacityMs + 1e-6
  const next = allowed ? start + costMs : start
  return {
    fullAtMs: next,
    decision: {
      allowed,
      remaining: Math.max(0, Math.floor((capacityMs - (next - nowMs)) / costMs + 1e-6)),
      resetSeconds: Math.ceil((next - nowMs) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil((start + costMs - nowMs - capacityMs) / 1000)),
    },
  }
}

/**
 * Creates a limiter whose buckets are in this process.
 *
 * @param nowMs a monotonic clock; real time, independent of the sandbox clock
 * @param buckets stores the instant at which each bucket is full again
 */
export function createLocalRateLimiter(
  limit: RateLimit,
  nowMs: () => number = () => performance.now(),
  buckets = new Map<string, number>(),
): RateLimiter {
  let sweepAt = fewBuckets
  /** Deletes full buckets, so that addresses seen once use no memory. A full bucket means the same as no bucket. */
  const dropFull = (now: number) => {
    for (const [key, fullAtMs] of buckets) if (fullAtMs <= now) buckets.delete(key)
    sweepAt = Math.max(fewBuckets, 2 * buckets.size)
  }
  return {
    limit,
    take(key) {
      const now = nowMs()
      if (buckets.size >= sweepAt) dropFull(now)
      const { fullAtMs, decision } = decide(limit, buckets.get(key) ?? 0, now)
      buckets.set(key, fullAtMs)
      return decision
    },
    async close() {},
  }
}

/** The fields `RateLimit` and `RateLimit-Policy` of the IETF draft. @param holder whose limit it is */
export function rateLimitHeaders(
  limit: RateLimit,
  decision: Decision | null,
  holder: 'bank' | 'account' | 'address' = 'bank',
): Record<string, string> {
  const windowSeconds = Math.max(1, Math.ceil(limit.burst / limit.perSecond))
  const { remaining, resetSeconds } = decision ?? { remaining: limit.burst, resetSeconds: 0 }
  return {
    'ratelimit-policy': `"${holder}";q=${limit.burst};w=${windowSeconds}`,
    ratelimit: `"${holder}";r=${remaining};t=${resetSeconds}`,
  }
}

/** Counts a request and sends the limit's headers. @throws DomainError 'too-many' when the bucket is empty */
export async function limitRequest(
  reply: FastifyReply,
  limiter: RateLimiter,
  params: { key: string; holder: 'bank' | 'account' | 'address' },
): Promise<void> {
  const decision = await limiter.take(params.key)
  reply.headers(rateLimitHeaders(limiter.limit, decision, params.holder))
  if (!decision.allowed)
    throw new DomainError('too-many', 'Too many requests: slow down', { retryAfterSeconds: decision.retryAfterSeconds })
}
