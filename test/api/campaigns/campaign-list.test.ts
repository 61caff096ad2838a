/** GET /cashbacks/for-merchant. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createMerchantLists } from '../../../src/campaigns/for-merchant/list.ts'
import { campaignStatuses } from '../../../src/campaigns/lifecycle/transitions.ts'
import { openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertMerchantsOnly,
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

const directory = `${campaignDirectory}  - { code: empty, name: Порожній }\n`

let platform: TestPlatform
let partners: Partners
let grocer: Partner
let voltshop: Partner
before(async () => {
  platform = await startPlatform({}, { directory })
  partners = await openPartners(platform)
  grocer = partners.grocer
  voltshop = await openMerchant(platform, 'voltshop')
})
after(() => platform.close())

const path = '/cashbacks/for-merchant'
const list = async (query = '', partner: Partner = grocer): Promise<Answer> => {
  const answer = await partner.call('GET', path + query)
  assert.equal(answer.status, 200, answer.text)
  return answer
}
const names = async (query = '', partner: Partner = grocer): Promise<string[]> =>
  (await list(query, partner)).body.data.map((campaign: any) => campaign.name)
const pagination = async (query = '', partner: Partner = grocer) => (await list(query, partner)).body.pagination
const sql = (text: string, values: unknown[]) => platform.platform.database.execute(text, values)

describe('200', () => {
  test('exactly the documented fields', async () => {
    const id = await createCampaign(
      platform,
      { participantsIds: [ids.alpha, ids.gamma], description: 'd', percentage: 12.5, name: 'fields' },
      voltshop,
    )
    await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
    const details = (await voltshop.call('GET', `${path}/${id}`)).body
    const { data, pagination, ...rest } = (await list('', voltshop)).body
    assert.deepEqual(rest, {})
    assert.deepEqual(data, [
      {
        cashbackId: id,
        retailerId: ids.voltshop,
        banks: [
          { id: ids.alpha, status: 'approved', settlementConfirmed: false },
          { id: ids.gamma, status: 'pending', settlementConfirmed: false },
        ],
        name: 'fields',
        description: 'd',
        status: 'awaitingBankApproval',
        dateFrom: details.dateFrom,
        dateTo: details.dateTo,
        percentage: 12.5,
        createdAt: details.createdAt,
        updatedAt: details.updatedAt,
      },
    ])
    assert.deepEqual(pagination, {
      page: 1,
      pageSize: 20,
      totalPages: 1,
      totalItems: 1,
      hasNextPage: false,
      hasPrevPage: false,
    })
  })

  test('settlement with a bank', async () => {
    const id = await createCampaign(platform, { name: 'settled' }, voltshop)
    await sql(`update campaign_banks set status = 'approved', reporting_stage = 'settled' where cashback_id = $1`, [id])
    const [item] = (await list('?name=settled', voltshop)).body.data
    assert.deepEqual(item.banks, [{ id: ids.alpha, status: 'approved', settlementConfirmed: true }])
  })

  test('nothing but the merchant’s own, and what banks created for it', async () => {
    const id = await createBankCampaign(platform, partners.alpha, { retailerId: ids.voltshop, name: 'from a bank' })
    const { data } = (await list('?name=from%20a%20bank', voltshop)).body
    assert.deepEqual(
      data.map((one: any) => one.cashbackId),
      [id],
    )
    assert.deepEqual(await names('?name=from%20a%20bank'), [])
  })

  test('without campaigns', async () => {
    const empty = await openMerchant(platform, 'empty')
    const none = { totalPages: 0, totalItems: 0, hasNextPage: false, hasPrevPage: false }
    assert.deepEqual((await list('', empty)).body, { data: [], pagination: { page: 1, pageSize: 20, ...none } })
    assert.deepEqual((await list('?page=3&pageSize=7', empty)).body, {
      data: [],
      pagination: { page: 3, pageSize: 7, ...none },
    })
  })
})

describe('pages', () => {
  const total = 45
  before(async () => {
    for (let index = 0; index < total; index++) await createCampaign(platform, { name: `page ${index}` })
  })

  test('20 by default, newest first', async () => {
    const first = (await list('?name=page')).body
    assert.deepEqual(
      first.data.map((one: any) => one.name),
      Array.from({ length: 20 }, (_, index) => `page ${44 - index}`),
    )
    assert.deepEqual(first.pagination, {
      page: 1,
      pageSize: 20,
      totalPages: 3,
      totalItems: 45,
      hasNextPage: true,
      hasPrevPage: false,
    })
    assert.deepEqual((await list('?name=page&page=1&pageSize=20')).body, first)
  })

  test('every campaign is on exactly one page', async () => {
    for (const pageSize of [1, 7, 9, 44, 45, 46, 100]) {
      const seen: string[] = []
      const pages = Math.ceil(total / pageSize)
      for (let page = 1; page <= pages; page++) {
        const { data, pagination } = (await list(`?name=page&page=${page}&pageSize=${pageSize}`)).body
        assert.deepEqual(pagination, {
          page,
          pageSize,
          totalPages: pages,
          totalItems: total,
          hasNextPage: page < pages,
          hasPrevPage: page > 1,
        })
        seen.push(...data.map((one: any) => one.cashbackId))
      }
      assert.equal(new Set(seen).size, total)
      assert.equal(seen.length, total)
    }
  })

  test('past the end there is nothing but the way back', async () => {
    for (const page of [4, 10_000_000_000, 999_999_999_999_999])
      assert.deepEqual((await list(`?name=page&page=${page}`)).body, {
        data: [],
        pagination: { page, pageSize: 20, totalPages: 3, totalItems: 45, hasNextPage: false, hasPrevPage: true },
      })
  })

  const wrong = ['0', '-1', '1.5', '1e1', '0x1', '+1', ' 1', '', 'x', '1000000000000000', '%D9%A1']
  for (const page of wrong)
    test(`400: page=${page}`, async () =>
      assertRefused(await grocer.call('GET', `${path}?page=${page}`), 400, [
        'page must be a whole number from 1 to 999999999999999',
      ]))
  test('400: page=1&page=2', async () =>
    assertRefused(await grocer.call('GET', `${path}?page=1&page=2`), 400, ['page must be given once only']))
  for (const pageSize of ['0', '101', '-1', '1e2', '20.0', ''])
    test(`400: pageSize=${pageSize}`, async () =>
      assertRefused(await grocer.call('GET', `${path}?pageSize=${pageSize}`), 400, [
        'pageSize must be a whole number from 1 to 100',
      ]))
})

describe('filters', () => {
  test('name: a part of it, in any case and alphabet, every character as it is', async () => {
    const given = [
      'Ёлка ЇЖАК',
      'ёлка їжак 100%',
      'snake_case',
      'snakeXcase',
      'a.b*c',
      'straße',
      'STRAẞE',
      'ΣΆΜΟΣ',
      'σάμος',
      '\u{1f680} Rocket',
      'back\\slash',
    ]
    for (const name of given) await createCampaign(platform, { name: `n: ${name}` })
    const found = async (part: string) =>
      (await names(`?pageSize=100&name=${encodeURIComponent(part)}`)).map(name => name.slice(3)).sort()
    assert.deepEqual(await found('їЖа'), ['Ёлка ЇЖАК', 'ёлка їжак 100%'])
    assert.deepEqual(await found('ёлка'), ['Ёлка ЇЖАК', 'ёлка їжак 100%'])
    assert.deepEqual(await found('%'), ['ёлка їжак 100%'])
    assert.deepEqual(await found('E_C'), ['snake_case'])
    assert.deepEqual(await found('A.B*'), ['a.b*c'])
    assert.deepEqual(await found('\\'), ['back\\slash'])
    assert.deepEqual(await found('\u{1f680} rOCK'), ['\u{1f680} Rocket'])
    for (const street of ['strasse', 'STRASSE']) assert.deepEqual(await found(street), [])
    for (const street of ['Straße', 'straẞe']) assert.deepEqual(await found(street), ['STRAẞE', 'straße'])
    for (const island of ['Σάμος', 'σΆμοΣ', 'ςάμοσ']) assert.deepEqual(await found(island), ['ΣΆΜΟΣ', 'σάμος'])
    assert.deepEqual(await found('no such'), [])
    assert.deepEqual(await found('n: '), given.toSorted())
    assert.equal((await pagination('?name=')).totalItems, (await pagination()).totalItems)
    assertRefused(await grocer.call('GET', `${path}?name=${'x'.repeat(101)}`), 400, /^name must be shorter/)
  })

  test('sku: any of those given, repeated or in brackets', async () => {
    await createCampaign(platform, { name: 'sku ab', sku: ['sku-a', 'sku-b'] })
    await createCampaign(platform, { name: 'sku b', sku: ['sku-b'] })
    await createCampaign(platform, { name: 'sku c', sku: ['sku,c'] })
    const found = async (query: string) => (await names(`?${query}`)).sort()
    assert.deepEqual(await found('sku=sku-a'), ['sku ab'])
    assert.deepEqual(await found('sku=sku-b'), ['sku ab', 'sku b'])
    assert.deepEqual(await found('sku=sku-a&sku=sku,c'), ['sku ab', 'sku c'])
    assert.deepEqual(await found('sku[]=sku-a&sku[]=sku%2Cc'), ['sku ab', 'sku c'])
    assert.deepEqual(await found('sku%5B%5D=sku-b&sku=none'), ['sku ab', 'sku b'])
    assert.deepEqual(await found('sku=SKU-A'), [])
    assert.deepEqual(await found('sku=sku-b&name=AB'), ['sku ab'])
    assertRefused(await grocer.call('GET', `${path}?sku=`), 400, /^sku\.0 must be/)
  })

  test('dateFrom: those that start then or later; dateTo: those that end then or earlier; a date alone means the day', async () => {
    await createCampaign(platform, { name: 'd1', dateFrom: '2051-03-01', dateTo: '2051-04-01' })
    await createCampaign(platform, { name: 'd2', dateFrom: '2051-03-02T10:00:00Z', dateTo: '2051-04-02T10:00:00Z' })
    await createCampaign(platform, { name: 'd3', dateFrom: '2051-03-03', dateTo: '2051-04-03T23:59:59.999Z' })
    const found = async (query: string) =>
      (await names(`?name=d&dateFrom=2051-01-01&${query}`.replace(/dateFrom=2051-01-01&(?=dateFrom)/, ''))).sort()
    assert.deepEqual(await found('dateFrom=2051-03-02T10:00:00Z'), ['d2', 'd3'])
    assert.deepEqual(await found('dateFrom=2051-03-02T10:00:00.001Z'), ['d3'])
    assert.deepEqual(await found('dateFrom=2051-03-02T12:00:00%2B02:00'), ['d2', 'd3'])
    assert.deepEqual(await found('dateFrom=2051-03-03'), ['d3'])
    assert.deepEqual(await found('dateTo=2051-04-02T10:00:00Z'), ['d1', 'd2'])
    assert.deepEqual(await found('dateTo=2051-04-02T09:59:59.999Z'), ['d1'])
    assert.deepEqual(await found('dateTo=2051-04-02'), ['d1', 'd2'])
    assert.deepEqual(await found('dateTo=2051-04-03'), ['d1', 'd2', 'd3'])
    assert.deepEqual(await found('dateFrom=2051-03-02&dateTo=2051-04-02'), ['d2'])
    for (const field of ['dateFrom', 'dateTo'])
      for (const wrong of ['2051-02-30', '2051-03-01T00:00:00', 'today', ''])
        assertRefused(await grocer.call('GET', `${path}?${field}=${wrong}`), 400, [
          `${field} must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999`,
        ])
  })

  describe('status and generalStatus', () => {
    before(async () => {
      for (const [index, status] of campaignStatuses.entries()) {
        const id = await createCampaign(platform, { name: `s: ${index}` })
        await sql(`update campaigns set status = $2, compensation_received_at = now() where cashback_id = $1`, [
          id,
          status,
        ])
      }
      // The cached list does not notice changes that are made in the database directly, so this raises its version.
      await sql('update merchant_lists set arranged = arranged + 1, touched = touched + 1', [])
    })
    const found = async (query: string): Promise<string[]> =>
      (await names(`?name=s:%20&${query}&sortBy=status&sortOrder=asc`)).map(
        name => campaignStatuses[Number(name.slice(3))] ?? '',
      )

    test('deleted ones only when they are asked for', async () => {
      assert.deepEqual(
        await found(''),
        campaignStatuses.filter(status => status !== 'deleted'),
      )
    })
    for (const status of campaignStatuses)
      test(`status=${status}`, async () => assert.deepEqual(await found(`status=${status}`), [status]))

    const groups = {
      awaitingApproval: ['awaitingBankApproval', 'awaitingMerchantApproval'],
      approved: ['approved'],
      active: ['active'],
      finished: [
        'awaitingCompensationConfirmation',
        'awaitingCompensationPayment',
        'paymentConfirmed',
        'compensationReceived',
        'completed',
      ],
      closed: ['declined', 'expired', 'deleted'],
    }
    for (const [group, statuses] of Object.entries(groups))
      test(`generalStatus=${group}`, async () => assert.deepEqual(await found(`generalStatus=${group}`), statuses))

    test('both narrow the list', async () => {
      assert.deepEqual(await found('generalStatus=closed&status=deleted'), ['deleted'])
      assert.deepEqual(await found('generalStatus=approved&status=deleted'), [])
    })

    test('400: other values', async () => {
      for (const status of ['pending', 'Active', '', 'finished'])
        assertRefused(
          await grocer.call('GET', `${path}?status=${status}`),
          400,
          /^status must be one of awaitingBankApproval, /,
        )
      for (const group of ['deleted', 'FINISHED', ''])
        assertRefused(await grocer.call('GET', `${path}?generalStatus=${group}`), 400, [
          'generalStatus must be one of awaitingApproval, approved, active, finished, closed',
        ])
    })
  })
})

describe('sorting', () => {
  const made: string[] = []
  before(async () => {
    const rows = [
      ['o: b', '2061-01-03', '2062-01-01', 5],
      ['o: a', '2061-01-01', '2062-01-03', 5],
      ['o: c', '2061-01-02', '2062-01-02', 70.5],
      ['o: a', '2061-01-01', '2062-01-03', 6],
    ] as const
    for (const [name, dateFrom, dateTo, percentage] of rows)
      made.push(await createCampaign(platform, { name, dateFrom, dateTo, percentage }))
    await grocer.call('PATCH', `${path}/${made[1]}`, { body: { description: 'touched' } })
    await partners.alpha.call('POST', `/cashbacks/${made[2]}/confirm`)
  })
  const order = async (query: string): Promise<number[]> =>
    (await list(`?name=o:&${query}`)).body.data.map((one: any) => made.indexOf(one.cashbackId))
  /** Among equal values the smaller id comes first, in both directions. */
  const byId = (...indexes: number[]) => indexes.toSorted((a, b) => ((made[a] ?? '') < (made[b] ?? '') ? -1 : 1))

  const ascending: Record<string, () => number[]> = {
    createdAt: () => [0, 1, 2, 3],
    updatedAt: () => [0, 3, 1, 2],
    name: () => [...byId(1, 3), 0, 2],
    status: () => [...byId(0, 1, 3), 2],
    dateFrom: () => [...byId(1, 3), 2, 0],
    dateTo: () => [0, 2, ...byId(1, 3)],
    percentage: () => [...byId(0, 1), 3, 2],
  }
  const descending: Record<string, () => number[]> = {
    createdAt: () => [3, 2, 1, 0],
    updatedAt: () => [2, 1, 3, 0],
    name: () => [2, 0, ...byId(1, 3)],
    status: () => [2, ...byId(0, 1, 3)],
    dateFrom: () => [0, 2, ...byId(1, 3)],
    dateTo: () => [...byId(1, 3), 2, 0],
    percentage: () => [2, 3, ...byId(0, 1)],
  }
  for (const sortBy of Object.keys(ascending))
    test(`by ${sortBy}, both ways, ties by id`, async () => {
      assert.deepEqual(await order(`sortBy=${sortBy}&sortOrder=ASC`), ascending[sortBy]?.())
      assert.deepEqual(await order(`sortBy=${sortBy}&sortOrder=asc`), ascending[sortBy]?.())
      for (const down of ['', '&sortOrder=DESC', '&sortOrder=dEsC'])
        assert.deepEqual(await order(`sortBy=${sortBy}${down}`), descending[sortBy]?.())
    })

  test('newest first by default', async () => assert.deepEqual(await order(''), [3, 2, 1, 0]))

  test('400: other values', async () => {
    for (const sortBy of ['id', 'created_at', 'CreatedAt', ''])
      assertRefused(await grocer.call('GET', `${path}?sortBy=${sortBy}`), 400, [
        'sortBy must be one of createdAt, updatedAt, name, status, dateFrom, dateTo, percentage',
      ])
    for (const sortOrder of ['up', '', '1', 'ascending'])
      assertRefused(await grocer.call('GET', `${path}?sortOrder=${sortOrder}`), 400, ['sortOrder must be ASC or DESC'])
  })
})

