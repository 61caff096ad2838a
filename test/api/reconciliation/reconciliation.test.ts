/** From the first report to the end of a campaign, by both sides (contract/reconciliation.md). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { assertResult, campaignDirectory, ids, type Partner } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  countsOf,
  endedCampaign,
  line,
  merchantHeader,
  move,
  openSides,
  reconciliationOf,
  reportOf,
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

const noDifferences = {
  'outside-period': 0,
  'unknown-terminal': 0,
  'amount-out-of-range': 0,
  'wrong-cashback': 0,
  'repeated-transaction': 0,
  'budget-exceeded': 0,
  'amount-differs': 0,
  'only-in-bank-report': 0,
  'only-in-merchant-report': 0,
}
const part = (id: string, operation: string, bankId: string = ids.alpha) => `${id}/banks/${bankId}/${operation}`
const clientIdOf = ({ token }: Partner): string => JSON.parse(atob(token.split('.')[1] ?? '')).sub

/** Reads the bank's part from the merchant's details and from the bank's list, and asserts that both agree. */
async function shownPart({ grocer, alpha }: Sides, id: string) {
  const details = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
  const [ofMerchant] = details.body.banks
  const list = await alpha.call('GET', '/cashbacks/for-bank')
  const listed = list.body.find(({ cashbackId }: { cashbackId: string }) => cashbackId === id)
  const fields = (bank: Record<string, unknown>) => ({
    stage: bank.bankReportingStatus,
    settled: bank.settlementConfirmed,
    has: [bank.hasBankReport, bank.hasSecondBankReport, bank.merchantReportUploadsCount],
  })
  assert.deepEqual(fields(listed.banks[0]), fields(ofMerchant))
  assert.equal(listed.expectedCompensation, details.body.expectedCompensation)
  return {
    ...fields(ofMerchant),
    expected: listed.expectedCompensation,
    reports: details.body.statistics.uploadedReports,
  }
}

async function accepted(id: string, bank = sides.alpha, bankId: string = ids.alpha): Promise<void> {
  assert.equal((await uploadBank(bank, id, reportOf())).status, 201)
  assertResult(await move(sides.grocer, part(id, 'accept-report', bankId)), 200, {
    id,
    status: 'awaitingCompensationConfirmation',
  })
}

