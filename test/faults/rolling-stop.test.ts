/** Processes in live mode behind haproxy, each stopped by SIGTERM and started again in turn (contract/reliability.md, "Facts"). */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { bankAt, proveBooks, range, until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { startHaproxy } from '../support/haproxy.ts'
import { callAt, sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { openShop } from '../support/world.ts'

/** Matches the log line of a request for an order. A process whose log contains it has sold. */
const sold = /"route":"\/esim\/v1\/orders"/
const stock = { profiles: 4_000, seed: 7_301 }

test('two processes behind haproxy, each stopped and started again in turn: no request fails', async t => {
  if (!requireProgram(t, 'haproxy')) return
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-rolling-'))
  const ports = [await freePort(), await freePort()]
  const settings = {
    ...sharedSettings(database.url, folder),
    PERKLINE_MODE: 'live',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'no-reply@perkline.example',
  }
  const start = (index: number) => startProcess({ ...settings, PORT: String(ports[index]) })
  const processes = await Promise.all(range(2).map(start))
  try {
    const { alpha } = await openShop(processes[0] ?? assert.fail(), stock)
    const balancer = await startHaproxy(ports)
    try {
      await using load = steadyLoad(bankAt({ call: callAt(balancer.url) }, alpha))
      const sells = (index: number) => sold.test(processes[index]?.output() ?? '')
      await until('each has its share', () => range(2).every(sells))
      const logs: string[] = []
      for (const index of range(2)) {
        const before = load.answered()
        const process = processes[index] ?? assert.fail()
        assert.equal(await process.stop(), 0)
        logs.push(process.output())
        await until('the other one serves meanwhile', () => load.answered() > before + 50)
        processes[index] = await start(index)
        // Do not stop the other process until the balancer sends requests to this one again.
        await until('it has its share again', () => sells(index))
      }
      const { answered, faults } = await load.end()
      t.diagnostic(`${answered} requests answered`)
      assert.deepEqual(faults, [])
      for (const log of logs) assert.match(log, sold, 'each had its share')
      await proveBooks(database.database, new Date())
    } finally {
      await balancer.close()
    }
  } finally {
    await Promise.all(processes.map(process => process.kill()))
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
