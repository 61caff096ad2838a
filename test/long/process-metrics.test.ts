/** Metrics of the process itself (contract/production.md, "Metrics"). */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { serveMetrics } from '../../src/server/metrics.ts'
import { version } from '../../src/version.ts'
import { createConcurrencyLimit } from '../../src/work/concurrency-limit.ts'
import { until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { startRedisServer } from '../support/redis.ts'
import { requireProgram } from '../support/require-program.ts'

async function scrapeOf(platform: TestPlatform): Promise<{ read(): Promise<string>; close(): void }> {
  const server = await serveMetrics(platform.platform.metrics, { host: '127.0.0.1', port: 0 })
  const { port } = server.address() as { port: number }
  return {
    read: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    close: () => void server.close(),
  }
}

const sample = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find(each => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

test('a process tells its version, that it is ready, and how its jobs go', async () => {
  const platform = await startPlatform({ INSTANCE: 'perkline-7' })
  const metrics = await scrapeOf(platform)
  try {
    const text = await metrics.read()
    assert.match(
      text,
      new RegExp(
        `^perkline_build_info\\{version="${version}",node="${process.version}",instance="perkline-7"\\} 1$`,
        'm',
      ),
    )
    assert.equal(sample(text, 'perkline_ready{instance="perkline-7"}'), 1)
    assert.equal(sample(text, 'perkline_serves_partners{instance="perkline-7"}'), 1)
    assert.equal(sample(text, 'perkline_schema_pending{instance="perkline-7"}'), 0)
    assert.equal(sample(text, 'perkline_lapsed_reservations{instance="perkline-7"}'), 0)
    assert.equal(sample(text, 'perkline_shared_limits_available{instance="perkline-7"}'), 0)
    assert.equal(sample(text, 'perkline_database_recovery_total{instance="perkline-7"}'), 0)
    const now = Date.now() / 1_000
    for (const job of ['pass-time', 'expire-reservations', 'fold-sales']) {
      const last = sample(text, `perkline_job_last_success_seconds{job="${job}",instance="perkline-7"}`)
      assert.ok(last !== undefined && Math.abs(now - last) < 60, `${job}: ${last}`)
    }
    assert.equal(sample(text, 'perkline_job_interval_seconds{job="pass-time",instance="perkline-7"}'), 1)
    await until('a job has run', async () =>
      /^perkline_job_duration_seconds_count\{.*job="pass-time".*\} [1-9]/m.test(await metrics.read()),
    )
    platform.platform.drain()
    assert.equal(sample(await metrics.read(), 'perkline_ready{instance="perkline-7"}'), 0)
  } finally {
    metrics.close()
    await platform.close()
  }
})

test('the last audit is told; without one, the time since which there could have been one', async () => {
  const platform = await startPlatform()
  const before = await scrapeOf(platform)
  try {
    const text = await before.read()
    assert.equal(sample(text, 'perkline_audit_ok'), undefined)
    assert.ok((sample(text, 'perkline_audit_last_seconds') ?? 0) > 1_700_000_000)
    const operator = { token: platform.config.operatorKey }
    assert.equal((await platform.call('GET', '/admin/audit', operator)).body.ok, true)
    // A new process, because values from the database are kept for 15 seconds.
    const sibling = await platform.sibling()
    const after = await scrapeOf(sibling)
    const { body } = await platform.call('GET', '/admin/audit/last', operator)
    assert.equal(sample(await after.read(), 'perkline_audit_ok'), 1)
    const told = sample(await after.read(), 'perkline_audit_last_seconds') ?? 0
    assert.ok(Math.abs(told - Date.parse(body.last.finishedAt) / 1_000) < 0.01)
    await platform.platform.database.execute(`update audit_runs set result = jsonb_set(result::jsonb, '{ok}', 'false')`)
    after.close()
    await sibling.close()
    const third = await platform.sibling()
    const broken = await scrapeOf(third)
    assert.equal(sample(await broken.read(), 'perkline_audit_ok'), 0)
    broken.close()
    await third.close()
  } finally {
    before.close()
    await platform.close()
  }
})

test('requests that wait and requests that are refused with 429 are counted', async () => {
  const platform = await startPlatform({ RATE_LIMIT: '1/1' })
  const metrics = await scrapeOf(platform)
  try {
    const turns = createConcurrencyLimit({ atOnce: 1, perPartner: 1, waiting: 5, waitMs: 10_000 }, 'busy', 'documents')
    const end = await turns.take('a', new AbortController().signal)
    const leaving = new AbortController()
    const waiting = turns.take('b', leaving.signal).catch(() => null)
    assert.equal(sample(await metrics.read(), 'perkline_turns_waiting{kind="documents"}'), 1)
    leaving.abort()
    await waiting
    end()
    const token = await platform.bankToken()
    for (let tried = 0; tried < 3; tried++) await platform.call('GET', '/esim/v1/operators', { token })
    const text = await metrics.read()
    assert.equal(sample(text, 'perkline_turns_waiting{kind="documents"}'), 0)
    assert.ok((sample(text, 'perkline_rate_limited_total{api="esim"}') ?? 0) >= 1)
  } finally {
    metrics.close()
    await platform.close()
  }
})

test('the level of each tariff at the stock desk is told', async () => {
  const platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 3)
  const metrics = await scrapeOf(platform)
  try {
    const text = await metrics.read()
    const level = (tariff: string, name: string) =>
      sample(text, `perkline_stock_level{operator="kyivstar",tariff="${tariff}",level="${name}"}`)
    assert.deepEqual([level('eu-10gb', 'enough'), level('eu-10gb', 'low'), level('eu-10gb', 'out')], [1, 0, 0])
    assert.deepEqual([level('empty', 'enough'), level('empty', 'low'), level('empty', 'out')], [0, 0, 1])
  } finally {
    metrics.close()
    await platform.close()
  }
})

test('shared limits: 1 while Redis answers, 0 when it is away', async t => {
  if (!requireProgram(t, 'redis-server')) return
  const redis = await startRedisServer()
  const platform = await startPlatform({ REDIS_URL: redis.url, API_RATE_LIMIT: '1000/1000' })
  const metrics = await scrapeOf(platform)
  const shared = async () => {
    await platform.call('GET', '/admin/overview', { token: platform.config.operatorKey })
    return sample(await metrics.read(), 'perkline_shared_limits_available')
  }
  try {
    await until('it is shared', async () => (await shared()) === 1)
    await redis.stop()
    await until('it is told to be away', async () => (await shared()) === 0)
  } finally {
    metrics.close()
    await platform.close()
    await redis.close()
  }
})

test('a database that is lost is counted for as long as it is tried to reach', async () => {
  const platform = await startPlatform({ LOG_LEVEL: 'silent' })
  const metrics = await scrapeOf(platform)
  try {
    await platform.platform.database.execute(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like '%:news'`,
    )
    await until(
      'it is counted',
      async () => (sample(await metrics.read(), 'perkline_database_recovery_total') ?? 0) >= 1,
    )
  } finally {
    metrics.close()
    await platform.close()
  }
})
