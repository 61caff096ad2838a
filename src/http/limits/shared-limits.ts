/**
 * Limits that all processes share in Redis or Valkey (`REDIS_URL`). This module is loaded only when that setting is
 * used, because it loads the Redis client.
 */
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createLocalCounter } from '../../work/local-counter.ts'
import { createLocalRateLimiter, decide, type RateLimit, type RateLimiter } from './rate-limit.ts'

/**
 * Stores the instant at which the token bucket is full again. It uses the clock of Redis, so the clocks of the
 * processes need not agree.
 */
const script = `
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local full = math.max(tonumber(redis.call('get', KEYS[1]) or '0'), now)
local cost, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
if full + cost - now <= capacity + 0.000001 then
  redis.call('set', KEYS[1], string.format('%.3f', full + cost), 'px', math.ceil(full + cost - now) + 1000)
end
return { string.format('%.3f', full), string.format('%.3f', now) }`

const commandTimeoutMs = 250
/**
 * A command that fails after this time or later has timed out. On a lost connection it would fail at once. This is only
 * half of the time limit, because timers may end early.
 */
const slowFailureMs = commandTimeoutMs / 2
/** After a timeout, Redis is not used for this long, so that not every request waits for a timeout. */
const pauseMs = 1_000

/**
 * Shares the token buckets in Redis. When Redis cannot be reached or is slow, this process uses buckets of its own and
 * reports that once. No request is refused because Redis fails.
 *
 * @param options.onAway called when Redis cannot be reached any more (true) and when it can be reached again (false)
 */
export function createSharedRateLimiter(options: {
  redisUrl: string
  limit: RateLimit
  onAway(away: boolean): void
}): RateLimiter {
  const { limit } = options
  const local = createLocalRateLimiter(limit)
  const redis = connectBuckets(options.redisUrl)
  let away = false
  const reportAway = (now: boolean) => {
    if (away !== now) options.onAway(now)
    away = now
  }
  const costMs = 1000 / limit.perSecond
  let pausedUntilMs = 0

  return {
    limit,
    async take(key) {
      const startedMs = performance.now()
      if (startedMs < pausedUntilMs) return local.take(key)
      try {
        const [full, now] = await redis.takeFromBucket(`perkline:rate:${key}`, costMs, limit.burst * costMs)
        reportAway(false)
        return decide(limit, Number(full), Number(now)).decision
      } catch {
        reportAway(true)
        const failedMs = performance.now()
        if (failedMs - startedMs >= slowFailureMs) pausedUntilMs = failedMs + pauseMs
        return local.take(key)
      }
    },
    async close() {
      redis.disconnect()
    },
  }
}

type Buckets = Redis & {
  /**
   * Takes one token from the bucket, if there is one.
   *
   * @returns `full`: when the bucket would be full again if this request took no token; `now`: the time. Both are in
   *   milliseconds by the clock of Redis
   */
  takeFromBucket(key: string, costMs: number, capacityMs: number): Promise<[full: string, now: string]>
}

function connectBuckets(redisUrl: string): Buckets {
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2_000,
    retryStrategy: attempt => Math.min(100 * attempt, 2_000),
  })
  redis.defineCommand('takeFromBucket', { numberOfKeys: 1, lua: script })
  // Callers handle failures of commands. Without a listener, this event would end the process.
  redis.on('error', () => {})
  return redis as Buckets
}

/**
 * Makes counters that all processes share, such as those of wrong passwords. While Redis cannot be reached, each
 * process counts on its own.
 */
export function createSharedCounter(redisUrl: string) {
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: commandTimeoutMs,
  })
  redis.on('error', () => {})
  return {
    counter: (keyPrefix: string, points: number, duration: number) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `perkline:${keyPrefix}`,
        points,
        duration,
        insuranceLimiter: createLocalCounter(keyPrefix, points, duration),
      }),
    close: () => redis.disconnect(),
  }
}
