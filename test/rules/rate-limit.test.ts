import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createThrottle } from '../../src/access/throttle.ts'
import {
  createLocalRateLimiter,
  type Decision,
  type RateLimit,
  type RateLimiter,
  rateLimitHeaders,
} from '../../src/http/limits/rate-limit.ts'
import { createSharedRateLimiter } from '../../src/http/limits/shared-limits.ts'
import { startRedisServer } from '../support/redis.ts'
import { requireProgram } from '../support/require-program.ts'

/** A bucket whose clock the test moves. */
function bucket(limit: RateLimit) {
  let nowMs = 5_000
  const limiter = createLocalRateLimiter(limit, () => nowMs)
  return {
    take: (key = 'alpha') => limiter.take(key) as Decision,
    takeAll(key = 'alpha', most = 10_000) {
      for (let taken = 0; taken < most; taken++) if (!(limiter.take(key) as Decision).allowed) return taken
      return most
    },
    pass(ms: number) {
      nowMs += ms
    },
  }
}

/** How many of `count` simultaneous requests are allowed. */
async function allowedOf(limiters: RateLimiter[], count: number, key = 'alpha'): Promise<number> {
  const asked = Array.from({ length: count }, (_, index) => limiters[index % limiters.length]?.take(key))
  return (await Promise.all(asked)).filter(decision => decision?.allowed).length
}

test('a burst is let through, the next request is not', () => {
  const { take, takeAll } = bucket({ perSecond: 100, burst: 200 })
  assert.equal(takeAll(), 200)
  assert.deepEqual(take(), { allowed: false, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 })
})

test('after the burst so many a second are let through', () => {
  const { take, takeAll, pass } = bucket({ perSecond: 100, burst: 200 })
  takeAll()
  pass(9)
  assert.equal(take().allowed, false)
  pass(1)
  assert.equal(takeAll(), 1)
  pass(1_000)
  assert.equal(takeAll(), 100)
  pass(60_000)
  assert.equal(takeAll(), 200, 'a long rest gives one burst and no more')
})

test('refused requests use up no limit: a client that keeps sending is allowed again in time', () => {
  const { take, takeAll, pass } = bucket({ perSecond: 10, burst: 5 })
  takeAll()
  for (let index = 0; index < 1_000; index++) assert.equal(take().allowed, false)
  pass(100)
  assert.equal(take().allowed, true)
})

test('the answer tells how many may follow, and when it is full again', () => {
  const { take, pass } = bucket({ perSecond: 2, burst: 4 })
  assert.deepEqual(take(), { allowed: true, remaining: 3, resetSeconds: 1, retryAfterSeconds: 1 })
  assert.deepEqual(take(), { allowed: true, remaining: 2, resetSeconds: 1, retryAfterSeconds: 1 })
  pass(10_000)
  assert.equal(take().remaining, 3)
})

test('a caller that waits as long as the answer says is let through', () => {
  for (const limit of [
    { perSecond: 1, burst: 1 },
    { perSecond: 3, burst: 7 },
    { perSecond: 100, burst: 200 },
  ]) {
    const { take, takeAll, pass } = bucket(limit)
    takeAll()
    pass(take().retryAfterSeconds * 1000)
    assert.ok(take().allowed, JSON.stringify(limit))
  }
})

test('one bank does not use up the limit of another', () => {
  const { take, takeAll } = bucket({ perSecond: 1, burst: 3 })
  takeAll('alpha')
  assert.equal(take('alpha').allowed, false)
  assert.equal(takeAll('beta'), 3)
})

test('the fields of the answer are as the IETF draft has them', () => {
  const limit = { perSecond: 100, burst: 200 }
  assert.deepEqual(rateLimitHeaders(limit, null), {
    'ratelimit-policy': '"bank";q=200;w=2',
    ratelimit: '"bank";r=200;t=0',
  })
  const decision = { allowed: true, remaining: 17, resetSeconds: 2, retryAfterSeconds: 1 }
  assert.equal(rateLimitHeaders(limit, decision).ratelimit, '"bank";r=17;t=2')
})

async function sharedLimiters(t: TestContext, count: number, limit: RateLimit) {
  const redis = await startRedisServer()
  t.after(() => redis.close())
  const told: string[] = []
  const limiters = Array.from({ length: count }, (_, index) => {
    const onAway = (away: boolean) => void told.push(`${index} ${away ? 'away' : 'back'}`)
    const limiter = createSharedRateLimiter({ redisUrl: redis.url, limit, onAway })
    t.after(() => limiter.close())
    return limiter
  })
  return { redis, limiters, told }
}

/** With this limit, the bucket does not refill during a test. */
const slowly = { perSecond: 0.001 }

/**
 * Waits until each limiter has reached the store. It uses a key of its own, so that the tested limit is not affected.
 */
async function untilShared(limiters: RateLimiter[], told: string[]): Promise<void> {
  const away = (index: number) => told.findLast(line => line.startsWith(`${index} `)) === `${index} away`
  for (const [index, limiter] of limiters.entries())
    for (let attempt = 0; attempt === 0 || away(index); attempt++) {
      if (attempt > 0) await sleep(10)
      await limiter.take(`warm-up-${index}-${attempt}`)
    }
}

