/** POST /cashbacks/for-merchant. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  assertRefused,
  assertResult,
  campaignDirectory,
  campaignForm,
  createCampaign,
  ids,
  openMerchant,
  type Partner,
} from './support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from './support/platform.ts'

let platform: TestPlatform
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
})
after(() => platform.close())

const path = '/cashbacks/for-merchant'
const create = (overrides: Record<string, unknown> = {}, partner = grocer): Promise<Answer> =>
  partner.call('POST', path, { body: campaignForm(platform, overrides) })

describe('201', () => {
  test('a new campaign waits for its banks', async () => {
    assertResult(await create(), 201, { status: 'awaitingBankApproval' })
    assert.ok(await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }))
  })
})

describe('400', () => {
  test('all faults at once', async () => {
    const answer = await create({
      creatorId: 'x',
      name: ' ',
      minAmount: 1.001,
      dateTo: '2026-01-01T00:00:00',
      participantsIds: [ids.alpha, ids.alpha.toUpperCase(), ids.closed],
      countryCode: 'DE',
      terminalsPlatform: false,
      terminals: [{ terminal_name: 7 }, { terminal_id: 'a' }, { terminal_id: 'a' }],
      percentage: undefined,
    })
    assertRefused(answer, 400, [
      'countryCode must be a country of the platform',
      'creatorId must be omitted',
      'dateTo must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999',
      'minAmount must be a number with at most 2 decimals',
      'name must be a text with at least one character that is not a space',
      'participantsIds must be a list without repetitions',
      'participantsIds.2 must be a connected bank that the merchant does not exclude',
      'percentage must be given',
      'terminals.0.terminal_id must be given',
      'terminals.0.terminal_name must be a string or null',
      'terminals.2.terminal_id must be unique in the list',
    ])
  })
})
