/**
 * Shared by the tests of reconciliation: campaigns whose period is over, reports as files, and the calls of both sides.
 */
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/database.ts'
import { createCampaign, ids, openCampaignBank, openMerchant, type Partner } from './campaigns.ts'
import type { Answer, TestPlatform } from './platform.ts'

export const header = 'transactionId,terminalId,transactionAt,amount,cashbackAmount'
export const merchantHeader = 'transactionId,terminalId,transactionAt,amount'

const dayMs = 86_400_000

export type Sides = { platform: TestPlatform; grocer: Partner; alpha: Partner; beta: Partner }

export async function openSides(platform: TestPlatform): Promise<Sides> {
  const grocer = await openMerchant(platform)
  const alpha = await openCampaignBank(platform)
  return { platform, grocer, alpha, beta: await openCampaignBank(platform, 'beta') }
}

/** A campaign whose period is over, with its instants. */
export type Ended = {
  id: string
  dateFrom: string
  dateTo: string
  /** An instant within the period. */
  at: string
}

/** Makes a campaign whose period began 10 days ago and has just ended: the clock is moved by an hour. */
export async function endedCampaign(
  sides: Sides,
  approving: readonly Partner[],
  overrides: Record<string, unknown> = {},
  declining: readonly Partner[] = [],
): Promise<Ended> {
  const { platform } = sides
  const running = await runningCampaign(sides, approving, overrides, declining)
  const answer = await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1H' } })
  assert.equal(answer.status, 200, answer.text)
  return running
}

/** Makes a launched campaign whose period began 10 days ago and ends in an hour. */
export async function runningCampaign(
  { platform, grocer, alpha, beta }: Sides,
  approving: readonly Partner[],
  overrides: Record<string, unknown> = {},
  declining: readonly Partner[] = [],
): Promise<Ended> {
  const now = platform.platform.deps.campaigns.clock.now().getTime()
  const instant = (ms: number) => new Date(ms).toISOString()
  const period = { dateFrom: instant(now - 10 * dayMs), dateTo: instant(now + 3_600_000) }
  const invited = [...approving, ...declining]
  const participantsIds = [
    ...(invited.includes(alpha) ? [ids.alpha] : []),
    ...(invited.includes(beta) ? [ids.beta] : []),
  ]
  const id = await createCampaign(platform, { participantsIds, ...period, ...overrides }, grocer)
  for (const bank of approving) assert.equal((await bank.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  for (const bank of declining) assert.equal((await bank.call('POST', `/cashbacks/${id}/reject`)).status, 201)
  assert.equal((await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)
  return { id, ...period, at: instant(now - 5 * dayMs) }
}

/** A line of a report. By default the cashback is 10.00, which is 5 % of the amount, 200.00. */
export function line(
  campaign: Ended,
  transactionId: string,
  given: { terminalId?: string; at?: string; amount?: string; cashback?: string } = {},
): string {
  const { terminalId = 'T-0001', at = campaign.at, amount = '200.00', cashback = '10.00' } = given
  return [transactionId, terminalId, at, amount, cashback].join(',')
}

export const reportOf = (...lines: string[]): string => [header, ...lines, ''].join('\n')

export type Form = { file?: string | Uint8Array; fileName?: string; comment?: string; field?: string }

/** A form as browsers send it: its bytes and its content type. */
export async function formOf({ file = '', fileName = 'report.csv', comment, field = 'file' }: Form) {
  const form = new FormData()
  if (comment !== undefined) form.append('comment', comment)
  form.append(field, new Blob([file as string], { type: 'text/csv' }), fileName)
  const request = new Response(form)
  const raw = new Uint8Array(await request.arrayBuffer())
  return { raw, headers: { 'content-type': request.headers.get('content-type') ?? '' } }
}

const asForm = (given: Form | string): Form => (typeof given === 'string' ? { file: given } : given)

export async function uploadBank(bank: Partner, id: string, given: Form | string): Promise<Answer> {
  return bank.call('POST', `/portal/cashbacks/${id}/bank-report`, await formOf(asForm(given)))
}

export async function uploadMerchant(
  merchant: Partner,
  id: string,
  given: Form | string,
  bankId: string = ids.alpha,
): Promise<Answer> {
  return merchant.call('POST', `/portal/cashbacks/${id}/banks/${bankId}/merchant-report`, await formOf(asForm(given)))
}

export const move = (partner: Partner, path: string): Promise<Answer> =>
  partner.call('POST', `/portal/cashbacks/${path}`)

/** @returns the element of `banks` for the bank */
export async function reconciliationOf(partner: Partner, id: string, bankId: string = ids.alpha): Promise<any> {
  const answer = await partner.call('GET', `/portal/cashbacks/${id}/reconciliation`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.banks.find((bank: { id: string }) => bank.id === bankId)
}

/** The kinds with at least one difference. */
export const countsOf = ({ byKind }: { byKind: Record<string, number> }): Record<string, number> =>
  Object.fromEntries(Object.entries(byKind).filter(([, count]) => count > 0))

/** Counts the rows that uploads have written, for all campaigns. */
const countStored = `
  select (select count(*)::int from reports) as reports, (select count(*)::int from report_chunks) as chunks,
    (select count(*)::int from report_lines) as lines, (select count(*)::int from report_differences) as differences,
    (select count(*)::int from reconciliations) as reconciliations`

/** Runs `work`. Asserts that it has stored nothing of a report, and that the bank's report is still awaited. */
export async function leavesNoReport(
  database: Database,
  expected: { bank: Partner; campaignId: string },
  work: () => Promise<unknown>,
): Promise<void> {
  const before = await database.query(countStored)
  await work()
  assert.deepEqual(await database.query(countStored), before)
  const { bankReportingStatus } = await reconciliationOf(expected.bank, expected.campaignId)
  assert.equal(bankReportingStatus, 'awaitingBankReconciliation')
}
