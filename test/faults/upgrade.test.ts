/**
 * Upgrades from the previous release to this one and goes back, behind a balancer, during sales
 * (contract/production.md, "Upgrades"). The previous release comes from the project's own history. A shallow checkout
 * does not contain it, so there the test is skipped.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Campaigners, campaignSteps, openCampaigners } from '../support/campaigners.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { bankAt } from '../support/esim.ts'
import { startHaproxy } from '../support/haproxy.ts'
import { callAt, type PerklineProcess } from '../support/process.ts'
import { continuing, openReleases, unpackPrevious } from '../support/release-before.ts'
import { requireProgram } from '../support/require-program.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { openShop } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-upgrade-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A merchant creates a campaign, its bank approves it, and the merchant launches it. */
async function runCampaign(platform: PerklineProcess, campaigners: Campaigners, name: string): Promise<void> {
  const { make, approve, launch } = campaignSteps(platform, campaigners)
  const made = await make(name)
  assert.equal(made.status, 201, made.text)
  for (const move of [approve, launch]) {
    const answer = await move(made.body.id)
    assert.equal(answer.status, 201, answer.text)
  }
}

test('the version before serves on; the new one joins, takes over and is taken back: no request fails and the books agree', async t => {
  if (!requireProgram(t, 'haproxy')) return
  const root = unpackPrevious(folder)
  if (!root) return t.skip('the history does not reach back to the release before')
  const database = await createTestDatabase({ migrated: false })
  const { ports, settings, startOld, startNew } = await openReleases(root, database.url, folder)
  let old = await startOld()
  const balancer = await startHaproxy(ports)
  try {
    // The partners of campaigns come first, because their directory file gives them ids. An existing partner cannot get another id.
    const campaigners = await openCampaigners(old)
    const { alpha } = await openShop(old, { profiles: 4_000, seed: 7_901 })
    await runCampaign(old, campaigners, 'before')
    const behind = { ...old, url: balancer.url, call: callAt(balancer.url) }
    await using load = steadyLoad(bankAt(behind, alpha))
    const goesOn = continuing(load)
    await goesOn('the version before sells')
    const env = { ...settings, PERKLINE_URL: '' }
    const check = await perkline(['migrate', '--check', '--json'], { env, cwd: folder })
    assert.equal(check.code, 0, check.stderr)
    assert.deepEqual(JSON.parse(check.stdout).connected, ['0.2', '0.3'])
    const migrated = await perkline(['migrate'], { env, cwd: folder })
    assert.equal(migrated.code, 0, migrated.stderr)
    await goesOn('it goes on on the new schema')
    await runCampaign(old, campaigners, 'on the new schema')

    let current = await startNew()
    await goesOn('both serve')
    await runCampaign(current, campaigners, 'by the new one')
    await old.stop()
    await goesOn('the new one alone')
    old = await startOld()
    await goesOn('the version before is back')
    await runCampaign(old, campaigners, 'taken back')
    assert.equal(await current.stop(), 0)
    await goesOn('the version before alone')
    current = await startNew()
    await goesOn('the new one again')
    const { faults, answered } = await load.end()
    t.diagnostic(`${answered} requests`)
    assert.deepEqual(faults, [])
    const audit = await current.admin('GET', '/audit')
    assert.deepEqual(
      audit.checks.filter((one: { ok: boolean }) => !one.ok),
      [],
    )
    await current.stop()
  } finally {
    await old.kill()
    await balancer.close()
    await database.close()
  }
})
