/**
 * What people read about campaigns. Banks see their list and the details. Both sides see the terminals, later added
 * terminals, and the segment, also as files.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import {
  assertRefused,
  campaignDirectory,
  campaignForm,
  createBankCampaign,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openBrowser } from '../support/portal.ts'
import { endedCampaign, line, reportOf, uploadBank } from '../support/reconciliation.ts'
import { addCustomers, fileOf, putSegment } from '../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
})
after(() => platform.close())

const advance = (duration: string) => platform.call('POST', '/sandbox/clock', { body: { advance: duration } })
const nobody = '00000000-0000-4000-8000-000000000000'

suite('GET /portal/cashbacks', () => {
  const list = (query = '', bank = beta) => bank.call('GET', `/portal/cashbacks${query}`)
  const names = async (query: string): Promise<string[]> => {
    const { status, text, body } = await list(query)
    assert.equal(status, 200, text)
    return body.data.map(({ name }: { name: string }) => name)
  }
  let first: string
  before(async () => {
    const both = { participantsIds: [ids.alpha, ids.beta] }
    first = await createCampaign(platform, { ...both, name: 'Осінь', percentage: 7, maxBudget: 1000.5 }, grocer)
    await createCampaign(platform, { ...both, name: 'зима', percentage: 5 }, grocer)
    await createBankCampaign(platform, beta, { name: 'Own' })
    const gone = await createCampaign(platform, { ...both, name: 'Gone' }, grocer)
    await grocer.call('DELETE', `/cashbacks/for-merchant/${gone}`)
    await beta.call('POST', `/cashbacks/${first}/confirm`)
    await createCampaign(platform, { name: 'Alpha alone' }, grocer)
  })

  test('the campaigns in which the bank takes part, newest first, without deleted ones', async () => {
    assert.deepEqual(await names(''), ['Own', 'зима', 'Осінь'])
  })

  test('a light record', async () => {
    const { body } = await list('?name=осінь')
    const [{ dateFrom, dateTo, createdAt, updatedAt, ...rest }] = body.data
    assert.ok(dateFrom < dateTo && createdAt <= updatedAt)
    assert.deepEqual(rest, {
      cashbackId: first,
      retailer: { retailerId: ids.grocer, name: 'Гросер', nameEn: 'Grocer' },
      createdByType: 'retailer',
      name: 'Осінь',
      status: 'awaitingBankApproval',
      bankStatus: 'approved',
      settlementConfirmed: false,
      compensationAcknowledged: false,
      bankReportingStatus: null,
      hasBankReport: false,
      hasSecondBankReport: false,
      merchantReportUploadsCount: 0,
      expectedCompensation: null,
      percentage: 7,
      merchantCompensationPercentage: 60,
      maxBudget: 1000.5,
      currency: 'UAH',
      terminalsCount: 2,
    })
  })

  test('filters, each of which narrows the list', async () => {
    assert.deepEqual(await names('?name=ЗИ'), ['зима'])
    assert.deepEqual(await names('?name=.'), [])
    assert.deepEqual(await names('?status=deleted'), ['Gone'])
    assert.deepEqual(await names('?status=deleted&status=awaitingBankApproval'), ['Gone', 'Own', 'зима', 'Осінь'])
    assert.deepEqual(await names('?bankStatus=approved'), ['Осінь'])
    assert.deepEqual(await names('?bankStatus=pending&createdByType=retailer'), ['зима'])
    assert.deepEqual(await names('?createdByType=bank'), ['Own'])
    assert.deepEqual(await names('?dateFrom=2999-01-01'), [])
  })

  test('sorting and pages', async () => {
    assert.deepEqual(await names('?sortBy=name&sortOrder=ASC'), ['Own', 'Осінь', 'зима'])
    assert.deepEqual((await names('?sortBy=percentage&sortOrder=DESC'))[0], 'Осінь')
    const { body } = await list('?pageSize=2&page=2')
    assert.deepEqual(
      body.data.map(({ name }: { name: string }) => name),
      ['Осінь'],
    )
    const pagination = { page: 2, pageSize: 2, totalPages: 2, totalItems: 3, hasNextPage: false, hasPrevPage: true }
    assert.deepEqual(body.pagination, { ...pagination, isComplete: true, next: null })
    const past = (await list('?page=9')).body
    assert.deepEqual([past.data, past.pagination.hasPrevPage, past.pagination.totalItems], [[], true, 3])
  })

  test('400 names the faulty parameter', async () => {
    for (const [query, message] of [
      ['status=running', /^status\.0 must be one of /],
      ['bankStatus=pending,approved', /^bankStatus\.0 must be one of /],
      ['page=0', /^page must be at least 1/],
      ['pageSize=101', /^pageSize must be at most 100/],
      ['sortBy=price', /^sortBy must be one of /],
      ['retailerId=1', /^retailerId must be omitted/],
      ['dateTo=soon', /^dateTo must be an ISO 8601 date/],
    ] as const)
      assertRefused(await list(`?${query}`), 400, message)
  })

  test('403 for a merchant, a bank’s VIEWER and the platform’s staff; 401 without a token', async () => {
    assertRefused(await list('', grocer), 403)
    assertRefused(await platform.call('GET', '/portal/cashbacks'), 401)
    for (const [owner, role] of [
      [{ bank: 'beta' }, 'VIEWER'],
      ['platform', 'admin'],
    ] as const) {
      const browser = await openBrowser(platform, owner, role)
      assertRefused(await browser.call('GET', '/portal/cashbacks'), 403)
    }
  })
})

suite('GET /portal/cashbacks/:cashbackId', () => {
  const read = (id: string, bank = alpha) => bank.call('GET', `/portal/cashbacks/${id}`)

  test('everything but the long lists, and what the bank may do now', async () => {
    const id = await createCampaign(platform, { sku: ['4820000000017'] }, grocer)
    const { status, body } = await read(id)
    assert.equal(status, 200)
    for (const [field, value] of Object.entries({
      cashbackId: id,
      name: 'Осінь',
      sku: ['4820000000017'],
      minAmount: 100,
      bankStatus: 'pending',
      terminalsCount: 2,
      segment: null,
      permissions: { confirmAbility: true, rejectAbility: true, uploadReportAbility: false, acknowledgeAbility: false },
    }))
      assert.deepEqual(body[field], value, field)
    assert.deepEqual([body.country.code, body.retailer.name], ['UA', 'Гросер'])
    for (const field of ['terminals', 'banks']) assert.ok(!(field in body), field)
    await alpha.call('POST', `/cashbacks/${id}/reject`)
    const rejected = (await read(id)).body
    assert.deepEqual(
      [rejected.bankStatus, Object.values(rejected.permissions)],
      ['declined', [false, false, false, false]],
    )
  })

  test('the stage of reconciliation, and what the merchant will pay', async () => {
    const campaign = await endedCampaign({ platform, grocer, alpha, beta }, [alpha])
    const before = (await read(campaign.id)).body
    assert.deepEqual(
      [before.bankReportingStatus, before.permissions.uploadReportAbility],
      ['awaitingBankReconciliation', true],
    )
    assert.equal((await uploadBank(alpha, campaign.id, reportOf(line(campaign, 'x-1')))).status, 201)
    const { body } = await read(campaign.id)
    assert.deepEqual(
      [body.bankReportingStatus, body.hasBankReport, body.expectedCompensation, body.permissions.uploadReportAbility],
      ['awaitingMerchantReconciliationConfirmation', true, 6, false],
    )
  })

  test('404 for a bank that is not invited and for what is not there, 400 for no UUID, 403 for a merchant', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await read(id, beta), 404, 'The campaign was not found')
    assertRefused(await read(nobody), 404, 'The campaign was not found')
    assertRefused(await read('7'), 400, ['cashbackId must be a UUID'])
    assertRefused(await read(id, grocer), 403)
  })
})

suite('GET /portal/cashbacks/:cashbackId/terminals', () => {
  const terminal = (id: string, name: string | null = null) => ({ terminal_id: id, terminal_name: name })
  const find = (id: string, query = '', partner = alpha) =>
    partner.call('GET', `/portal/cashbacks/${id}/terminals${query}`)
  const idsIn = async (id: string, query = ''): Promise<string[]> => {
    const { status, text, body } = await find(id, query)
    assert.equal(status, 200, text)
    return body.data.map((one: { terminal_id: string }) => one.terminal_id)
  }

  test('the campaign’s own, in their order, with what an edit has added since', async () => {
    const terminals = [terminal('B-2', 'Київ, "Центр"'), terminal('A-1')]
    const id = await createCampaign(platform, { terminalsPlatform: false, terminals }, grocer)
    const { body } = await find(id)
    const [{ addedAt, ...listed }] = body.data
    assert.deepEqual(listed, {
      terminal_id: 'B-2',
      terminal_name: 'Київ, "Центр"',
      terminal_location: null,
      merchant_id: null,
      merchant_name: null,
    })
    assert.deepEqual(await idsIn(id), ['B-2', 'A-1'])
    await advance('PT1H')
    const edited = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, {
      body: { terminals: [...terminals, terminal('C-3'), terminal('D-4')] },
    })
    assert.equal(edited.status, 200, edited.text)
    const later = new Date(Date.parse(addedAt) + 60_000).toISOString()
    assert.deepEqual(await idsIn(id, `?since=${later}`), ['C-3', 'D-4'])
    assert.deepEqual(await idsIn(id, `?since=${addedAt}`), ['B-2', 'A-1', 'C-3', 'D-4'])
    await advance('PT1H')
    await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { terminals: [terminal('A-1')] } })
    await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, {
      body: { terminals: [terminal('A-1'), terminal('C-3')] },
    })
    const evenLater = new Date(Date.parse(later) + 5_400_000).toISOString()
    assert.deepEqual(await idsIn(id, `?since=${evenLater}`), ['C-3'], 'taken out and put in again is added anew')
  })

  test('the platform’s, as they are now, with what an apply has added since', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assert.deepEqual(await idsIn(id), ['T-0001', 'T-0002'])
    await advance('PT1H')
    const before = platform.platform.deps.campaigns.clock.now().toISOString()
    await platform.applyDirectory(
      campaignDirectory.replace('- { terminalId: T-0002', '- { terminalId: T-0000 }\n      - { terminalId: T-0002'),
    )
    assert.deepEqual(await idsIn(id), ['T-0000', 'T-0001', 'T-0002'])
    assert.deepEqual(await idsIn(id, `?since=${before}`), ['T-0000'])
  })

  test('search in identifiers, names and locations, in any case, without wildcards; pages', async () => {
    const terminals = Array.from({ length: 45 }, (_, index) =>
      terminal(`P-${index}`, index === 7 ? 'Ґанок 100%' : null),
    )
    const id = await createCampaign(platform, { terminalsPlatform: false, terminals }, grocer)
    assert.deepEqual(await idsIn(id, `?search=${encodeURIComponent('ґАНОК')}`), ['P-7'])
    assert.deepEqual(await idsIn(id, '?search=p-44'), ['P-44'])
    assert.deepEqual(await idsIn(id, '?search=P.7'), [])
    const { body } = await find(id, '?pageSize=20&page=3')
    assert.deepEqual([body.data.length, body.pagination.totalItems, body.pagination.totalPages], [5, 45, 3])
    const past = (await find(id, '?page=7')).body
    assert.deepEqual([past.data, past.pagination.totalItems], [[], 45])
  })

  test('the campaign’s own list at once, for a copy of the campaign', async () => {
    const own = (id: string, partner = alpha) => partner.call('GET', `/portal/cashbacks/${id}/own-terminals`)
    const nothing = { terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null }
    const id = await createCampaign(
      platform,
      { terminalsPlatform: false, terminals: [terminal('B-2'), terminal('A-1', '=1')] },
      grocer,
    )
    assert.deepEqual((await own(id)).body, {
      terminals: [
        { ...nothing, terminal_id: 'B-2' },
        { ...nothing, terminal_id: 'A-1', terminal_name: '=1' },
      ],
    })
    const ofDirectory = await createCampaign(platform, {}, grocer)
    assert.deepEqual((await own(ofDirectory, grocer)).body, { terminals: [] })
    assertRefused(await own(id, beta), 404)
  })

  test('for its merchant and invited banks alone', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assert.equal((await find(id, '', grocer)).status, 200)
    assertRefused(await find(id, '', beta), 404, 'The campaign was not found')
    assertRefused(await find(id, '', await openMerchant(platform, 'voltshop')), 403)
    assertRefused(await find(nobody), 404)
    assertRefused(await find(id, '?since=yesterday'), 400, /^since must be an ISO 8601 date/)
    assertRefused(await platform.call('GET', `/portal/cashbacks/${id}/terminals`), 401)
  })
})

suite('GET /portal/cashbacks/:cashbackId/segment', () => {
  const read = (id: string, partner: Partner) => partner.call('GET', `/portal/cashbacks/${id}/segment`)

  test('each bank’s part, and none yet', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
    const none = { customersCount: 0, formedAt: null, sourceFileName: null }
    assert.deepEqual((await read(id, grocer)).body, {
      ...none,
      banks: [
        { id: ids.alpha, name: 'Alpha Bank', ...none },
        { id: ids.beta, name: 'Бета Банк', ...none },
      ],
    })
    await platform.platform.database.execute(
      `insert into campaign_segments select $1, bank_id, gen_random_uuid(), case when bank_id = $2 then 33 else 0 end, '[]',
         '2026-11-22T10:00:00Z', 'loyal.csv' from campaign_banks where cashback_id = $1`,
      [id, ids.alpha],
    )
    const formed = { formedAt: '2026-11-22T10:00:00.000Z', sourceFileName: 'loyal.csv' }
    assert.deepEqual((await read(id, grocer)).body, {
      customersCount: 30,
      ...formed,
      banks: [
        { id: ids.alpha, name: 'Alpha Bank', customersCount: 30, ...formed },
        { id: ids.beta, name: 'Бета Банк', customersCount: 0, ...formed },
      ],
    })
    assert.deepEqual((await read(id, beta)).body.banks, [
      { id: ids.beta, name: 'Бета Банк', customersCount: 0, ...formed },
    ])
    const { body } = await alpha.call('GET', `/portal/cashbacks/${id}`)
    assert.deepEqual(body.segment, { customersCount: 33, ...formed })
  })

  test('for its merchant and invited banks alone', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await read(id, beta), 404)
    assertRefused(await read(id, await openMerchant(platform, 'voltshop')), 403)
    const viewer = await openBrowser(platform, { merchant: 'grocer' }, 'viewer')
    assert.equal((await viewer.call('GET', `/portal/cashbacks/${id}/segment`)).status, 200)
  })
})

suite('CSV files of a campaign', () => {
  const download = (id: string, name: string, partner: Partner) =>
    partner.call('GET', `/portal/cashbacks/${id}/${name}`)
  const rowsOf = (text: string): string[][] => {
    assert.ok(text.startsWith('\ufeff"'), text.slice(0, 20))
    return parse(text, { bom: true })
  }

  test('all terminals that match, in their order, with formulas disarmed', async () => {
    const terminals = [
      { terminal_id: 'B-2', terminal_name: 'Київ, "Центр"' },
      { terminal_id: 'A-1', terminal_name: '=1+1', terminal_location: 'Lviv' },
      ...Array.from({ length: 5_100 }, (_, index) => ({ terminal_id: `M-${index}` })),
    ]
    const id = await createCampaign(platform, { terminalsPlatform: false, terminals }, grocer)
    const answer = await download(id, 'terminals.csv', alpha)
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="terminals-.*\.csv"/)
    const [header, first, second, ...others] = rowsOf(answer.text)
    assert.deepEqual(header, [
      'terminal_id',
      'terminal_name',
      'terminal_location',
      'merchant_id',
      'merchant_name',
      'addedAt',
    ])
    assert.deepEqual(first?.slice(0, 5), ['B-2', 'Київ, "Центр"', '', '', ''])
    assert.deepEqual(second?.slice(0, 3), ['A-1', "'=1+1", 'Lviv'])
    assert.equal(new Date(first?.[5] ?? '').toISOString(), first?.[5])
    assert.deepEqual(
      others.map(([terminalId]) => terminalId),
      terminals.slice(2).map(({ terminal_id }) => terminal_id),
    )
    assert.equal(rowsOf((await download(id, 'terminals.csv?search=lviv', alpha)).text).length, 2)
    assert.equal(rowsOf((await download(id, 'terminals.csv', grocer)).text).length, terminals.length + 1)
  })

  test('the terminals of the platform’s directory', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const listed = (await alpha.call('GET', `/portal/cashbacks/${id}/terminals`)).body.data
    const [, ...rows] = rowsOf((await download(id, 'terminals.csv', alpha)).text)
    assert.deepEqual(
      rows.map(([terminalId]) => terminalId),
      listed.map((one: { terminal_id: string }) => one.terminal_id),
    )
  })

  test('a bank’s own customers of the segment, and nobody else’s', async () => {
    const strange = ['say "hi"', 'back\\slash', '😀 Ї', '=cmd', '007']
    const many = Array.from({ length: 60_000 }, (_, index) => `customer-${index}`)
    const quoted = ['"say ""hi"""', ...strange.slice(1), ...many]
    await addCustomers(platform, 'alpha', quoted)
    await addCustomers(platform, 'beta', ['of-beta'])
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
    assertRefused(await download(id, 'segment.csv', alpha), 404, 'The campaign has no segment for this bank')
    assert.equal((await putSegment(grocer, id, fileOf([...quoted, 'of-beta']))).status, 200)
    const answer = await download(id, 'segment.csv', alpha)
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="segment-.*\.csv"/)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const shown = strange.map(customerId => (customerId === '=cmd' ? "'=cmd" : customerId))
    assert.deepEqual(rowsOf(answer.text).flat(), ['customerId', ...shown, ...many])
    assert.deepEqual(rowsOf((await download(id, 'segment.csv', beta)).text), [['customerId'], ['of-beta']])
  })

  test('for whom they are', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const volt = await openMerchant(platform, 'voltshop')
    assertRefused(await download(id, 'segment.csv', grocer), 403)
    assertRefused(await download(id, 'terminals.csv', volt), 403)
    for (const name of ['segment.csv', 'terminals.csv']) {
      assertRefused(await download(id, name, beta), 404, 'The campaign was not found')
      assertRefused(await download('xyz', name, alpha), 400)
      assertRefused(await platform.call('GET', `/portal/cashbacks/${id}/${name}`), 401)
    }
    assertRefused(await download(id, 'terminals.csv?since=yesterday', alpha), 400, /^since must be/)
    assertRefused(await download(id, 'segment.csv?x=1', alpha), 400)
  })
})

test('a form that is refused adds no terminals', async () => {
  const terminals = [{ terminal_id: 'X-1' }]
  const id = await createCampaign(platform, { terminalsPlatform: false, terminals }, grocer)
  const body = { ...campaignForm(platform), terminals: [...terminals, { terminal_id: 'X-2' }], percentage: 101 }
  assertRefused(await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body }), 400)
  const rows = await platform.platform.database.query(
    'select from campaign_terminal_additions where cashback_id = $1',
    [id],
  )
  assert.equal(rows.length, 0)
})
