/** Processes in live mode behind haproxy, each stopped by SIGTERM and started again in turn (reliability.md, fact 8). */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from './support/database.ts'
import { bankAt, proveBooks, range } from './support/esim.ts'
import { freePort } from './support/free-port.ts'
import { startHaproxy } from './support/haproxy.ts'
import { callAt, sharedSettings, startProcess } from './support/process.ts'
import { requireProgram } from './support/require-program.ts'
import { steadyLoad } from './support/steady-load.ts'
import { openShop } from './support/world.ts'

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
      await sleep(500)
      const logs: string[] = []
      for (const index of range(2)) {
        const before = load.answered()
        const process = processes[index] ?? assert.fail()
        assert.equal(await process.stop(), 0)
        logs.push(process.output())
        processes[index] = await start(index)
        assert.ok(load.answered() > before + 50, 'the other one served meanwhile')
        // Until the balancer's next look at it is certainly over, the other one must stay.
        await sleep(1_200)
      }
      const { answered, faults } = await load.end()
      t.diagnostic(`${answered} requests answered`)
      assert.deepEqual(faults, [])
      for (const log of logs) assert.match(log, /"route":"\/esim\/v1\/orders"/, 'each had its share')
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
