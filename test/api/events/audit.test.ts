/** `perkline audit` checks that each confirmed order and each transition of a campaign has its events. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { launchCampaign, moveClock, openPartners } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const sold = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [{ code: eu-10gb, name: One, price: 1, currency: UAH, validityDays: 1 }] }
`
let platform: TestPlatform
let bank: Bank
let cashbackId: string
let orderId: string
const database = () => platform.platform.database

before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory + sold })
  await platform.addStock('kyivstar', 'eu-10gb', 5)
  bank = await openBank(platform)
  const partners = await openPartners(platform)
  cashbackId = await launchCampaign(platform, partners, { participantsIds: [ids.alpha, ids.beta] })
  const edited = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, partners.grocer)
  const body = { participantsIds: [ids.beta, ids.gamma] }
  const answer = await partners.grocer.call('PATCH', `/cashbacks/for-merchant/${edited}`, { body })
  assert.equal(answer.status, 200, answer.text)
  orderId = (await bank.reserve('audited')).body.orderId
  assert.equal((await bank.confirm(orderId)).status, 200)
  // The audit ignores the last ten minutes, because events of that time may not be numbered yet.
  await moveClock(platform, { advance: 'P20D' })
  while ((await sequenceEvents(database(), true))?.mayBeMore);
  await moveClock(platform, { advance: 'PT1H' })
})
after(() => platform?.close())

const broken = async () => (await audit(platform.platform.deps.admin, new Date())).checks.filter(({ ok }) => !ok)

/**
 * Returns what the audit finds after the events of this type about our campaign and order are deleted from this
 * account's feed.
 */
async function without(type: string, accountId: string): Promise<string[]> {
  await database().execute('create table kept as select * from events')
  try {
    const removed = await database().execute(
      `delete from events where type = $1 and account_id = $2 and subject in ($3::uuid, $4::uuid)`,
      [type, accountId, cashbackId, orderId],
    )
    assert.ok(removed > 0, `${type} was there`)
    return (await broken()).filter(({ code }) => code !== 'feeds').map(({ detail }) => detail)
  } finally {
    await database().execute('delete from events')
    await database().execute('insert into events select * from kept')
    await database().execute('drop table kept')
  }
}

test('all that happened was told', async () => assert.deepEqual(await broken(), []))

test('a confirmed order without its event is named', async () => {
  assert.deepEqual(await without('order.confirmed', ids.alpha), [
    `order ${orderId} is confirmed, but its bank has no event about it`,
  ])
})

test('a transition that is missing in one feed is named, the merchant’s and each bank’s', async () => {
  const places = [
    ['campaign.created', 'retailer', ids.grocer],
    ['campaign.created', 'bank', ids.beta],
    ['campaign.approved', 'bank', ids.alpha],
    ['campaign.started', 'bank', ids.beta],
    ['participation.invited', 'bank', ids.beta],
    ['participation.approved', 'retailer', ids.grocer],
    ['participation.expired', 'bank', ids.beta],
  ] as const
  for (const [type, account, id] of places)
    assert.deepEqual(await without(type, id), [`the feed of ${account} ${id} lacks ${type} of campaign ${cashbackId}`])
})

test('a day that states another first event than it has is named', async () => {
  for (const [column, value] of [
    ['first_sequence', 'first_sequence + 1'],
    ['earliest', `earliest + interval '30 days'`],
  ]) {
    await database().execute('create table kept_days as select * from feed_days')
    try {
      await database().execute(`update feed_days set ${column} = ${value} where account_id = $1`, [ids.alpha])
      const [found, ...others] = await broken()
      assert.match(
        found?.detail ?? '',
        new RegExp(`the feed of bank ${ids.alpha} states another first event of \\d{4}-`),
      )
      assert.deepEqual(others, [])
    } finally {
      await database().execute('delete from feed_days')
      await database().execute('insert into feed_days select * from kept_days')
      await database().execute('drop table kept_days')
    }
  }
})

test('changes without numbered events yet, or older than the retention of events, are no findings', async () => {
  await database().transaction(async transaction => {
    await transaction.execute(
      `update event_positions set reached = now() + interval '30 days' where name = 'events.subjects'`,
    )
    await transaction.execute('create table kept as select * from events')
    await transaction.execute('delete from events')
  })
  assert.deepEqual(await broken(), [])
})
