/**
 * Metrics are needed most while the database is silent. They must arrive before Prometheus gives up
 * (contract/operations.md, "Metrics and log").
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import { eventually } from '../support/patroni.ts'
import { sharedSettings, startProcess } from '../support/process.ts'

/** The default limit of Prometheus. */
const scrapeLimitMs = 10_000

test('a process whose database has fallen silent serves its metrics in time, and says that it is not ready', async () => {
  const database = await createTestDatabase()
  await database.database.execute(
    `insert into campaign_counts (party_id, campaign_status, bank_status, campaigns) values (gen_random_uuid(), 'active', '', 7)`,
  )
  const proxy = await startMuteProxy(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'perkline-silent-metrics-'))
  const port = await freePort()
  const platform = await startProcess({ ...sharedSettings(proxy.url, folder), METRICS_PORT: String(port) })
  try {
    const read = async () => {
      const signal = AbortSignal.timeout(scrapeLimitMs)
      return (await fetch(`http://127.0.0.1:${port}/metrics`, { signal })).text()
    }
    const before = await read()
    assert.match(before, /^perkline_ready 1$/m)
    assert.match(before, /^perkline_campaigns\{status="active"\} 7$/m)
    const changing = ['perkline_events_lag_seconds', 'perkline_webhook_pending', 'perkline_statements_late_seconds']
    for (const name of changing) assert.match(before, new RegExp(`^${name} [0-9.]+$`, 'm'))
    // Counts are read again after 15 seconds.
    await sleep(15_000)
    proxy.fallSilent()
    for (let scrape = 0; scrape < 3; scrape++) {
      const text = await read()
      assert.match(text, /^perkline_ready 0$/m)
      assert.match(text, /^perkline_campaigns\{status="active"\} 7$/m, 'the last counts stay')
      for (const name of changing)
        assert.doesNotMatch(text, new RegExp(`^${name} `, 'm'), 'an old value would be wrong')
      assert.match(text, /^perkline_database_connections\{state="busy"\} \d+$/m)
    }
    const recoveries = async () => Number(/^perkline_database_recovery_total (\d+)$/m.exec(await read())?.[1])
    const asked = Array.from({ length: 3 }, () => platform.call('GET', '/health/ready'))
    await eventually(
      'what waits for a new connection is counted',
      async () => Number(/^perkline_database_connections\{state="waiting"\} (\d+)$/m.exec(await read())?.[1]) > 0,
      10_000,
    )
    await Promise.all(asked)
    // The alert compares two scrapes, so one attempt is not enough.
    await eventually('attempts to reach it are counted', async () => (await recoveries()) >= 2, 30_000)
    proxy.speakAgain()
    await eventually('it is ready again', async () => /^perkline_ready 1$/m.test(await read()), 15_000)
    // An attempt that began in the silence may still be counted.
    const isReached = async () => {
      const since = await recoveries()
      await sleep(12_000)
      return (await recoveries()) === since
    }
    await eventually('it is reached, and nothing more is counted', isReached, 60_000)
  } finally {
    await platform.kill()
    await proxy.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
