/**
 * The request rate of one bank (behaviour.md, section 4): a token bucket, kept as the one instant at which it will be full again
 * (the generic cell rate algorithm), in this process or, for all processes together, in Redis or Valkey.
 */
import { Redis } from 'ioredis'

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
function decide(limit: RateLimit, fullAtMs: number, nowMs: number): { fullAtMs: number; decision: Decision } {
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

/** Keeps the instant of fullness under the key, by the store's own clock: the processes' clocks need not agree. */
const script = `
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local full = math.max(tonumber(redis.call('get', KEYS[1]) or '0'), now)
local cost, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
if full + cost - now <= capacity + 0.000001 then
  redis.call('set', KEYS[1], string.format('%.3f', full + cost), 'px', math.ceil(full + cost - now) + 1000)
end
return { string.format('%.3f', full), string.format('%.3f', now) }`

/**
 * Shares the buckets in Redis. When the store is away or slow, this process limits by itself and says so once: requests go on.
 *
 * @param options.onAway told when the store goes away (true) and when it is back (false)
 */
export function createSharedRateLimiter(options: {
  redisUrl: string
  limit: RateLimit
  onAway(away: boolean): void
}): RateLimiter {
  const { limit } = options
  const local = createLocalRateLimiter(limit)
  const redis = new Redis(options.redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: 250,
    connectTimeout: 2_000,
    retryStrategy: attempt => Math.min(100 * attempt, 2_000),
  })
  redis.defineCommand('takeFromBucket', { numberOfKeys: 1, lua: script })
  // Each command's own failure is handled below; without a listener the event would end the process.
  redis.on('error', () => {})
  type Command = { takeFromBucket(key: string, costMs: number, capacityMs: number): Promise<[string, string]> }

  let away = false
  const tell = (now: boolean) => {
    if (away !== now) options.onAway(now)
    away = now
  }
  const costMs = 1000 / limit.perSecond

  return {
    async take(key) {
      try {
        const command = redis as unknown as Command
        const [full, now] = await command.takeFromBucket(`perkline:rate:${key}`, costMs, limit.burst * costMs)
        tell(false)
        return decide(limit, Number(full), Number(now)).decision
      } catch {
        tell(true)
        return local.take(key)
      }
    },
    async close() {
      redis.disconnect()
    },
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
