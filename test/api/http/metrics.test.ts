/** Prometheus metrics (contract/operations.md, "Metrics and log"). */
import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { after, before, test } from 'node:test'
import { createMetrics, serveMetrics } from '../../../src/server/metrics.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let server: Server
let url: string
before(async () => {
  platform = await startPlatform()
  server = await serveMetrics(platform.platform.metrics, { host: '127.0.0.1', port: 0 })
  url = urlOf(server)
})
after(async () => {
  server.close()
  await platform.close()
})

const urlOf = (of: Server) => `http://127.0.0.1:${(of.address() as { port: number }).port}`
const scrape = async (from = url) => (await fetch(`${from}/metrics`)).text()

/** The value of a series whose labels include the given ones; undefined when there is none. */
function seriesOf(text: string, name: string, labels: Record<string, string>): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const line = text
    .split('\n')
    .find(found => found.startsWith(`${name}{`) && wanted.every(label => found.includes(label)))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}

test('they are served at /metrics alone, as Prometheus reads them', async () => {
  const answer = await fetch(`${url}/metrics`)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const text = await answer.text()
  assert.match(text, /^# TYPE perkline_http_request_seconds histogram$/m)
  assert.match(text, /^process_resident_memory_bytes /m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  for (const path of ['/', '/health/live', '/metrics/x', '/esim/v1/operators'])
    assert.equal((await fetch(url + path)).status, 404, path)
  assert.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 404)
  assert.equal((await platform.call('GET', '/metrics')).status, 404, 'not beside the API')
})

test('requests are counted by method, route and code, with their times', async () => {
  const token = await platform.bankToken()
  const labels = { method: 'GET', route: '/esim/v1/orders/:orderId', code: '404' }
  const count = (text: string) => seriesOf(text, 'perkline_http_request_seconds_count', labels) ?? 0
  const before = count(await scrape())
  for (const end of ['11', '12', '13'])
    await platform.call('GET', `/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b${end}`, { token })
  const text = await scrape()
  assert.equal(count(text), before + 3)
  assert.equal(seriesOf(text, 'perkline_http_request_seconds_bucket', { ...labels, le: '+Inf' }), before + 3)
  assert.ok((seriesOf(text, 'perkline_http_request_seconds_sum', labels) ?? 0) > 0)
  assert.ok(!text.includes('019aa5a2'), 'no path, only routes')
})

test('paths that no route knows are one series, however many are tried', async () => {
  for (let index = 0; index < 30; index++) await platform.call('GET', `/esim/v1/guess-${index}`)
  const text = await scrape()
  assert.ok((seriesOf(text, 'perkline_http_request_seconds_count', { route: 'unknown', code: '404' }) ?? 0) >= 30)
  assert.ok(!text.includes('guess'))
})

test('tokens are counted by outcome', async () => {
  const count = (text: string, outcome: string) => seriesOf(text, 'perkline_token_requests_total', { outcome }) ?? 0
  const before = await scrape()
  await platform.bankToken()
  for (let index = 0; index < 12; index++)
    await platform.call('POST', '/getToken/auth', { body: { clientId: 'pk_planted', secret: 'planted-secret' } })
  const text = await scrape()
  assert.equal(count(text, 'issued') - count(before, 'issued'), 1)
  assert.equal(count(text, 'refused') - count(before, 'refused'), 10)
  assert.equal(count(text, 'throttled') - count(before, 'throttled'), 2)
  assert.ok(!text.includes('planted'))
})

test('reservations are counted by outcome, and stock and connections are told', async () => {
  // A new process, because the stock is counted at most every 15 seconds.
  await platform.addStock('kyivstar', 'eu-10gb', 3)
  const sibling = await platform.sibling()
  const scraped = await serveMetrics(sibling.platform.metrics, { host: '127.0.0.1', port: 0 })
  try {
    const token = await platform.bankToken()
    const order = (tariffCode: string, externalId: string) =>
      sibling.call('POST', '/esim/v1/orders', { token, body: { operatorCode: 'kyivstar', tariffCode, externalId } })
    assert.equal((await order('eu-10gb', 'metrics-1')).status, 201)
    assert.equal((await order('eu-10gb', 'metrics-1')).status, 200)
    assert.equal((await order('empty', 'metrics-2')).status, 503)
    const text = await scrape(urlOf(scraped))
    const outcomes = text.match(/^perkline_reservations_total\{outcome="[^"]+"\} 1$/gm)
    assert.equal(outcomes?.length, 3, text.match(/^perkline_reservations_total.*$/gm)?.join('\n'))
    const stock = (state: string) =>
      seriesOf(text, 'perkline_stock_profiles', { operator: 'kyivstar', tariff: 'eu-10gb', state })
    assert.deepEqual([stock('free'), stock('reserved'), stock('sold'), stock('withdrawn')], [2, 1, 0, 0])
    for (const state of ['busy', 'idle', 'waiting'])
      assert.notEqual(seriesOf(text, 'perkline_database_connections', { state }), undefined, state)
  } finally {
    scraped.close()
    await sibling.close()
  }
})

test('with the database away the other metrics are still told', async () => {
  const failures: string[] = []
  const metrics = createMetrics({
    log: { failed: name => void failures.push(name), succeeded() {} },
    pool: () => ({ total: 0, idle: 0, waiting: 7 }),
    countStock: () => Promise.reject(new Error('away')),
    countHolders: () => Promise.reject(new Error('away')),
    countWaiting: () => Promise.reject(new Error('away')),
    lateSeconds: async () => 0,
    countFeedWaiting: () => 0,
    countEndpoints: () => Promise.reject(new Error('away')),
  })
  const alone = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 })
  try {
    const answer = await fetch(`${urlOf(alone)}/metrics`)
    assert.equal(answer.status, 200)
    assert.equal(seriesOf(await answer.text(), 'perkline_database_connections', { state: 'waiting' }), 7)
    assert.deepEqual(failures.sort(), ['perkline_open_reservations', 'perkline_stock_level'])
  } finally {
    alone.close()
  }
})