/**
 * Repeats `ask`, up to ten times, until no limiter loses the store during the run. A stall of this process looks like a
 * lost store. Each run has a new key, because an earlier run may have used a part of the old key's limit.
 */
async function whileShared<Told>(
  { limiters, told }: { limiters: RateLimiter[]; told: string[] },
  name: string,
  ask: (key: string) => Promise<Told>,
): Promise<Told> {
  for (let attempt = 0; attempt < 10; attempt++) {
    await untilShared(limiters, told)
    const toldBefore = told.length
    const answer = await ask(`${name}-${attempt}`)
    if (told.length === toldBefore) return answer
  }
  assert.fail(`the store is away again and again: ${told}`)
}

test('with a store the limit holds over all processes together', async t => {
  if (!requireProgram(t, 'redis-server')) return
  const shared = await sharedLimiters(t, 3, { ...slowly, burst: 30 })
  const { limiters } = shared
  const [allowed, next] = await whileShared(shared, 'alpha', async key => [
    await allowedOf(limiters, 90, key),
    await limiters[0]?.take(key),
  ])
  assert.equal(allowed, 30)
  assert.deepEqual([next?.allowed, next?.remaining], [false, 0])
  const waits = next?.retryAfterSeconds ?? 0
  assert.ok(waits > 900 && waits <= 1_000, `${waits} s`)
  const others = await whileShared(shared, 'beta', key => allowedOf(limiters, 90, key))
  assert.equal(others, 30, 'each bank for itself')
})

test('with the store away each process limits by itself and says so once; back again the limit is shared again', async t => {
  if (!requireProgram(t, 'redis-server')) return
  const shared = await sharedLimiters(t, 3, { ...slowly, burst: 30 })
  const { redis, limiters, told } = shared
  await untilShared(limiters, told)
  told.length = 0
  await redis.stop()
  assert.equal(await allowedOf(limiters, 150), 90)
  assert.deepEqual([...told].sort(), ['0 away', '1 away', '2 away'])
  await redis.start()
  await untilShared(limiters, told)
  assert.deepEqual([...told].sort(), ['0 away', '0 back', '1 away', '1 back', '2 away', '2 back'])
  assert.equal(await whileShared(shared, 'gamma', key => allowedOf(limiters, 90, key)), 30)
})

/** Checks that a request does not wait for the store. */
async function expectNoWait(limiter: RateLimiter | undefined): Promise<void> {
  const next = await Promise.race([limiter?.take('gamma'), turn('waits for the store')])
  assert.notEqual(next, 'waits for the store', 'one timeout is enough to leave the store alone')
}

test('with a store that hangs requests go on by the limit of each process', async t => {
  if (!requireProgram(t, 'redis-server')) return
  const shared = await sharedLimiters(t, 2, { ...slowly, burst: 20 })
  const { redis, limiters, told } = shared
  await untilShared(limiters, told)
  told.length = 0
  redis.freeze()
  // Timers count in whole milliseconds, so a timer that begins late in a millisecond ends almost a millisecond early.
  // This waits for such a moment, to test this case.
  while (process.hrtime.bigint() % 1_000_000n < 900_000n);
  await limiters[0]?.take('delta')
  await expectNoWait(limiters[0])
  assert.equal(await allowedOf(limiters, 80), 40)
  assert.deepEqual([...told].sort(), ['0 away', '1 away'])
  await expectNoWait(limiters[1])
  redis.thaw()
  assert.equal(await whileShared(shared, 'beta', key => allowedOf(limiters, 80, key)), 20)
})

const failing = async (throttle: ReturnType<typeof createThrottle>, address: string, name: string, times: number) => {
  for (let index = 0; index < times; index++) {
    await throttle.check(address, name)
    await throttle.fail(address, name)
  }
}
const tooMany = { name: 'DomainError', code: 'too-many' }

test('after 10 failures for one name an address waits, for this name alone; other addresses do not', async () => {
  const throttle = createThrottle()
  await failing(throttle, '192.0.2.1', 'pk_a', 10)
  await assert.rejects(throttle.check('192.0.2.1', 'pk_a'), (error: { retryAfterSeconds: number }) => {
    assert.ok(error.retryAfterSeconds >= 1 && error.retryAfterSeconds <= 60)
    return true
  })
  await throttle.check('192.0.2.1', 'pk_b')
  await throttle.check('192.0.2.2', 'pk_a')
})

test('after 50 failures for whatever names an address waits for every name', async () => {
  const throttle = createThrottle()
  for (let name = 0; name < 10; name++) await failing(throttle, '192.0.2.1', `pk_${name}`, 5)
  await assert.rejects(throttle.check('192.0.2.1', 'pk_new'), tooMany)
  await throttle.check('192.0.2.2', 'pk_new')
})

test('failures at the same instant count one by one: no more than 10 are ever told that they failed', async () => {
  const throttle = createThrottle()
  const attempt = async () => {
    await throttle.check('192.0.2.1', 'pk_a')
    await throttle.fail('192.0.2.1', 'pk_a')
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, attempt))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
})
