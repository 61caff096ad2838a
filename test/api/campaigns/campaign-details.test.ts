/** GET /cashbacks/for-merchant/:cashbackId. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { editableFields } from '../../../src/campaigns/lifecycle/editable-fields.ts'
import { launchCampaign, moveClock, openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertMerchantsOnly,
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  openMerchant,
  openUser,
  type Partner,
} from '../../support/campaigns.ts'
import { changed, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
  grocer = partners.grocer
})
after(() => platform.close())

const pathOf = (id: string): string => `/cashbacks/for-merchant/${id}`
const read = async (id: string): Promise<Record<string, any>> => {
  const answer = await grocer.call('GET', pathOf(id))
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const decide = async (bank: Partner, id: string, decision: 'confirm' | 'reject'): Promise<void> => {
  const answer = await bank.call('POST', `/cashbacks/${id}/${decision}`)
  assert.equal(answer.status, 201, answer.text)
}
const all = { participantsIds: [ids.alpha, ids.beta, ids.gamma] }

describe('200', () => {
  test('exactly the documented fields, as JSON', async () => {
    const id = await createCampaign(platform)
    const answer = await grocer.call('GET', pathOf(id))
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/i)
    const { components } = (await platform.call('GET', '/swagger/json')).body
    type Schema = { $ref?: string; properties: Record<string, Schema>; items: Schema }
    const resolved = (schema: Schema): Schema =>
      schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1) ?? '']
    const schema = resolved({ $ref: 'CampaignDetails' } as Schema).properties
    const fieldsOf = (schema: Schema | undefined) => Object.keys(resolved(schema as Schema).properties).sort()
    assert.deepEqual(Object.keys(answer.body).sort(), Object.keys(schema).sort())
    for (const part of ['retailer', 'country', 'permissions', 'statistics'])
      assert.deepEqual(Object.keys(answer.body[part]).sort(), fieldsOf(schema[part]), part)
    for (const part of ['banks', 'terminals'])
      assert.deepEqual(Object.keys(answer.body[part][0]).sort(), fieldsOf(resolved(schema[part] as Schema).items), part)
  })

  test('a viewer may do nothing, and is told so', async () => {
    const id = await createCampaign(platform)
    assert.equal((await read(id)).permissions.deleteAbility, true)
    const viewer = await openUser(platform, { merchant: 'grocer' }, 'viewer')
    const { body } = await viewer.call('GET', pathOf(id))
    const nothing = { editAbility: false, editableFields: [], deleteAbility: false, confirmAbility: false }
    assert.deepEqual(body.permissions, nothing)
  })

  test('whose it is, its country with the currency, and the times', async () => {
    const details = await read(await createCampaign(platform, { countryCode: 'PL' }))
    assert.deepEqual(details.retailer, { retailerId: ids.grocer, name: 'Гросер' })
    assert.deepEqual(details.country, {
      id: ids.PL,
      name: 'Poland',
      code: 'PL',
      currency: { code: 'PLN', name: 'Zloty', symbol: 'zł', icon: 'https://pl.example/zl.svg' },
    })
    assert.equal(details.createdAt, details.updatedAt)
    assert.equal(details.expectedCompensation, null)
  })

  test('the same as the bank sees, but for the banks and the segment', async () => {
    const id = await createCampaign(platform, {
      sku: ['a'],
      maxBudget: 0.1,
      description: '"Ї"',
      bannerBig: 'https://x.example',
    })
    const list = (await partners.alpha.call('GET', '/cashbacks/for-bank')).body
    const { banks, segment, ...seen } = list.find((one: any) => one.cashbackId === id)
    const { banks: invited, permissions, statistics, ...own } = await read(id)
    assert.deepEqual(own, seen)
    const { name, logoUrl, ...part } = invited[0]
    assert.deepEqual([part], banks)
  })

  test('every invited bank by name, with its part', async () => {
    const id = await createCampaign(platform, all)
    await decide(partners.beta, id, 'reject')
    const fresh = {
      settlementConfirmed: false,
      bankReportingStatus: null,
      hasBankReport: false,
      hasSecondBankReport: false,
      merchantReportUploadsCount: 0,
    }
    assert.deepEqual((await read(id)).banks, [
      { id: ids.alpha, name: 'Alpha Bank', logoUrl: 'https://alpha.example/logo.svg', status: 'pending', ...fresh },
      { id: ids.gamma, name: 'Gamma Bank', logoUrl: 'https://gamma.example/logo.svg', status: 'pending', ...fresh },
      { id: ids.beta, name: 'Бета Банк', logoUrl: 'data:image/png;base64,aGk=', status: 'declined', ...fresh },
    ])
  })

  test('the stages of reconciliation, reports, and the compensation over all banks', async () => {
    const id = await createCampaign(platform, all)
    await platform.platform.database.execute(
      `update campaign_banks set status = 'approved', reporting_stage = stage, bank_report_uploads = bank, merchant_report_uploads = merchant,
         expected_compensation = money
       from (values ($2::uuid, 'awaitingUpdatedBankReconciliation', 1, 2, 0.1), ($3, 'settled', 2, 1, 0.2), ($4, null, 0, 0, null))
         as given (bank_id, stage, bank, merchant, money)
       where cashback_id = $1 and campaign_banks.bank_id = given.bank_id`,
      [id, ids.alpha, ids.beta, ids.gamma],
    )
    const { banks, statistics, expectedCompensation } = await read(id)
    assert.equal(expectedCompensation, 0.3)
    assert.equal(statistics.uploadedReports, 6)
    const parts = banks.map((bank: any) => [
      bank.id,
      bank.bankReportingStatus,
      bank.settlementConfirmed,
      bank.hasBankReport,
      bank.hasSecondBankReport,
      bank.merchantReportUploadsCount,
    ])
    assert.deepEqual(parts, [
      [ids.alpha, 'awaitingUpdatedBankReconciliation', false, true, false, 2],
      [ids.gamma, null, false, false, false, 0],
      [ids.beta, 'awaitingCompensationConfirmation', true, true, true, 1],
    ])
  })

  test('counts of the banks by what they decided, of terminals, and of customers in segments', async () => {
    const id = await createCampaign(platform, all)
    const counts = async () => {
      const { banksInvited, banksPending, banksApproved, banksDeclined, banksExpired } = (await read(id)).statistics
      return [banksInvited, banksPending, banksApproved, banksDeclined, banksExpired]
    }
    assert.deepEqual(await counts(), [3, 3, 0, 0, 0])
    await decide(partners.alpha, id, 'confirm')
    await decide(partners.beta, id, 'reject')
    assert.deepEqual(await counts(), [3, 1, 1, 1, 0])
    await grocer.call('POST', `${pathOf(id)}/confirm`)
    assert.deepEqual(await counts(), [3, 0, 1, 1, 1])
    assert.deepEqual((await read(id)).statistics.segmentCustomers, 0)
    await platform.platform.database.execute(
      `insert into campaign_segments
       select $1, bank_id, gen_random_uuid(), 27, '[]', now(), 'x.csv' from campaign_banks where cashback_id = $1 limit 2`,
      [id],
    )
    assert.deepEqual((await read(id)).statistics.segmentCustomers, 40)
  })

  test('the platform’s terminals as they are now, or the campaign’s own', async () => {
    const own = await createCampaign(platform, { terminalsPlatform: false, terminals: [{ terminal_id: 'own' }] })
    const platforms = await createCampaign(platform, { terminals: [{ terminal_id: 'own' }] })
    const terminalsOf = async (id: string) => (await read(id)).terminals.map((terminal: any) => terminal.terminal_id)
    assert.deepEqual(await terminalsOf(own), ['own'])
    assert.deepEqual(await terminalsOf(platforms), ['T-0001', 'T-0002'])
    assert.equal((await read(platforms)).statistics.terminals, 2)
    await platform.applyDirectory(changed(campaignDirectory, ['      - { terminalId: T-0002, name: Shop 2 }\n', '']))
    assert.deepEqual(await terminalsOf(platforms), ['T-0001'])
    assert.deepEqual((await read(platforms)).terminals[0], {
      terminal_id: 'T-0001',
      terminal_name: 'Shop 1',
      terminal_location: 'Kyiv, Main St 1',
      merchant_id: 'M-77',
      merchant_name: 'GROCER',
    })
    assert.equal((await read(platforms)).statistics.terminals, 1)
    await platform.applyDirectory(campaignDirectory)
  })

  test('a campaign that a bank created for this merchant', async () => {
    const details = await read(await createBankCampaign(platform, partners.alpha))
    assert.deepEqual(
      [details.createdByType, details.createdByBankId, details.createdByRetailerId, details.retailerId],
      ['bank', ids.alpha, null, ids.grocer],
    )
  })

  test('an id in capitals', async () => {
    const id = await createCampaign(platform)
    assert.equal((await read(id.toUpperCase())).cashbackId, id)
  })
})

describe('the ETag is strong and names the version', () => {
  test('it changes with every change, and with nothing else', async () => {
    const id = await createCampaign(platform, all)
    const tag = async () => (await grocer.call('GET', pathOf(id))).headers.get('etag') ?? ''
    const tags = [await tag()]
    assert.match(tags[0] ?? '', /^"[^"]+"$/)
    assert.equal(await tag(), tags[0])
    const changes = [
      () => grocer.call('PATCH', pathOf(id), { body: { description: 'other' } }),
      () => partners.alpha.call('POST', `/cashbacks/${id}/confirm`),
      () => partners.beta.call('POST', `/cashbacks/${id}/reject`),
      () => grocer.call('POST', `${pathOf(id)}/confirm`),
      () => grocer.call('DELETE', pathOf(id)),
    ]
    for (const change of changes) {
      assert.ok((await change()).status < 300)
      tags.push(await tag())
      assert.ok((await change()).status < 500)
      assert.equal(await tag(), tags.at(-1), 'a repeat changes nothing')
    }
    assert.equal(new Set(tags).size, tags.length)
  })
})

describe('permissions', () => {
  type Permissions = { editableFields: readonly string[]; deleteAbility: boolean; confirmAbility: boolean }
  const assertPermissions = async (id: string, expected: Permissions) =>
    assert.deepEqual((await read(id)).permissions, { editAbility: expected.editableFields.length > 0, ...expected })
  const shown = ['description', 'bannerSmall', 'bannerBig']

  test('follow the state of the campaign', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await assertPermissions(id, { editableFields, deleteAbility: true, confirmAbility: false })
    await decide(partners.alpha, id, 'confirm')
    const agreed = [...shown, 'participantsIds']
    await assertPermissions(id, { editableFields: agreed, deleteAbility: true, confirmAbility: true })
    await decide(partners.beta, id, 'reject')
    await assertPermissions(id, { editableFields: agreed, deleteAbility: true, confirmAbility: true })
    await grocer.call('POST', `${pathOf(id)}/confirm`)
    await assertPermissions(id, { editableFields: shown, deleteAbility: true, confirmAbility: false })
    await grocer.call('DELETE', pathOf(id))
    await assertPermissions(id, { editableFields: [], deleteAbility: false, confirmAbility: false })
  })

  test('a start in less than 48 hours cannot be taken back', async () => {
    const now = new Date()
    const id = await createCampaign(platform, { dateFrom: new Date(now.getTime() + 3 * 86_400_000).toISOString() })
    {
      using _ = stopClock(platform, new Date(now.getTime() + 86_400_000))
      await assertPermissions(id, { editableFields, deleteAbility: true, confirmAbility: false })
    }
    using _ = stopClock(platform, new Date(now.getTime() + 86_400_001))
    await assertPermissions(id, { editableFields, deleteAbility: false, confirmAbility: false })
  })

  test('nothing may be done with a campaign that a bank created', async () => {
    const id = await createBankCampaign(platform, partners.alpha)
    await assertPermissions(id, { editableFields: [], deleteAbility: false, confirmAbility: false })
  })

  test('a running campaign may still be described, one that is over may not', async () => {
    const now = platform.platform.deps.campaigns.clock.now().getTime()
    const id = await launchCampaign(platform, partners, {
      dateFrom: new Date(now - 1_000).toISOString(),
      dateTo: new Date(now + 86_400_000).toISOString(),
    })
    await moveClock(platform, { advance: 'PT1S' })
    assert.equal((await read(id)).status, 'active')
    await assertPermissions(id, { editableFields: shown, deleteAbility: false, confirmAbility: false })
    await moveClock(platform, { advance: 'P1D' })
    assert.equal((await read(id)).status, 'awaitingCompensationConfirmation')
    await assertPermissions(id, { editableFields: [], deleteAbility: false, confirmAbility: false })
  })
})

describe('refused', () => {
  test('400: an id that is no UUID, a query', async () => {
    const id = await createCampaign(platform)
    for (const wrong of ['x', `urn:uuid:${id}`, `${id}0`, `{${id}}`, '%20'])
      assertRefused(await grocer.call('GET', pathOf(wrong)), 400, ['cashbackId must be a UUID'])
    assertRefused(await grocer.call('GET', `${pathOf(id)}?fields=all`), 400, ['fields must be omitted'])
  })

  test('403: another merchant’s; 404: unknown', async () => {
    const id = await createCampaign(platform)
    const voltshop = await openMerchant(platform, 'voltshop')
    assertRefused(await voltshop.call('GET', pathOf(id)), 403, 'The campaign belongs to another merchant')
    assertRefused(await grocer.call('GET', pathOf(randomUUID())), 404, 'The campaign was not found')
  })

  test('401 and 403: merchants of every role', async () => {
    const id = await createCampaign(platform)
    await assertMerchantsOnly(platform, {
      isChange: false,
      statusFor: 200,
      call: partner => platform.call('GET', pathOf(id), { token: partner?.token ?? null }),
    })
  })
})
