/**
 * Upgrades ten times from the previous release to this one and back, behind a balancer, during sales that repeat no
 * request (contract/production.md, "Upgrades"): no request fails, and the books agree. upgrade.test.ts does this once,
 * with campaigns.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { bankAt, range } from '../support/esim.ts'
import { startHaproxy } from '../support/haproxy.ts'
import { callAt } from '../support/process.ts'
import { continuing, openReleases, unpackPrevious } from '../support/release-before.ts'
import { requireProgram } from '../support/require-program.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { openShop } from '../support/world.ts'

const rounds = 10
const folder = mkdtempSync(join(tmpdir(), 'perkline-upgrades-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test(`rolled out and back ${rounds} times: no request fails`, async t => {
  if (!requireProgram(t, 'haproxy')) return
  const root = unpackPrevious(folder)
  if (!root) return t.skip('the history does not reach back to the release before')
  const database = await createTestDatabase({ migrated: false })
  const { ports, settings, startOld, startNew } = await openReleases(root, database.url, folder)
  let old = await startOld()
  let current: typeof old | null = null
  const balancer = await startHaproxy(ports)
  try {
    const { alpha } = await openShop(old, { profiles: 20_000, seed: 7_902 })
    await using load = steadyLoad(bankAt({ call: callAt(balancer.url) }, alpha))
    const goesOn = continuing(load)
    await goesOn('the version before sells')
    const migrated = await perkline(['migrate'], { env: { ...settings, PERKLINE_URL: '' }, cwd: folder })
    assert.equal(migrated.code, 0, migrated.stderr)
    for (const round of range(rounds)) {
      current = await startNew()
      await goesOn(`round ${round}: both serve`)
      await old.stop()
      await goesOn(`round ${round}: the new one alone`)
      old = await startOld()
      await goesOn(`round ${round}: both serve again`)
      assert.equal(await current.stop(), 0)
      await goesOn(`round ${round}: the version before is back`)
      process.stdout.write(`# round ${round + 1}: ${load.answered()} requests answered\n`)
    }
    const { faults, answered, slowestMs } = await load.end()
    t.diagnostic(JSON.stringify({ rounds, answered, failed: faults.length, slowestMs }))
    assert.deepEqual(faults, [])
    current = await startNew()
    const audit = await current.admin('GET', '/audit')
    assert.deepEqual(
      audit.checks.filter((one: { ok: boolean }) => !one.ok),
      [],
    )
    await current.stop()
  } finally {
    await Promise.all([old.kill(), current?.kill()])
    await balancer.close()
    await database.close()
  }
})
