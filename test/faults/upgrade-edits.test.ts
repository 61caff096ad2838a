/**
 * Campaigns that a process of the previous release changes while this release serves, too. A bank that sends the
 * version which it has read approves only what it has seen (contract/http.md, "Versions of a campaign"). The audit says
 * what is not in the feeds (contract/operations.md, "The audit").
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { campaignFormOf, openCampaigners } from '../support/campaigners.ts'
import { ids } from '../support/campaigns.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import type { PerklineProcess, Settings } from '../support/process.ts'
import { formOf } from '../support/reconciliation.ts'
import { openReleases, unpackPrevious } from '../support/release-before.ts'
import { fileOf } from '../support/segments.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-edits-'))
const root = unpackPrevious(folder)
const skip = root === null && 'the history does not reach back to the release before'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let old: PerklineProcess
let current: PerklineProcess
let merchant: string
let banks: Record<'alpha' | 'beta', string>
let settings: Settings
let migrate: () => Promise<string>

before(async () => {
  if (root === null) return
  database = await createTestDatabase({ migrated: false })
  const releases = await openReleases(root, database.url, folder)
  settings = releases.settings
  migrate = async () => {
    const env = { ...settings, PERKLINE_URL: '' }
    const { code, stdout, stderr } = await perkline(['migrate'], { env, cwd: folder })
    assert.equal(code, 0, stderr)
    return stdout
  }
  old = await releases.startOld()
  const campaigners = await openCampaigners(old)
  merchant = campaigners.merchant
  const issued = await old.admin('POST', '/credentials', { bank: 'beta', role: 'ADMIN', label: 'edits' })
  const beta = (await old.call('POST', '/getToken/auth', { body: issued })).body.access_token
  banks = { alpha: campaigners.bank, beta }
  await migrate()
  current = await releases.startNew()
})
after(async () => {
  await current?.kill()
  await old?.kill()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The merchant invites both banks to a campaign. @returns its id */
async function make(at: PerklineProcess): Promise<string> {
  const body = { ...campaignFormOf('Spring'), participantsIds: [ids.alpha, ids.beta] }
  const { status, text, body: made } = await at.call('POST', '/cashbacks/for-merchant', { token: merchant, body })
  assert.equal(status, 201, text)
  return made.id
}

async function edit(at: PerklineProcess, id: string, body: object): Promise<void> {
  const { status, text } = await at.call('PATCH', `/cashbacks/for-merchant/${id}`, { token: merchant, body })
  assert.equal(status, 200, text)
}

/** What a bank reads of a campaign from this release: by itself, and in the list that its systems poll. */
async function read(id: string, bank: keyof typeof banks = 'alpha') {
  const { status, text, headers, body } = await current.call('GET', `/portal/cashbacks/${id}`, { token: banks[bank] })
  assert.equal(status, 200, text)
  const list = await current.call('GET', '/cashbacks/for-bank', { token: banks[bank] })
  const listed = list.body.find(({ cashbackId }: { cashbackId: string }) => cashbackId === id)
  const tag = headers.get('etag') ?? assert.fail('no ETag')
  assert.equal(tag, `"${listed.updatedAt}"`)
  return { tag, percentage: body.percentage as number, listTag: list.headers.get('etag') }
}

async function decide(decision: 'confirm' | 'reject', id: string, tag: string): Promise<number> {
  const headers = { 'if-match': tag }
  return (await current.call('POST', `/cashbacks/${id}/${decision}`, { token: banks.alpha, headers })).status
}

for (const [made, by] of [
  ['this release', () => current],
  ['the release before', () => old],
] as const)
  test(`terms that the release before changes in a campaign of ${made}`, { skip }, async () => {
    const id = await make(by())
    const seen = await read(id)
    await edit(old, id, { percentage: 15, merchantCompensationPercentage: 60 })
    assert.equal(await decide('confirm', id, seen.tag), 412)
    const present = await read(id)
    assert.deepEqual([seen.percentage, present.percentage], [5, 15])
    assert.notEqual(present.tag, seen.tag)

    await edit(current, id, { percentage: 16 })
    assert.equal(await decide('confirm', id, present.tag), 412)
    const again = await read(id)
    await edit(old, id, { percentage: 17 })
    assert.equal(await decide('confirm', id, again.tag), 412)
    assert.equal(await decide('confirm', id, (await read(id)).tag), 201)
  })

