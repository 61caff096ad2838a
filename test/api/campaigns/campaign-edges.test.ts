/**
 * Requests at the edge of a period (contract/campaigns.md, "The period"), on a platform without the clock's job: the
 * next request applies what is due.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeStep, historyOf, openPartners, type Partners, statusOf } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { reportOf, uploadBank } from '../../support/reconciliation.ts'
import { putSegment } from '../../support/segments.ts'

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory, only: ['auth', 'cashback', 'portal'] })
  partners = await openPartners(platform)
})
after(() => platform.close())

/** The end of a period is this far away: enough time to create and launch its campaign, even on a busy machine. */
const lastsMs = 5_000

/**
 * Creates a campaign with a very short period, and waits until the period is over.
 * @param steps what to do with the campaign before the period ends
 */
async function over(steps: (id: string) => Promise<void>): Promise<string> {
  const now = platform.platform.deps.campaigns.clock.now().getTime()
  const period = {
    dateFrom: new Date(now - 86_400_000).toISOString(),
    dateTo: new Date(now + lastsMs).toISOString(),
  }
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta], ...period }, partners.grocer)
  await steps(id)
  await sleep(now + lastsMs + 20 - platform.platform.deps.campaigns.clock.now().getTime())
  return id
}

const approved = async (id: string) => {
  assert.equal((await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
}
const launched = async (id: string) => {
  await approved(id)
  assert.equal((await partners.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)
}

suite('the moment a period has ended', { concurrency: 4 }, () => {
  test('a bank’s report is taken, and the clock’s moves stand before it in the history', async () => {
    const id = await over(launched)
    const answer = await uploadBank(partners.alpha, id, reportOf())
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual((await historyOf(partners, id)).slice(-4).map(describeStep), [
      'campaign start: approved -> active',
      'reporting end: null -> awaitingBankReconciliation',
      'campaign end: active -> awaitingCompensationConfirmation',
      'reporting upload-bank-report: awaitingBankReconciliation -> awaitingMerchantReconciliationConfirmation',
    ])
  })

  test('a decision repeated on what has expired is refused, as it is a second later', async () => {
    const id = await over(approved)
    const answer = await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    assert.equal(answer.status, 400, answer.text)
  })

  test('a decision repeated on what was launched gives the status that the campaign has by then', async () => {
    const id = await over(launched)
    const answer = await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.status, 'awaitingCompensationConfirmation')
    assert.equal(await statusOf(partners.grocer, id), 'awaitingCompensationConfirmation')
  })

  test('nobody decides, launches, edits or forms a segment any more', async () => {
    const id = await over(approved)
    const { grocer, beta } = partners
    for (const answer of [
      await beta.call('POST', `/cashbacks/${id}/confirm`),
      await beta.call('POST', `/cashbacks/${id}/reject`),
      await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`),
      await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { description: 'too late' } }),
      await putSegment(grocer, id, 'customerId\n'),
    ])
      assert.equal(answer.status, 400, answer.text)
  })
})
