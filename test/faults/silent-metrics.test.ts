/** Metrics are needed most while the database is silent: they come before Prometheus gives up (contract/operations.md, "Metrics and log"). */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import { sharedSettings, startProcess } from '../support/process.ts'

/** Prometheus' own limit, without more in its configuration. */
const scrapeLimitMs = 10_000

test('a process whose database has fallen silent serves its metrics in time, and says that it is not ready', async () => {
  const database = await createTestDatabase()
  const proxy = await startMuteProxy(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'perkline-silent-metrics-'))
  const port = await freePort()
  const platform = await startProcess({ ...sharedSettings(proxy.url, folder), METRICS_PORT: String(port) })
  try {
    const read = async () => {
      const signal = AbortSignal.timeout(scrapeLimitMs)
      return (await fetch(`http://127.0.0.1:${port}/metrics`, { signal })).text()
    }
    assert.match(await read(), /^perkline_ready 1$/m)
    proxy.fallSilent()
    for (let scrape = 0; scrape < 3; scrape++) {
      const text = await read()
      assert.match(text, /^perkline_ready 0$/m)
      assert.match(text, /^perkline_database_connections\{state="busy"\} \d+$/m)
    }
  } finally {
    await platform.kill()
    await proxy.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