test('a segment and a decision of the bank itself that the release before stores', { skip }, async () => {
  const id = await make(current)
  const seen = await read(id)
  const segment = await formOf({ file: fileOf(['A-1']), fileName: 'loyal.csv' })
  const put = await old.call('PUT', `/portal/cashbacks/${id}/segment`, { token: merchant, ...segment })
  assert.equal(put.status, 200, put.text)
  assert.equal(await decide('confirm', id, seen.tag), 412)

  const withSegment = await read(id)
  assert.equal((await old.call('POST', `/cashbacks/${id}/confirm`, { token: banks.alpha })).status, 201)
  assert.equal(await decide('reject', id, withSegment.tag), 412)
  assert.notEqual((await read(id)).tag, withSegment.tag)
})

test('what another bank decides and who is invited at the release before does not change the version of a bank', {
  skip,
}, async () => {
  const id = await make(old)
  const { tag } = await read(id)
  assert.equal((await old.call('POST', `/cashbacks/${id}/reject`, { token: banks.beta })).status, 201)
  await edit(old, id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] })
  assert.equal((await read(id)).tag, tag)
  assert.equal(await decide('confirm', id, tag), 201)
})

test('terms that the release before changed earlier are read again, and other campaigns keep their versions', {
  skip,
}, async () => {
  const changed = await make(current)
  const segmented = await make(current)
  const decided = await make(current)
  const seen = await read(changed)
  const triggers = await database.database.query<{ name: string; of: string }>(
    `select tgname as name, tgrelid::regclass::text as of from pg_trigger where tgname ~ '_02$'`,
  )
  assert.ok(triggers.length > 0)
  for (const { name, of } of triggers) await database.database.query(`drop trigger ${name} on ${of}`)
  for (const name of ['note_terms_02', 'note_terms_time_02', 'note_part_02', 'note_segment_02'])
    await database.database.query(`drop function ${name}`)
  await database.database.query('delete from applied_migrations where version in (71, 73)')

  await edit(old, changed, { percentage: 15 })
  assert.equal((await read(changed)).tag, seen.tag)
  const segment = await formOf({ file: fileOf(['A-1']), fileName: 'loyal.csv' })
  assert.equal(
    (await current.call('PUT', `/portal/cashbacks/${segmented}/segment`, { token: merchant, ...segment })).status,
    200,
  )
  await edit(current, decided, { description: 'Only this' })
  await edit(current, decided, { participantsIds: [ids.alpha, ids.beta, ids.gamma] })
  assert.equal((await current.call('POST', `/cashbacks/${decided}/reject`, { token: banks.beta })).status, 201)
  const kept = [await read(segmented), await read(decided)]
  const { listTag } = await read(changed)

  assert.match(await migrate(), /Applied 2 migrations: .*terms_of_02, .*campaigns_of_02/)
  assert.equal(await decide('confirm', changed, seen.tag), 412)
  const present = await read(changed)
  assert.notEqual(present.tag, seen.tag)
  assert.notEqual(present.listTag, listTag, 'the list is not answered with 304')
  assert.deepEqual(
    [await read(segmented), await read(decided)].map(({ tag }) => tag),
    kept.map(({ tag }) => tag),
  )
  assert.equal(await decide('confirm', changed, present.tag), 201)
})

test('the audit says how many transitions of the release before have no events', { skip }, async () => {
  const check = async () => {
    const { ok, detail, params } = (await current.admin('GET', '/audit')).checks.find(
      ({ code }: { code: string }) => code === 'feed-campaigns',
    )
    assert.ok(ok, detail)
    assert.match(
      detail,
      new RegExp(`left out, because processes of 0.2 made them and write no events: ${params.of02}$`),
    )
    return params.of02 as number
  }
  const counted = await check()
  const id = await make(old)
  assert.equal((await old.call('POST', `/cashbacks/${id}/confirm`, { token: banks.alpha })).status, 201)
  await edit(current, id, { description: 'Only this' })
  const history = await current.call('GET', `/portal/cashbacks/${id}/history`, { token: merchant })
  // The created campaign, two invitations and a decision; this release has made the edit.
  const ofOld = history.body.filter(({ changes }: { changes: object | null }) => changes === null).length
  assert.equal(ofOld, 4)
  assert.equal((await check()) - counted, ofOld)
})

test('`perkline audit` of this release says that the platform is of another version', { skip }, async () => {
  const { code, stderr } = await perkline(['audit'], { env: { ...settings, PERKLINE_URL: old.url }, cwd: folder })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /is of another version than this program, which is .*the program of the version that serves there/,
  )
})
