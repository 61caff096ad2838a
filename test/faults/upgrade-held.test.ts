/**
 * A process of the previous release works while `perkline migrate` is held up, and campaigns whose copies an earlier
 * `perkline migrate` left wrong are mended (contract/production.md, "Upgrades").
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { campaignSteps, openCampaigners } from '../support/campaigners.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase, isBuildingIndex } from '../support/database.ts'
import { until } from '../support/esim.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { openReleases, unpackPrevious } from '../support/release-before.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-held-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const brokenChecks = async (platform: PerklineProcess): Promise<object[]> =>
  (await platform.admin('GET', '/audit')).checks.filter((one: { ok: boolean }) => !one.ok)

/** Whether somebody waits for a lock on the table. */
async function waitsFor(database: Database, table: string): Promise<boolean> {
  const [row] = await database.query<{ waits: boolean }>(
    'select exists (select from pg_locks where relation = to_regclass($1) and not granted) as waits',
    [table],
  )
  return row?.waits ?? false
}

test('while a long read holds `migrate` up, the version before decides on campaigns and creates them', async t => {
  const root = unpackPrevious(folder)
  if (!root) return t.skip('the history does not reach back to the release before')
  const database = await createTestDatabase({ migrated: false })
  const { settings, startOld, startNew } = await openReleases(root, database.url, folder)
  const old = await startOld()
  try {
    const { make, approve, launch } = campaignSteps(old, await openCampaigners(old))
    const expect201 = async (answer: ReturnType<typeof make>): Promise<string> => {
      const { status, text, body } = await answer
      assert.equal(status, 201, text)
      return body.id
    }
    const [approvedBefore, pendingBefore] = [await expect201(make('approved before')), await expect201(make('pending'))]
    await expect201(approve(approvedBefore))

    const reader = await database.database.connect()
    // Of the migrations after 0028, 0035 is the first that needs this table alone.
    await reader.query('begin; select from portal_users limit 1')
    const migrating = perkline(['migrate'], { env: { ...settings, PERKLINE_URL: '' }, cwd: folder })
    await until('migrate is held up', () => waitsFor(database.database, 'portal_users'))

    await expect201(launch(approvedBefore))
    await expect201(approve(pendingBefore))
    await expect201(approve(await expect201(make('made meanwhile'))))
    await reader.query('commit')
    await reader.end()
    const { code, stderr } = await migrating
    assert.equal(code, 0, stderr)
    const current = await startNew()
    assert.deepEqual(await brokenChecks(current), [])
    await current.stop()
  } finally {
    await old.kill()
    await database.close()
  }
})

test('a process of the version before that starts while an index is built refuses the schema, and `migrate` goes on', {
  timeout: 60_000,
}, async t => {
  const root = unpackPrevious(mkdtempSync(join(folder, 'starting-')))
  if (!root) return t.skip('the history does not reach back to the release before')
  const database = await createTestDatabase({ migrated: false })
  t.after(() => database.close())
  const { settings, startOld } = await openReleases(root, database.url, folder)
  await (await startOld()).stop()

  // The building of an index waits for older snapshots.
  const reader = await database.database.connect()
  await reader.query('begin isolation level repeatable read; select 1')
  const migrating = perkline(['migrate'], { env: { ...settings, PERKLINE_URL: '' }, cwd: folder })
  await until('an index is being built', () => isBuildingIndex(database.database))
  await assert.rejects(startOld(), /newer version of Perkline/)
  await reader.query('commit')
  await reader.end()
  const { code, stderr } = await migrating
  assert.equal(code, 0, stderr)
})

test('wrong copies, marks and counts of campaigns are mended, and right ones are kept', async t => {
  const database = await createTestDatabase()
  t.after(() => database.close())
  const settings = sharedSettings(database.url, folder)
  const platform = await startProcess(settings)
  try {
    const { make, approve, launch } = campaignSteps(platform, await openCampaigners(platform))
    const id = async (name: string): Promise<string> => (await make(name)).body.id
    const [approved, launched] = [await id('approved'), await id('launched'), await id('pending')]
    for (const campaign of [approved, launched]) assert.equal((await approve(campaign)).status, 201)
    assert.equal((await launch(launched)).status, 201)
    assert.deepEqual(await brokenChecks(platform), [])

    const query = (sql: string) => database.database.query(sql)
    await query(`update campaign_banks set campaign_status = 'awaitingBankApproval', date_to = date_to + interval '1 day'
      where cashback_id = '${launched}'`)
    await query(`update campaigns set awaits_merchant = not awaits_merchant where cashback_id <> '${launched}'`)
    await query(`update campaign_counts set campaigns = campaigns + 1 where bank_status = ''`)
    await query(`delete from campaign_counts where bank_status = 'pending'`)
    await query(`insert into campaign_counts select merchant_id, 'active', '', 7 from campaigns limit 1`)
    const codes = (await brokenChecks(platform)).map(check => (check as { code: string }).code).sort()
    assert.deepEqual(codes, ['bank-parts', 'campaign-counts', 'campaign-turns'])

    const remigrate = async (): Promise<string> => {
      await query('delete from applied_migrations where version = 70')
      const { code, stdout, stderr } = await perkline(['migrate'], { env: settings, cwd: folder })
      assert.equal(code, 0, stderr)
      return stdout
    }
    assert.match(await remigrate(), /Applied 1 migration: campaign_copies/)
    assert.deepEqual(await brokenChecks(platform), [])

    const rows = () =>
      query(`select 'bank' as of, ctid, xmin from campaign_banks union all select 'campaign', ctid, xmin from campaigns
        union all select 'count', ctid, xmin from campaign_counts order by 1, 2`)
    const before = await rows()
    await remigrate()
    assert.deepEqual(await rows(), before, 'nothing is written if nothing is wrong')
  } finally {
    await platform.kill()
  }
})
