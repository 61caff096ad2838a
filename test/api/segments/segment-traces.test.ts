/**
 * What an upload of a segment leaves in history, audit log and event feeds when no bank gets a part of the segment, or a bank
 * no longer gets the part that it had (contract/campaigns.md, "Segments").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { openPartners } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { addCustomers, customers, fileOf, putSegment, segmentOf } from '../../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  ;({ grocer, alpha, beta } = await openPartners(platform))
  await addCustomers(platform, 'alpha', customers('A', 50))
  await addCustomers(platform, 'beta', customers('B', 50))
})
after(() => platform.close())

const newCampaign = (overrides: Record<string, unknown> = { participantsIds: [ids.alpha, ids.beta] }) =>
  createCampaign(platform, overrides, grocer)

async function formed(id: string, file: string | Uint8Array) {
  const answer = await putSegment(grocer, id, file)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

type Shown = { subject: string; bankId: string | null; trigger: string; changes: unknown }
/** What the history of a partner shows of segments. */
const segmentsIn = async (partner: Partner, id: string) => {
  const answer = await partner.call('GET', `/portal/cashbacks/${id}/history`)
  assert.equal(answer.status, 200, answer.text)
  const entries: Shown[] = answer.body
  return entries.filter(({ trigger }) => trigger === 'segment').map(({ bankId, changes }) => [bankId, changes])
}
const audited = async (id: string) =>
  (await readEntries(platform, grocer.token, `&action=segment.formed&object=campaign:${id}`)).map(
    ({ change }) => change,
  )
/** The counts in a partner's events about the segment of a campaign. */
const eventsTo = async ({ token }: Partner, id: string) => {
  const last = (await platform.call('GET', '/partner/v1/events?after=now', { token })).body.nextAfter
  const { body } = await platform.call('GET', '/partner/v1/events?limit=1000&type=segment.formed', { token })
  assert.ok(body.nextAfter <= last)
  const data = body.data.map((event: { data: Record<string, unknown> }) => event.data)
  return data
    .filter(({ cashbackId }: { cashbackId: string }) => cashbackId === id)
    .map(({ customersCount, banks }: Record<string, unknown>) => ({ customersCount, ...(banks ? { banks } : {}) }))
}
const declined = async (bank: Partner, id: string) =>
  assert.equal((await bank.call('POST', `/cashbacks/${id}/reject`)).status, 201)
const forAlpha = { participantsIds: [ids.alpha] }
const noPart = [[null, { customersCount: [null, 0] }]]

test('the only bank has declined: the merchant has an entry of the history, an audit entry and an event', async () => {
  const id = await newCampaign(forAlpha)
  await declined(alpha, id)
  for (const uploads of [1, 2]) {
    const body = await formed(id, fileOf(['A-1']))
    assert.deepEqual([body.customersCount, body.banks], [0, []])
    assert.deepEqual(await segmentsIn(grocer, id), Array(uploads).fill(noPart[0]))
    assert.deepEqual(await audited(id), Array(uploads).fill({ customersCount: [null, 0] }))
    assert.deepEqual(await eventsTo(grocer, id), Array(uploads).fill({ customersCount: 0, banks: [] }))
  }
  assert.deepEqual(await segmentsIn(alpha, id), [], 'a bank would learn that no other bank takes part')
  assert.deepEqual(await eventsTo(alpha, id), [])
})

test('the only bank wants no segments: the same', async () => {
  const id = await newCampaign(forAlpha)
  await platform.platform.database.execute('update banks set segments = false where bank_id = $1', [ids.alpha])
  try {
    await formed(id, fileOf(['A-1']))
  } finally {
    await platform.platform.database.execute('update banks set segments = true')
  }
  assert.deepEqual(await segmentsIn(grocer, id), noPart)
  assert.deepEqual(await audited(id), [{ customersCount: [null, 0] }])
  assert.deepEqual(await eventsTo(grocer, id), [{ customersCount: 0, banks: [] }])
  assert.deepEqual(await segmentsIn(alpha, id), [])
})

test('a bank whose part is gone is told so, and so is the merchant', async () => {
  const id = await newCampaign()
  await formed(id, fileOf([...customers('A', 25), ...customers('B', 36)]))
  await declined(beta, id)
  await formed(id, fileOf([...customers('A', 41), ...customers('B', 36)]))
  assert.equal(await segmentOf(beta, id), null)
  assert.deepEqual(await segmentsIn(beta, id), [
    [ids.beta, { customersCount: [null, 36] }],
    [ids.beta, { customersCount: [36, null] }],
  ])
  assert.deepEqual(await segmentsIn(grocer, id), [
    [ids.alpha, { customersCount: [null, 20] }],
    [ids.beta, { customersCount: [null, 30] }],
    [ids.alpha, { customersCount: [20, 40] }],
    [ids.beta, { customersCount: [30, null] }],
  ])
  assert.deepEqual(await audited(id), [{ customersCount: [null, 50] }, { customersCount: [50, 40] }])
  assert.deepEqual(await eventsTo(beta, id), [{ customersCount: 36 }, { customersCount: 0 }])
  assert.deepEqual((await eventsTo(grocer, id)).at(-1), {
    customersCount: 40,
    banks: [{ bankId: ids.alpha, customersCount: 40 }],
  })
})

test('the last part is gone: the merchant’s total is 0', async () => {
  const id = await newCampaign(forAlpha)
  await formed(id, fileOf(customers('A', 25)))
  await declined(alpha, id)
  await formed(id, fileOf(customers('A', 25)))
  assert.deepEqual((await segmentsIn(alpha, id)).at(-1), [ids.alpha, { customersCount: [25, null] }])
  assert.deepEqual((await segmentsIn(grocer, id)).at(-1), [ids.alpha, { customersCount: [20, null] }])
  assert.deepEqual((await audited(id)).at(-1), { customersCount: [20, 0] })
  assert.deepEqual((await eventsTo(grocer, id)).at(-1), { customersCount: 0, banks: [] })
  assert.deepEqual(await eventsTo(alpha, id), [{ customersCount: 25 }, { customersCount: 0 }])
})

test('perkline audit accepts these entries', async () => {
  const id = await newCampaign(forAlpha)
  await declined(alpha, id)
  await formed(id, fileOf(['A-1']))
  const answer = await platform.call('GET', '/admin/audit', { token: platform.config.operatorKey })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.ok, true, answer.text)
})
