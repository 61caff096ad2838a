/**
 * A real Prometheus reads a platform, with the shipped rules (`alerts.yml`). Each provoked problem must fire its alert,
 * and the alert must end with the problem.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { eventually } from '../support/patroni.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'

const rules = fileURLToPath(new URL('../../deploy/monitoring/alerts.yml', import.meta.url))
/** Each alert must fire within the waiting time of its rule and one more minute. */
const graceMs = 60_000

test('no stock, books that are broken, a process that ends: that page and no other fires, and resolves', async t => {
  if (!requireProgram(t, 'prometheus')) return
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-alerts-'))
  const metricsPort = await freePort()
  const settings = { ...sharedSettings(database.url, folder), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'error' }
  let platform = await startProcess(settings)
  t.after(async () => {
    await platform.kill()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  await openShop(platform, { profiles: 50, seed: 7_995 })
  const onSale = (tariff: string, isOn: boolean) =>
    database.database.execute('update tariffs set on_sale = $2 where code = $1', [tariff, isOn])
  for (const tariff of ['ua-5gb', 'empty', 'world']) await onSale(tariff, false)
  const prometheus = await startPrometheus(t, { rules, targets: [metricsPort] })
  const firing = async () => {
    const pages = (await prometheus.firing())?.filter(({ severity }) => severity === 'page') ?? []
    return [...new Set(pages.map(({ name }) => name))].sort()
  }
  const expectPages = (what: string, names: string[], withinMs: number) =>
    eventually(what, async () => String(await firing()) === String(names), withinMs)

  await onSale('empty', true)
  await expectPages('a tariff without stock pages', ['PerklineStockOut'], 60_000 + graceMs)
  await onSale('empty', false)
  await expectPages('it resolves', [], graceMs)

  await platform.admin('GET', '/audit')
  await database.database.execute(`update audit_runs set result = jsonb_set(result::jsonb, '{ok}', 'false')`)
  await expectPages('broken books page', ['PerklineBooksBroken'], graceMs)
  await platform.admin('GET', '/audit')
  await expectPages('they resolve', [], graceMs)

  await platform.stop()
  await expectPages('a platform that is gone pages', ['PerklineDown'], 60_000 + graceMs)
  platform = await startProcess(settings)
  await expectPages('it resolves when it is back', [], graceMs)
  assert.equal((await platform.call('GET', '/health/ready')).status, 200)
})
