/** POST /portal/cashbacks: a bank creates a campaign. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { describeStep, historyOf, openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertRefused,
  assertResult,
  campaignDirectory,
  campaignForm,
  ids,
  openCampaignBank,
  openMerchant,
  openUser,
  type Partner,
} from '../../support/campaigns.ts'
import { changed } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
})
after(() => platform.close())

const path = '/portal/cashbacks'
const formOf = (overrides: Record<string, unknown> = {}) =>
  campaignForm(platform, { participantsIds: undefined, retailerId: ids.grocer, ...overrides })
const create = (overrides: Record<string, unknown> = {}, bank: Partner = partners.alpha): Promise<Answer> =>
  bank.call('POST', path, { body: formOf(overrides) })
const read = async (id: string): Promise<Record<string, any>> =>
  (await partners.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body
const unwelcome = ['retailerId must be an active merchant that does not exclude the bank']

describe('201', () => {
  test('the bank is the author and the only one that takes part, pending', async () => {
    const answer = await create({ retailerId: ids.grocer.toUpperCase(), name: 'Від банку', sku: ['a'] })
    assertResult(answer, 201, { status: 'awaitingBankApproval' })
    const details = await read(answer.body.id)
    assert.deepEqual(
      [details.createdByType, details.createdByBankId, details.createdByRetailerId, details.retailerId],
      ['bank', ids.alpha, null, ids.grocer],
    )
    assert.deepEqual([details.name, details.sku, details.allProducts], ['Від банку', ['a'], false])
    assert.deepEqual(
      details.banks.map((bank: any) => [bank.id, bank.status]),
      [[ids.alpha, 'pending']],
    )
    const listed = (await partners.grocer.call('GET', '/cashbacks/for-merchant')).body.data
    assert.ok(listed.some((one: any) => one.cashbackId === answer.body.id))
    const seen = (await partners.alpha.call('GET', '/cashbacks/for-bank')).body
    assert.equal(seen.find((one: any) => one.cashbackId === answer.body.id).createdByType, 'bank')
  })

  test('it starts by the bank’s confirmation', async () => {
    const { id } = (await create()).body
    const confirmed = await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    assertResult(confirmed, 201, { id, status: 'approved' })
    const history = await historyOf(partners, id)
    assert.deepEqual(history.map(describeStep), [
      'campaign create: null -> awaitingBankApproval',
      'bank invite: null -> pending',
      'bank confirm: pending -> approved',
      'campaign confirm: awaitingBankApproval -> approved',
    ])
    assert.ok(history.every(({ actor }) => actor.type === 'bank'))
  })

  test('a bank’s user with the role EDITOR', async () => {
    assertResult(await create({}, await openUser(platform, { bank: 'alpha' }, 'EDITOR')), 201, {
      status: 'awaitingBankApproval',
    })
  })
})

describe('400', () => {
  test('a merchant that is unknown, suspended, a bank, or excludes this bank', async () => {
    assertRefused(await create({ retailerId: randomUUID() }), 400, unwelcome)
    assertRefused(await create({ retailerId: ids.beta }), 400, unwelcome)
    assertRefused(await create({ retailerId: ids.voltshop }, partners.beta), 400, unwelcome)
    assertResult(await create({ retailerId: ids.voltshop }), 201, { status: 'awaitingBankApproval' })
    const suspended = 'excludedBanks: [beta]\n    status: suspended'
    await platform.applyDirectory(changed(campaignDirectory, ['excludedBanks: [beta]', suspended]))
    assertRefused(await create({ retailerId: ids.voltshop }), 400, unwelcome)
    await platform.applyDirectory(campaignDirectory)
  })

  const table: [string, Record<string, unknown>, string[]][] = [
    ['no merchant', { retailerId: undefined }, ['retailerId must be given']],
    ['null as merchant', { retailerId: null }, ['retailerId must be a string']],
    ['a merchant that is no UUID', { retailerId: 'grocer' }, ['retailerId must be a UUID']],
    ['banks to invite', { participantsIds: [ids.alpha] }, ['participantsIds must be omitted']],
    [
      'who creates it',
      { creatorId: ids.alpha, createdByType: 'bank' },
      ['creatorId must be omitted', 'createdByType must be omitted'],
    ],
    [
      'everything at once',
      { retailerId: ids.alpha, name: '', minAmount: 9, maxAmount: 8.999, countryCode: 'DE', x: 1, percentage: 101 },
      [
        ...unwelcome,
        'name must be a text with at least one character that is not a space',
        'maxAmount must be at least minAmount',
        'maxAmount must be a number with at most 2 decimals',
        'countryCode must be a country of the platform',
        'x must be omitted',
        'percentage must be at most 100',
      ],
    ],
  ]
  for (const [name, given, faults] of table) test(name, async () => assertRefused(await create(given), 400, faults))

  test('no object, a query', async () => {
    for (const raw of ['', 'null', '[]'])
      assertRefused(await partners.alpha.call('POST', path, { raw }), 400, /body must be an object/)
    assertRefused(await partners.alpha.call('POST', `${path}?x=1`, { body: formOf() }), 400, ['x must be omitted'])
  })
})

describe('401 and 403', () => {
  test('banks with the role ADMIN or EDITOR only, before the body is looked at', async () => {
    assertRefused(await platform.call('POST', path, { body: formOf() }), 401)
    const refused = [
      await openCampaignBank(platform, 'alpha', 'VIEWER'),
      await openUser(platform, { bank: 'alpha' }, 'VIEWER'),
      await openMerchant(platform),
      await openUser(platform, { merchant: 'grocer' }, 'admin_user'),
      await openUser(platform, 'platform', 'admin'),
    ]
    for (const partner of refused) {
      assertRefused(await partner.call('POST', path, { body: formOf() }), 403)
      assertRefused(await partner.call('POST', path, { raw: '{' }), 403)
    }
  })
})