test('report, answer, updated report, acceptance, settlement, payment, receipt', async () => {
  const { grocer, alpha } = sides
  const campaign = await endedCampaign(sides, [alpha])
  const { id } = campaign
  assert.deepEqual(await reconciliationOf(alpha, id), {
    id: ids.alpha,
    name: 'Alpha Bank',
    bankReportingStatus: 'awaitingBankReconciliation',
    settlementConfirmed: false,
    expectedCompensation: null,
    reports: [],
    matched: null,
    differences: { total: 0, byKind: noDifferences, items: [] },
  })

  const first = await uploadBank(alpha, id, reportOf(line(campaign, 'a'), line(campaign, 'b')))
  assert.equal(first.status, 201, first.text)
  const { reportId, ...told } = first.body
  assert.match(reportId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.deepEqual(told, {
    bankReportingStatus: 'awaitingMerchantReconciliationConfirmation',
    lines: 2,
    totalAmount: 400,
    totalCashback: 20,
    differences: { total: 0, byKind: noDifferences },
  })
  assert.deepEqual(await shownPart(sides, id), {
    stage: 'awaitingMerchantReconciliationConfirmation',
    settled: false,
    has: [true, false, 0],
    expected: 12,
    reports: 1,
  })

  const own = [merchantHeader, `b,T-0001,${campaign.at},200`, `c,T-0002,${campaign.at},300.50`].join('\r\n')
  const answered = await uploadMerchant(grocer, id, { file: own, fileName: 'наш.csv', comment: 'Чек c — наш' })
  assert.equal(answered.status, 201, answered.text)
  assert.equal(answered.body.bankReportingStatus, 'awaitingUpdatedBankReconciliation')
  assert.deepEqual([answered.body.totalAmount, answered.body.totalCashback], [500.5, 0])
  assert.deepEqual(countsOf(answered.body.differences), { 'only-in-bank-report': 1, 'only-in-merchant-report': 1 })
  assert.deepEqual((await shownPart(sides, id)).has, [true, false, 1])

  const updated = await uploadBank(
    alpha,
    id,
    reportOf(line(campaign, 'b'), line(campaign, 'c', { amount: '300.50', cashback: '15.03' })),
  )
  assert.equal(updated.status, 201, updated.text)
  const shown = await reconciliationOf(alpha, id)
  assert.deepEqual([shown.matched, shown.differences.total, shown.expectedCompensation], [2, 0, 15.02])
  const stable = shown.reports.map(({ uploadedAt, ...report }: { uploadedAt: string }) => {
    assert.match(uploadedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    return report
  })
  const [bank1, merchant1, bank2] = [
    { side: 'bank', version: 1, fileName: 'report.csv', lines: 2, totalAmount: 400, totalCashback: 20, comment: null },
    {
      side: 'merchant',
      version: 1,
      fileName: 'наш.csv',
      lines: 2,
      totalAmount: 500.5,
      totalCashback: 0,
      comment: 'Чек c — наш',
    },
    {
      side: 'bank',
      version: 2,
      fileName: 'report.csv',
      lines: 2,
      totalAmount: 500.5,
      totalCashback: 25.03,
      comment: null,
    },
  ]
  const sizes: number[] = stable.map(({ sizeBytes }: { sizeBytes: number }) => sizeBytes)
  assert.equal(sizes[1], Buffer.byteLength(own))
  assert.deepEqual(stable, [
    { reportId, ...bank1, sizeBytes: sizes[0], uploadedBy: clientIdOf(alpha) },
    {
      reportId: answered.body.reportId,
      ...merchant1,
      sizeBytes: sizes[1],
      uploadedBy: 'Гросер',
    },
    { reportId: updated.body.reportId, ...bank2, sizeBytes: sizes[2], uploadedBy: clientIdOf(alpha) },
  ])
  const toMerchant = await reconciliationOf(grocer, id)
  assert.deepEqual(
    toMerchant.reports.map(({ uploadedBy }: { uploadedBy: string }) => uploadedBy),
    ['Alpha Bank', clientIdOf(grocer), 'Alpha Bank'],
    'logins are told to their own side only',
  )
  assert.deepEqual((await shownPart(sides, id)).has, [true, true, 1])

  assertResult(await move(grocer, part(id, 'accept-report')), 200, { id, status: 'awaitingCompensationConfirmation' })
  assert.equal((await shownPart(sides, id)).stage, 'awaitingCompensationConfirmation')
  assertResult(await move(grocer, part(id, 'settle')), 200, { id, status: 'awaitingCompensationPayment' })
  assert.equal((await reconciliationOf(grocer, id)).settlementConfirmed, true)
  assertResult(await move(grocer, `${id}/compensation-paid`), 200, { id, status: 'paymentConfirmed' })
  assertResult(await move(alpha, `${id}/compensation-received`), 200, { id, status: 'compensationReceived' })
  assert.deepEqual(await shownPart(sides, id), {
    stage: 'awaitingCompensationConfirmation',
    settled: true,
    has: [true, true, 1],
    expected: 15.02,
    reports: 3,
  })

  const history = await grocer.call('GET', `/portal/cashbacks/${id}/history`)
  type Entry = { trigger: string; subject: string; from: string; to: string; comment: string | null }
  const steps = history.body
    .slice(-9)
    .map(({ subject, trigger, from, to, comment }: Entry) =>
      [subject, trigger, from, to, comment ?? ''].join(' ').trim(),
    )
  assert.deepEqual(steps, [
    'reporting upload-bank-report awaitingBankReconciliation awaitingMerchantReconciliationConfirmation',
    'reporting upload-merchant-report awaitingMerchantReconciliationConfirmation awaitingUpdatedBankReconciliation Чек c — наш',
    'reporting upload-bank-report awaitingUpdatedBankReconciliation awaitingMerchantReconciliationConfirmation',
    'reporting accept-report awaitingMerchantReconciliationConfirmation awaitingCompensationConfirmation',
    'reporting settle awaitingCompensationConfirmation settled',
    'campaign settle awaitingCompensationConfirmation awaitingCompensationPayment',
    'campaign pay awaitingCompensationPayment paymentConfirmed',
    'reporting acknowledge settled acknowledged',
    'campaign acknowledge paymentConfirmed compensationReceived',
  ])
})

test('each move repeated answers 200 and changes nothing', async () => {
  const { grocer, alpha } = sides
  const { id } = await endedCampaign(sides, [alpha])
  assert.equal((await uploadBank(alpha, id, reportOf())).status, 201)
  const moves: [Partner, string, string][] = [
    [grocer, part(id, 'accept-report'), 'awaitingCompensationConfirmation'],
    [grocer, part(id, 'settle'), 'awaitingCompensationPayment'],
    [grocer, `${id}/compensation-paid`, 'paymentConfirmed'],
    [alpha, `${id}/compensation-received`, 'compensationReceived'],
  ]
  const first: Answer[] = []
  for (const [partner, path, status] of moves) {
    const done = await move(partner, path)
    assertResult(done, 200, { id, status })
    const again = await move(partner, path)
    assert.deepEqual([again.status, again.body], [200, done.body])
    first.push(done)
  }
  const count = async () => (await grocer.call('GET', `/portal/cashbacks/${id}/history`)).body.length
  const before = await count()
  for (const [index, [partner, path]] of moves.entries()) {
    const late = await move(partner, path)
    assertResult(late, 200, { id, status: 'compensationReceived' })
    assert.equal(late.body.message, first[index]?.body.message)
    assert.equal(late.body.updatedAt, first.at(-1)?.body.updatedAt)
  }
  assert.equal(await count(), before)
})

test('reports go back and forth as often as needed', async () => {
  const { grocer, alpha } = sides
  const campaign = await endedCampaign(sides, [alpha])
  for (let round = 1; round <= 3; round++) {
    assert.equal((await uploadBank(alpha, campaign.id, reportOf(line(campaign, `${round}`)))).status, 201)
    assert.equal((await uploadMerchant(grocer, campaign.id, reportOf(line(campaign, `${round}`)))).status, 201)
  }
  assert.equal((await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'x')))).status, 201)
  const { reports, matched, differences } = await reconciliationOf(grocer, campaign.id)
  assert.deepEqual(
    reports.map(({ side, version }: Record<string, unknown>) => `${side} ${version}`),
    ['bank 1', 'merchant 1', 'bank 2', 'merchant 2', 'bank 3', 'merchant 3', 'bank 4'],
  )
  assert.deepEqual([matched, countsOf(differences)], [0, { 'only-in-bank-report': 1, 'only-in-merchant-report': 1 }])
  assert.deepEqual((await shownPart(sides, campaign.id)).has, [true, true, 3])
})