describe('a cached list never makes an answer outdated', () => {
  test('every change is in the next answer, of every process', async () => {
    const sibling = await platform.sibling()
    try {
      const elsewhere = { call: sibling.call, token: grocer.token }
      const both = async (query: string) => {
        const here = (await list(query)).body
        const there = await sibling.call('GET', path + query, { token: elsewhere.token })
        assert.deepEqual(there.body, here)
        return here.data
      }
      const query = '?name=remembered&sortBy=name&sortOrder=asc'
      const touched = '?name=remembered&sortBy=updatedAt'
      const look = async () => [(await both(query)).length, (await both(touched)).length]
      assert.deepEqual(await look(), [0, 0])
      const first = await createCampaign(platform, { name: 'remembered 2' })
      assert.deepEqual(await look(), [1, 1])
      const second = await createCampaign(platform, { name: 'remembered 1', participantsIds: [ids.alpha, ids.beta] })
      assert.deepEqual(
        (await both(query)).map((one: any) => one.cashbackId),
        [second, first],
      )
      await partners.alpha.call('POST', `/cashbacks/${second}/confirm`)
      assert.equal((await both(query))[0].banks[0].status, 'approved')
      assert.equal((await both(touched))[0].cashbackId, second)
      await grocer.call('PATCH', `${path}/${first}`, { body: { name: 'remembered 0', description: 'new' } })
      const renamed = await both(query)
      assert.deepEqual([renamed[0].name, renamed[0].description], ['remembered 0', 'new'])
      assert.equal((await both(touched))[0].cashbackId, first)
      await grocer.call('PATCH', `${path}/${first}`, { body: { participantsIds: [ids.gamma] } })
      assert.equal((await both(query))[0].banks[0].id, ids.gamma)
      await grocer.call('POST', `${path}/${second}/confirm`)
      assert.equal((await both(query))[1].status, 'approved')
      await grocer.call('DELETE', `${path}/${second}`)
      assert.deepEqual(
        (await both(query)).map((one: any) => one.cashbackId),
        [first],
      )
    } finally {
      await sibling.close()
    }
  })

  test('an answer in the midst of changes is one of some moment, and the last change is in the last answer', async () => {
    let done = false
    const writing = (async () => {
      for (let index = 0; index < 30; index++) await createCampaign(platform, { name: `midst ${index}` })
      done = true
    })()
    let seen = 0
    while (!done) {
      const { data, pagination } = (await list('?name=midst&pageSize=100')).body
      assert.equal(data.length, pagination.totalItems)
      assert.ok(data.length >= seen, 'nothing that was seen is gone')
      seen = data.length
    }
    await writing
    assert.equal((await pagination('?name=midst')).totalItems, 30)
  })

  test('more lists than are remembered: each is still right', async () => {
    const lists = createMerchantLists(
      platform.platform.database,
      ({ items, totalItems }) => `${items.length} of ${totalItems}`,
      {
        orders: 3_000,
        pages: 3_000,
        beginning: 1_000,
      },
    )
    const filter = { statuses: [...campaignStatuses], namePattern: null, sku: null, startsFrom: null, endsBy: null }
    const sort = { by: 'createdAt', ascending: true } as const
    const expected = (await pagination('?pageSize=1')).totalItems
    for (let round = 0; round < 2; round++)
      for (let pageSize = 1; pageSize < 20; pageSize++) {
        const text = (await lists.page(ids.grocer, { page: 1, pageSize, filter, sort })).toString()
        assert.match(text, new RegExp(`^${pageSize} of \\d+$`))
        assert.ok(Number(text.split(' ').at(-1)) >= expected)
      }
  })

  test('a cached beginning of a list gives the same pages as the whole list, also after changes', async () => {
    const made = (beginning: number) =>
      createMerchantLists(
        platform.platform.database,
        page => JSON.stringify([page.items.map(({ cashbackId }) => cashbackId), page.totalItems]),
        { orders: 1_000_000, pages: 0, beginning },
      )
    const [whole, begun] = [made(0), made(5)]
    const statuses = campaignStatuses.filter(status => status !== 'deleted')
    const filter = { statuses, namePattern: null, sku: null, startsFrom: null, endsBy: null }
    for (let change = 0; change < 3; change++) {
      const added = await createCampaign(platform, { name: `beginning ${change}` })
      // Reads pages inside the cached beginning of the list, then pages beyond it, then inside it again.
      for (const page of [1, 2, 3, 4, 2, 1])
        for (const by of ['createdAt', 'updatedAt', 'name'] as const)
          for (const ascending of [true, false]) {
            const request = { page, pageSize: 2, filter, sort: { by, ascending } }
            const [expected, got] = [await whole.page(ids.grocer, request), await begun.page(ids.grocer, request)]
            assert.equal(got.toString(), expected.toString(), JSON.stringify(request))
            if (page === 1 && by === 'createdAt' && !ascending) assert.equal(JSON.parse(got.toString())[0][0], added)
          }
    }
  })
})

describe('refused', () => {
  test('400: what the server sets, and what there is not, all at once with other faults', async () => {
    const query = '?retailerId=x&bankId=x&createdByType=bank&foo=1&page=0&sortOrder=up&dateTo=x&status=x'
    const answer = await grocer.call('GET', path + query)
    assertRefused(answer, 400)
    assert.deepEqual(
      answer.body.message.map((text: string) => text.split(' ')[0]).sort(),
      ['retailerId', 'bankId', 'createdByType', 'foo', 'page', 'sortOrder', 'dateTo', 'status'].sort(),
    )
    for (const field of ['retailerId', 'bankId', 'createdByType', 'foo'])
      assert.ok(answer.body.message.includes(`${field} must be omitted`))
  })

  test('401 and 403: merchants of every role', async () => {
    await assertMerchantsOnly(platform, {
      isChange: false,
      statusFor: 200,
      call: partner => platform.call('GET', path, { token: partner?.token ?? null }),
    })
  })
})
