/**
 * The request rate of one bank (behaviour.md, section 4): a token bucket, kept as the one instant at which it will be full again
 * (the generic cell rate algorithm), in this process or, for all processes together, in Redis or Valkey.
 */
export type RateLimit = { perSecond: number; burst: number }
export type Decision = {
  allowed: boolean
  /** Requests that may follow at once. */
  remaining: number
  /** Seconds until the bucket is full again. */
  resetSeconds: number
  /** Seconds to wait when not allowed, at least 1. */
  retryAfterSeconds: number
}

export type RateLimiter = { take(key: string): Promise<Decision> | Decision; close(): Promise<void> }

/** One request takes `1000 / perSecond` milliseconds of the bucket. */
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

/** @param nowMs a clock that never goes back; real time, whatever the sandbox clock says */
export function createLocalRateLimiter(limit: RateLimit, nowMs: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, number>()
  return {
    take(key) {
      const { fullAtMs, decision } = decide(limit, buckets.get(key) ?? 0, nowMs())
      buckets.set(key, fullAtMs)
      return decision
    },
    async close() {},
  }
}

/** The fields `RateLimit` and `RateLimit-Policy` as the IETF's draft has them. */
export function rateLimitHeaders(limit: RateLimit, decision: Decision | null): Record<string, string> {
  const windowSeconds = Math.max(1, Math.ceil(limit.burst / limit.perSecond))
  const { remaining, resetSeconds } = decision ?? { remaining: limit.burst, resetSeconds: 0 }
  return {
    'ratelimit-policy': `"bank";q=${limit.burst};w=${windowSeconds}`,
    ratelimit: `"bank";r=${remaining};t=${resetSeconds}`,
  }
}