test('a merchant that bears nothing has nothing to pay: settlement completes the campaign', async () => {
  const { grocer, alpha } = sides
  const { id } = await endedCampaign(sides, [alpha], { merchantCompensationPercentage: 0 })
  await accepted(id)
  assertResult(await move(grocer, part(id, 'settle')), 200, { id, status: 'completed' })
  assertResult(await move(grocer, part(id, 'settle')), 200, { id, status: 'completed' })
  assert.equal((await move(grocer, `${id}/compensation-paid`)).status, 400)
})

suite('two banks', () => {
  test('each goes its own way; the campaign follows the last of them', async () => {
    const { grocer, alpha, beta } = sides
    const { id } = await endedCampaign(sides, [alpha, beta])
    const still = { id, status: 'awaitingCompensationConfirmation' }
    await accepted(id)
    assertResult(await move(grocer, part(id, 'settle')), 200, still)
    await accepted(id, beta, ids.beta)
    assertResult(await move(grocer, part(id, 'settle', ids.beta)), 200, { id, status: 'awaitingCompensationPayment' })
    assertResult(await move(grocer, `${id}/compensation-paid`), 200, { id, status: 'paymentConfirmed' })
    assertResult(await move(beta, `${id}/compensation-received`), 200, { id, status: 'paymentConfirmed' })
    assertResult(await move(alpha, `${id}/compensation-received`), 200, { id, status: 'compensationReceived' })
  })

  test('a bank that declined has no part in it', async () => {
    const { grocer, alpha, beta } = sides
    const { id } = await endedCampaign(sides, [alpha], {}, [beta])
    assert.equal((await uploadBank(beta, id, reportOf())).status, 400)
    const banks = (await grocer.call('GET', `/portal/cashbacks/${id}/reconciliation`)).body.banks
    assert.deepEqual(
      banks.map(({ name, bankReportingStatus }: Record<string, unknown>) => [name, bankReportingStatus]),
      [
        ['Alpha Bank', 'awaitingBankReconciliation'],
        ['Бета Банк', null],
      ],
    )
    await accepted(id)
    assertResult(await move(grocer, part(id, 'settle')), 200, { id, status: 'awaitingCompensationPayment' })
  })

  test('settled at the same instant: one of them moves the campaign, and once', async () => {
    const { grocer, alpha, beta } = sides
    for (let round = 0; round < 5; round++) {
      const { id } = await endedCampaign(sides, [alpha, beta])
      await accepted(id)
      await accepted(id, beta, ids.beta)
      const paths = [part(id, 'settle'), part(id, 'settle', ids.beta), part(id, 'settle'), part(id, 'settle', ids.beta)]
      const answers = await Promise.all(paths.map(path => move(grocer, path)))
      for (const answer of answers) assert.equal(answer.status, 200, answer.text)
      const entries = (await grocer.call('GET', `/portal/cashbacks/${id}/history`)).body
      const settled = entries.filter(({ trigger }: { trigger: string }) => trigger === 'settle')
      assert.deepEqual(settled.map(({ subject, to }: Record<string, string>) => `${subject} ${to}`).sort(), [
        'campaign awaitingCompensationPayment',
        'reporting settled',
        'reporting settled',
      ])
    }
  })
})
