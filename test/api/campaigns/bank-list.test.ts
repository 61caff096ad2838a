/** GET /cashbacks/for-bank: what a bank sees of its campaigns, and each filter. */
import assert from 'node:assert/strict'
import { after, before, describe, suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import AjvFormats from 'ajv-formats'
import {
  assertRefused,
  campaignDirectory,
  campaignForm,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { advance } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  endedCampaign,
  line,
  move,
  openSides,
  reportOf,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'
import { addCustomers, customers, putSegment } from '../../support/segments.ts'

type Campaign = Record<string, any>

const listOf = async (bank: Partner, query = ''): Promise<Campaign[]> => {
  const answer = await bank.call('GET', `/cashbacks/for-bank${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const oneOf = async (bank: Partner, cashbackId: string): Promise<Campaign> => {
  const found = (await listOf(bank)).filter(campaign => campaign.cashbackId === cashbackId)
  assert.equal(found.length, 1)
  return found[0] ?? {}
}
const decide = async (bank: Partner, decision: 'confirm' | 'reject', id: string) =>
  assert.equal((await bank.call('POST', `/cashbacks/${id}/${decision}`)).status, 201)
const launch = async (merchant: Partner, id: string) =>
  assert.equal((await merchant.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)

const grocerTerminals = [
  {
    terminal_id: 'T-0001',
    terminal_name: 'Shop 1',
    terminal_location: 'Kyiv, Main St 1',
    merchant_id: 'M-77',
    merchant_name: 'GROCER',
  },
  { terminal_id: 'T-0002', terminal_name: 'Shop 2', terminal_location: null, merchant_id: null, merchant_name: null },
]
const ukraine = {
  id: ids.UA,
  name: 'Ukraine',
  code: 'UA',
  currency: { code: 'UAH', name: 'Hryvnia', symbol: '₴', icon: '' },
}
const undecided = {
  status: 'pending',
  settlementConfirmed: false,
  bankReportingStatus: null,
  hasBankReport: false,
  hasSecondBankReport: false,
  merchantReportUploadsCount: 0,
}

suite('the record, every field of the document and no other', () => {
  let platform: TestPlatform
  let alpha: Partner
  let beta: Partner
  let grocer: Partner
  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory })
    alpha = await openCampaignBank(platform)
    beta = await openCampaignBank(platform, 'beta')
    grocer = await openMerchant(platform)
  })
  after(() => platform.close())

  test('of a campaign with as little as possible', async () => {
    const form = campaignForm(platform)
    const created = await grocer.call('POST', '/cashbacks/for-merchant', { body: form })
    const { id, createdAt, updatedAt } = created.body
    assert.deepEqual(await oneOf(alpha, id), {
      cashbackId: id,
      retailerId: ids.grocer,
      createdByRetailerId: ids.grocer,
      createdByBankId: null,
      createdByType: 'retailer',
      banks: [{ id: ids.alpha, ...undecided }],
      name: 'Осінь',
      description: null,
      participationTerms: null,
      bannerSmall: null,
      bannerBig: null,
      sku: [],
      categoryId: [],
      allProducts: true,
      purchaseOnline: true,
      purchaseOffline: true,
      dateFrom: form.dateFrom,
      dateTo: form.dateTo,
      minAmount: 100,
      maxAmount: 5000,
      maxBudget: null,
      percentage: 5,
      expectedCompensation: null,
      merchantCompensationPercentage: 60,
      merchantCategoryCode: null,
      countryId: ids.UA,
      terminals: grocerTerminals,
      terminalsPlatform: true,
      paymentSystemsId: [ids.visa],
      status: 'awaitingBankApproval',
      createdAt,
      updatedAt,
      retailer: { retailerId: ids.grocer, name: 'Гросер' },
      country: ukraine,
      segment: null,
    })
  })

  test('of a campaign with everything, in odd characters', async () => {
    const oddLine = 'Ї "так" \\ 😀 \u00ad'
    const odd = `${oddLine} \u2028`
    const given = {
      name: 'Ї "\\ 😀',
      description: odd,
      participationTerms: `${odd}\n\tдва рядки`,
      bannerSmall: 'https://cdn.grocer.example/small.png?a=1&b=%222%22',
      bannerBig: 'data:image/png;base64,aGk=',
      sku: ['4820000000017', "o'clock, a"],
      categoryId: ['dairy', 'пекарня'],
      allProducts: false,
      purchaseOnline: false,
      purchaseOffline: false,
      dateFrom: '2026-01-01T02:00:00+02:00',
      dateTo: '2099-12-31',
      minAmount: 0.01,
      maxAmount: 9_999_999_999.99,
      maxBudget: 100000.5,
      percentage: 12.345,
      merchantCompensationPercentage: 0,
      merchantCategoryCode: ['5411', '0742'],
      countryCode: 'pl',
      paymentSystemsId: [ids.mastercard, ids.visa],
      terminalsPlatform: false,
      terminals: [
        {
          terminal_id: 'own 1',
          terminal_name: oddLine,
          terminal_location: 'Львів',
          merchant_id: 'm',
          merchant_name: 'M',
        },
        { terminal_id: 'own 2' },
        { terminal_id: 'own 3', terminal_name: null, merchant_id: '' },
      ],
    }
    const id = await createCampaign(platform, { ...given, participantsIds: [ids.alpha, ids.beta] })
    const shown = await oneOf(beta, id)
    const { countryCode: _, terminals, dateFrom: __, dateTo: ___, ...same } = given
    for (const [field, value] of Object.entries(same)) assert.deepEqual(shown[field], value, field)
    assert.deepEqual(shown.terminals, [
      terminals[0],
      { terminal_id: 'own 2', terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null },
      { terminal_id: 'own 3', terminal_name: null, terminal_location: null, merchant_id: '', merchant_name: null },
    ])
    assert.deepEqual([shown.dateFrom, shown.dateTo], ['2026-01-01T00:00:00.000Z', '2099-12-31T00:00:00.000Z'])
    assert.deepEqual(shown.country, {
      id: ids.PL,
      name: 'Poland',
      code: 'PL',
      currency: { code: 'PLN', name: 'Zloty', symbol: 'zł', icon: 'https://pl.example/zl.svg' },
    })
    assert.deepEqual(shown.banks, [{ id: ids.beta, ...undecided }])
  })

  test('of a campaign that the bank created', async () => {
    const { participantsIds: _, ...form } = campaignForm(platform)
    const created = await alpha.call('POST', '/portal/cashbacks', { body: { ...form, retailerId: ids.grocer } })
    assert.equal(created.status, 201, created.text)
    const shown = await oneOf(alpha, created.body.id)
    assert.deepEqual(
      [shown.createdByType, shown.createdByBankId, shown.createdByRetailerId, shown.retailerId],
      ['bank', ids.alpha, null, ids.grocer],
    )
  })

  test('with the segment of this bank only; without one of its customers it is empty, not null', async () => {
    const [ours, theirs] = [customers('ours', 3), customers('theirs', 2)]
    await addCustomers(platform, 'alpha', ours)
    await addCustomers(platform, 'beta', theirs)
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    const file = `customerId\n${[...ours, ...theirs].join('\n')}\n`
    assert.equal((await putSegment(grocer, id, file, 'вірні «клієнти».csv')).status, 200)
    const { segmentId, formedAt, ...segment } = (await oneOf(alpha, id)).segment
    assert.deepEqual(segment, {
      cashbackId: id,
      customersCount: 3,
      customerIds: ours,
      sourceFileName: 'вірні «клієнти».csv',
    })
    assert.match(segmentId, /^[0-9a-f-]{36}$/)
    assert.match(formedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual((await oneOf(beta, id)).segment.customerIds, theirs)

    assert.equal((await putSegment(grocer, id, `customerId\n${theirs.join('\n')}\n`)).status, 200)
    const { customersCount, customerIds } = (await oneOf(alpha, id)).segment
    assert.deepEqual([customersCount, customerIds], [0, []])
  })

  test('is compact, every part of it', async () => {
    const answer = await alpha.call('GET', '/cashbacks/for-bank')
    assert.equal(answer.text, JSON.stringify(answer.body))
    assert.ok(answer.body.some(({ segment }: Campaign) => segment !== null))
  })

  test('each stage of reconciliation, as the contract calls it', async () => {
    const sides = await openSides(platform)
    const ended = await endedCampaign(sides, [sides.alpha])
    const part = async () => {
      const { banks, status, expectedCompensation } = await oneOf(alpha, ended.id)
      assert.equal(banks.length, 1)
      const { id: _, status: bankStatus, ...stage } = banks[0]
      assert.equal(bankStatus, 'approved')
      return [status, ...Object.values(stage), expectedCompensation]
    }
    const confirmation = 'awaitingCompensationConfirmation'
    assert.deepEqual(await part(), [confirmation, false, 'awaitingBankReconciliation', false, false, 0, null])
    const report = reportOf(line(ended, 'a'), line(ended, 'b', { amount: '100.10', cashback: '5.01' }))
    assert.equal((await uploadBank(alpha, ended.id, report)).status, 201)
    const merchantsTurn = 'awaitingMerchantReconciliationConfirmation'
    assert.deepEqual(await part(), [confirmation, false, merchantsTurn, true, false, 0, 9.01])
    assert.equal((await uploadMerchant(grocer, ended.id, reportOf(line(ended, 'a')))).status, 201)
    assert.deepEqual(await part(), [confirmation, false, 'awaitingUpdatedBankReconciliation', true, false, 1, 9.01])
    assert.equal((await uploadBank(alpha, ended.id, reportOf(line(ended, 'a')))).status, 201)
    assert.deepEqual(await part(), [confirmation, false, merchantsTurn, true, true, 1, 6])
    const bank = `${ended.id}/banks/${ids.alpha}`
    assert.equal((await move(grocer, `${bank}/accept-report`)).status, 200)
    assert.deepEqual(await part(), [confirmation, false, confirmation, true, true, 1, 6])
    assert.equal((await move(grocer, `${bank}/settle`)).status, 200)
    assert.deepEqual(await part(), ['awaitingCompensationPayment', true, confirmation, true, true, 1, 6])
    assert.equal((await move(grocer, `${ended.id}/compensation-paid`)).status, 200)
    assert.equal((await move(alpha, `${ended.id}/compensation-received`)).status, 200)
    assert.deepEqual(await part(), ['compensationReceived', true, confirmation, true, true, 1, 6])
  })

  test('is what the OpenAPI document says', async () => {
    const document = (await platform.call('GET', '/swagger/json')).body
    const { schema } = document.paths['/cashbacks/for-bank'].get.responses['200'].content['application/json']
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    AjvFormats.default(ajv)
    const [campaign] = Object.entries<any>(document.components.schemas).filter(([name]) => name === 'Campaign')
    assert.ok(campaign)
    // The documented record must be complete: every field is named, and no other exists.
    const closed = JSON.parse(JSON.stringify({ ...schema, components: document.components }), (_, value) =>
      value?.properties ? { ...value, additionalProperties: false } : value,
    )
    const validate = ajv.compile(closed)
    for (const bank of [alpha, beta]) {
      const list = await listOf(bank)
      assert.ok(list.some(({ segment }) => segment !== null))
      assert.ok(validate(list), JSON.stringify(validate.errors?.slice(0, 5)))
    }
    const [first] = await listOf(alpha)
    assert.deepEqual(Object.keys(first ?? {}).sort(), Object.keys(campaign[1].properties).sort())
    assert.equal(validate([{ ...first, more: 1 }]), false)
    assert.equal(validate([{ ...first, banks: [] }]), false)
  })
})

suite('filters', () => {
  let platform: TestPlatform
  let alpha: Partner
  let grocer: Partner
  const campaigns: Record<string, string> = {}
  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory })
    alpha = await openCampaignBank(platform)
    const beta = await openCampaignBank(platform, 'beta')
    grocer = await openMerchant(platform)
    const voltshop = await openMerchant(platform, 'voltshop')
    const make = async (key: string, overrides: Record<string, unknown>, merchant = grocer) => {
      campaigns[key] = await createCampaign(platform, overrides, merchant)
      return campaigns[key]
    }
    const period = (dateFrom: string, dateTo: string) => ({ dateFrom, dateTo })
    await make('pending', { name: 'Осінь 100%', sku: ['A', 'B'], ...period('2055-01-01', '2055-02-01') })
    const approved = await make('approved', {
      name: 'ОСІННЯ_ніч',
      sku: ['B', 'c,d'],
      ...period('2055-01-10T12:00:00Z', '2055-03-01T12:00:00Z'),
    })
    const active = await make('active', { name: 'Autumn.*', ...period('2026-01-01', '2055-06-01') })
    const onlyBeta = await make('only-beta', {
      name: 'ohne uns (ß)',
      participantsIds: [ids.alpha, ids.beta],
      ...period('2026-01-01', '2055-06-01'),
    })
    const declined = await make('declined', { name: 'declined', ...period('2055-05-01', '2055-05-02') })
    const deleted = await make('deleted', { name: 'deleted', ...period('2055-05-01', '2055-05-02') })
    await make('volt', { name: 'ВОЛЬТ', ...period('2056-01-01', '2056-12-31') }, voltshop)
    await make('others', { name: 'Осінь', participantsIds: [ids.beta] })
    const finished = await make('finished', {
      name: 'finished',
      dateFrom: inDays(platform, -10),
      dateTo: inDays(platform, 1),
    })
    for (const id of [approved, active, finished]) {
      await decide(alpha, 'confirm', id)
      await launch(grocer, id)
    }
    await decide(beta, 'confirm', onlyBeta)
    await launch(grocer, onlyBeta)
    await decide(alpha, 'reject', declined)
    assert.equal((await grocer.call('DELETE', `/cashbacks/for-merchant/${deleted}`)).status, 200)
    await advance(platform, 'P1D')
  })
  after(() => platform.close())

  const all = ['pending', 'approved', 'active', 'only-beta', 'declined', 'deleted', 'volt', 'finished']
  const found = async (query: string): Promise<string[]> => {
    const keys = new Map(Object.entries(campaigns).map(([key, id]) => [id, key]))
    return (await listOf(alpha, query)).map(({ cashbackId }) => keys.get(cashbackId) ?? 'unknown')
  }

  const cases: [query: string, expected: string[]][] = [
    ['', all],
    ['?status=active', ['active']],
    ['?status=approved', ['approved']],
    ['?status=finished', ['finished']],
    ['?status=deleted', ['deleted']],
    ['?bankApprovalStatus=approved', ['approved', 'active', 'finished']],
    ['?bankApprovalStatus=declined', ['declined']],
    ['?bankApprovalStatus=expired', ['only-beta']],
    ['?bankApprovalStatus=pending,declined', ['pending', 'declined', 'deleted', 'volt']],
    ['?bankApprovalStatus=pending&bankApprovalStatus=declined', ['pending', 'declined', 'deleted', 'volt']],
    ['?bankApprovalStatus[]=expired&bankApprovalStatus[]=declined,declined', ['only-beta', 'declined']],
    ['?bankApprovalStatus%5B%5D=expired', ['only-beta']],
    ['?status=active&bankApprovalStatus=declined,pending', []],
    ['?status=active&bankApprovalStatus=approved,pending', ['active']],
    ['?status=deleted&bankApprovalStatus=pending', ['deleted']],
    ['?status=deleted&bankApprovalStatus=approved', []],
    ['?name=осін', ['pending', 'approved']],
    ['?name=ОСІН', ['pending', 'approved']],
    ['?name=осінь', ['pending']],
    ['?name=вольт', ['volt']],
    ['?name=aUTUMN', ['active']],
    ['?name=%25', ['pending']],
    ['?name=_', ['approved']],
    ['?name=.*', ['active']],
    ['?name=(%C3%9F)', ['only-beta']],
    ['?name=%5C', []],
    ["?name='", []],
    ['?name=', all],
    ['?sku=A', ['pending']],
    ['?sku=B', ['pending', 'approved']],
    ['?sku=b', []],
    ['?sku=A&sku=c,d', ['pending', 'approved']],
    ['?sku[]=A&sku[]=x', ['pending']],
    ['?sku=x&sku[]=A', ['pending']],
    ['?sku=A,B', []],
    [`?retailerId=${ids.voltshop}`, ['volt']],
    [`?retailerId=${ids.grocer.toUpperCase()}`, all.filter(key => key !== 'volt')],
    [`?retailerId=${ids.alpha}`, []],
    ['?dateFrom=2055-01-10', ['approved', 'declined', 'deleted', 'volt']],
    ['?dateFrom=2055-01-10T12:00:00Z', ['approved', 'declined', 'deleted', 'volt']],
    ['?dateFrom=2055-01-10T14:00:00%2B02:00', ['approved', 'declined', 'deleted', 'volt']],
    ['?dateFrom=2055-01-10T12:00:00.001Z', ['declined', 'deleted', 'volt']],
    ['?dateTo=2055-03-01T12:00:00Z', ['pending', 'approved', 'finished']],
    ['?dateTo=2055-03-01T11:59:59.999Z', ['pending', 'finished']],
    ['?dateTo=2055-03-01', ['pending', 'approved', 'finished']],
    ['?dateTo=2055-02-28', ['pending', 'finished']],
    ['?dateTo=9999-12-31', all],
    ['?dateFrom=2055-01-01&dateTo=2055-05-02', ['pending', 'approved', 'declined', 'deleted']],
    ['?activeOn=2055-05-01T00:00:00Z', ['active', 'only-beta', 'declined', 'deleted']],
    ['?activeOn=2055-04-30T23:59:59.999Z', ['active', 'only-beta']],
    ['?activeOn=2055-05-02T00:00:00Z', ['active', 'only-beta']],
    ['?activeOn=2055-05-01T23:59:59.999Z', ['active', 'only-beta', 'declined', 'deleted']],
    ['?activeOn=9999-12-31T23:59:59.999Z', []],
    ['?activeOn=9999-12-31', []],
    ['?activeOn=2055-03-01', ['approved', 'active', 'only-beta']],
    ['?activeOn=2055-03-02', ['active', 'only-beta']],
    ['?activeOn=2055-02-01', ['approved', 'active', 'only-beta']],
    ['?activeOn=2055-01-31', ['pending', 'approved', 'active', 'only-beta']],
    ['?status=active&activeOn=2055-01-15', ['active']],
    ['?name=осін&sku=B&bankApprovalStatus=pending', ['pending']],
  ]
  for (const [query, expected] of cases)
    test(query || 'none', async () => assert.deepEqual((await found(query)).sort(), expected.toSorted()))

  test('newest createdAt first', async () => {
    assert.deepEqual(await found(''), [
      'finished',
      'volt',
      'deleted',
      'declined',
      'only-beta',
      'active',
      'approved',
      'pending',
    ])
  })

  test('of the same createdAt: by id', async () => {
    const { database } = platform.platform
    const made = await Promise.all(Array.from({ length: 8 }, () => createCampaign(platform, { name: 'twins' })))
    await database.execute("update campaign_banks set created_at = '2026-01-01Z' where cashback_id = any($1)", [made])
    const shown = (await listOf(alpha, '?name=twins')).map(({ cashbackId }) => cashbackId)
    assert.deepEqual(shown, made.toSorted())
    await database.execute('delete from campaign_history where cashback_id = any($1)', [made])
    await database.execute('delete from campaign_banks where cashback_id = any($1)', [made])
  })

  describe('400', () => {
    const statuses = 'pending, approved, declined, expired'
    const date = 'an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999'
    const refused: [query: string, message: string[]][] = [
      ['?page=1', ['page must be omitted']],
      ['?Status=active', ['Status must be omitted']],
      ['?status[]=active', ['status[] must be omitted']],
      ['?status=awaitingBankApproval', ['status must be one of active, finished, approved, deleted']],
      ['?status=', ['status must be one of active, finished, approved, deleted']],
      ['?status=active&status=deleted', ['status must be given once only']],
      ['?bankApprovalStatus=active', [`bankApprovalStatus.0 must be one of ${statuses}`]],
      ['?bankApprovalStatus=pending,', [`bankApprovalStatus.1 must be one of ${statuses}`]],
      ['?bankApprovalStatus=', [`bankApprovalStatus.0 must be one of ${statuses}`]],
      ['?retailerId=x', ['retailerId must be a UUID']],
      ['?sku=', ['sku.0 must be longer than or equal to 1 character']],
      [`?sku=${'a'.repeat(129)}`, ['sku.0 must be shorter than or equal to 128 characters']],
      [`?name=${'a'.repeat(101)}`, ['name must be shorter than or equal to 100 characters']],
      ['?dateFrom=tomorrow', [`dateFrom must be ${date}`]],
      ['?dateFrom=2027-02-30', [`dateFrom must be ${date}`]],
      ['?dateTo=2027-01-01T00:00:00', [`dateTo must be ${date}`]],
      ['?activeOn=2027-1-1', [`activeOn must be ${date}`]],
      ['?activeOn=', [`activeOn must be ${date}`]],
      [`?dateTo=${'2'.repeat(50)}`, [`dateTo must be ${date}`]],
      [
        '?dateFrom=x&status=y&page=1',
        [
          'page must be omitted',
          'status must be one of active, finished, approved, deleted',
          `dateFrom must be ${date}`,
        ],
      ],
    ]
    for (const [query, message] of refused)
      test(query.slice(0, 60), async () => {
        assertRefused(await alpha.call('GET', `/cashbacks/for-bank${query}`), 400, message)
        const head = await alpha.call('HEAD', `/cashbacks/for-bank${query}`)
        assert.equal(head.status, 400)
      })

    test('too many SKUs, and text that is none', async () => {
      const skus = Array.from({ length: 101 }, (_, index) => `sku=${index}`).join('&')
      assertRefused(await alpha.call('GET', `/cashbacks/for-bank?${skus}`), 400, ['sku must be a list of at most 100'])
      for (const query of ['?name=%FF', '?name=a%00b', '?sku=%ED%A0%80'])
        assertRefused(await alpha.call('GET', `/cashbacks/for-bank${query}`), 400)
    })
  })

  test('401 without a token, 403 for a VIEWER and for a merchant, before faults of form', async () => {
    const viewer = await openCampaignBank(platform, 'alpha', 'VIEWER')
    for (const path of ['/cashbacks/for-bank', '/cashbacks/for-bank?page=1']) {
      assertRefused(await platform.call('GET', path), 401)
      for (const caller of [viewer, grocer]) assertRefused(await caller.call('GET', path), 403)
    }
  })

  test('a bank without campaigns gets an empty array', async () => {
    assert.deepEqual(await listOf(await openCampaignBank(platform, 'gamma')), [])
  })
})
