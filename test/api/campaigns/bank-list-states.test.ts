/**
 * The states that the database stores as text: after every transition, the bank's list must show the same as the
 * merchant's details.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migrate } from '../../../src/db/migrate.ts'
import { moveClock } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  line,
  move,
  openSides,
  reportOf,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())

const ok = ({ status, text }: Answer) => assert.ok(status === 200 || status === 201, text)
const listOf = async () => (await sides.alpha.call('GET', '/cashbacks/for-bank')).text

/**
 * Asserts that alpha's list and the merchant's details show the same. They come from different statements and columns.
 * @returns what both show
 */
async function agreed(id: string): Promise<string> {
  const listed = JSON.parse(await listOf()).find((campaign: { cashbackId: string }) => campaign.cashbackId === id)
  const details = (await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body
  const { name: _, logoUrl: __, ...part } = details.banks.find((bank: { id: string }) => bank.id === ids.alpha)
  const own = (await sides.alpha.call('GET', `/portal/cashbacks/${id}`)).body
  assert.equal(listed.updatedAt, own.updatedAt)
  assert.ok(listed.updatedAt <= details.updatedAt)
  for (const field of ['status', 'description', 'retailer', 'country', 'expectedCompensation'])
    assert.deepEqual(listed[field], details[field], field)
  assert.deepEqual(listed.banks, [part])
  return `${listed.status} ${part.status} ${part.bankReportingStatus} ${part.settlementConfirmed} ${part.merchantReportUploadsCount}`
}

test('after each move of a whole life', async () => {
  const { alpha, grocer } = sides
  const running = await runningCampaign(sides, [alpha])
  const { id } = running
  const bank = `${id}/banks/${ids.alpha}`
  const report = (...names: string[]) => reportOf(...names.map(name => line(running, name)))
  const moves: [() => Promise<unknown>, string][] = [
    [() => moveClock(platform, { advance: 'PT1M' }), 'active approved null false 0'],
    [
      () => grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { description: 'new' } }).then(ok),
      'active approved null false 0',
    ],
    [
      () => moveClock(platform, { advance: 'PT2H' }),
      'awaitingCompensationConfirmation approved awaitingBankReconciliation false 0',
    ],
    [
      () => uploadBank(alpha, id, report('a')).then(ok),
      'awaitingCompensationConfirmation approved awaitingMerchantReconciliationConfirmation false 0',
    ],
    [
      () =>
        uploadMerchant(grocer, id, `transactionId,terminalId,transactionAt,amount\na,T-0001,${running.at},200\n`).then(
          ok,
        ),
      'awaitingCompensationConfirmation approved awaitingUpdatedBankReconciliation false 1',
    ],
    [
      () => uploadBank(alpha, id, report('a', 'b')).then(ok),
      'awaitingCompensationConfirmation approved awaitingMerchantReconciliationConfirmation false 1',
    ],
    [
      () => move(grocer, `${bank}/accept-report`).then(ok),
      'awaitingCompensationConfirmation approved awaitingCompensationConfirmation false 1',
    ],
    [
      () => move(grocer, `${bank}/settle`).then(ok),
      'awaitingCompensationPayment approved awaitingCompensationConfirmation true 1',
    ],
    [
      () => move(grocer, `${id}/compensation-paid`).then(ok),
      'paymentConfirmed approved awaitingCompensationConfirmation true 1',
    ],
    [
      () => move(alpha, `${id}/compensation-received`).then(ok),
      'compensationReceived approved awaitingCompensationConfirmation true 1',
    ],
    [() => moveClock(platform, { advance: 'P31D' }), 'completed approved awaitingCompensationConfirmation true 1'],
  ]
  for (const [change, said] of moves) {
    await change()
    assert.equal(await agreed(id), said)
  }
})

test('after decisions of this bank and of others, the end without a launch, the deletion', async () => {
  const { alpha, beta, grocer } = sides
  const both = { participantsIds: [ids.alpha, ids.beta] }
  const [id, other] = [await createCampaign(platform, both, grocer), await createCampaign(platform, both, grocer)]
  assert.equal(await agreed(id), 'awaitingBankApproval pending null false 0')
  ok(await beta.call('POST', `/cashbacks/${id}/reject`))
  assert.equal(await agreed(id), 'awaitingBankApproval pending null false 0')
  ok(await alpha.call('POST', `/cashbacks/${id}/confirm`))
  assert.equal(await agreed(id), 'awaitingMerchantApproval approved null false 0')
  ok(await alpha.call('POST', `/cashbacks/${other}/reject`))
  assert.equal(await agreed(other), 'awaitingBankApproval declined null false 0')
  ok(await grocer.call('DELETE', `/cashbacks/for-merchant/${other}`))
  assert.equal(await agreed(other), 'deleted declined null false 0')
  await moveClock(platform, { advance: 'P400D' })
  assert.equal(await agreed(id), 'expired expired null false 0')
})

test('a database from before has the same list once it is migrated', async () => {
  const { database } = platform.platform
  const before = await listOf()
  assert.ok(JSON.parse(before).length >= 3)
  await database.execute('alter table campaigns drop column standing')
  await database.execute('alter table campaign_banks drop column participation')
  await database.execute('drop function instant_text')
  await database.execute('delete from schema_migrations where version = 11')
  assert.deepEqual(await migrate(database), ['stored_states'])
  assert.equal(await listOf(), before)
})
