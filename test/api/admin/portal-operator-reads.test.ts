/** The lists of the operator's staff: partners, stock, orders, campaigns and customers of everybody. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { profileLines } from '../../../samples/make-profiles.ts'
import { platformUserToken, readEntries } from '../../support/audit-log.ts'
import {
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { advance, type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { type Browser, openBrowser } from '../../support/portal.ts'

const directory = `${campaignDirectory}${testDirectory.slice(testDirectory.indexOf('esim:\n'))}`

let platform: TestPlatform
let staff: Browser
let viewer: Browser
let grocer: Partner
let alpha: Partner
let bank: Bank
before(async () => {
  platform = await startPlatform({}, { directory })
  staff = await openBrowser(platform, 'platform', 'admin')
  viewer = await openBrowser(platform, 'platform', 'viewer')
  grocer = await openMerchant(platform)
  alpha = await openCampaignBank(platform)
  bank = await openBank(platform, alpha.token)
  await platform.addStock('kyivstar', 'eu-10gb', 20)
})
after(() => platform.close())

const get = async (path: string) => {
  const answer = await viewer.call('GET', `/admin${path}`)
  assert.equal(answer.status, 200, `${path}: ${answer.text}`)
  return answer.body
}
const refused = async (path: string, status: number, message?: unknown) => {
  const { body, ...answer } = await viewer.call('GET', `/admin${path}`)
  assert.equal(answer.status, status, answer.text)
  if (message !== undefined) assert.deepEqual(body.message, message)
}

suite('GET /admin/partners', () => {
  test('every entry in the shape of the directory file: sent again, it changes nothing', async () => {
    const { banks, merchants, mobileOperators, ...others } = await get('/partners')
    const entries = (list: { entry: object }[]) => list.map(({ entry }) => entry)
    const directory = JSON.stringify({
      ...others,
      banks: entries(banks),
      merchants: entries(merchants.data),
      esim: { operators: mobileOperators },
    })
    const answer = await staff.call('POST', '/admin/directory', { body: { directory } })
    assert.equal(answer.status, 200, answer.text)
    // The 17 entries: 2 countries, 2 payment systems, 4 banks, 2 merchants, 2 operators, 5 tariffs.
    assert.deepEqual(answer.body, { created: 0, updated: 0, unchanged: 17, changes: [] })
  })

  test('one entry changed and sent alone', async () => {
    const { merchants } = await get('/partners?search=ВОЛЬТ')
    assert.deepEqual([merchants.data.length, merchants.pagination.totalItems], [1, 1])
    const [{ entry, terminals }] = merchants.data
    assert.deepEqual([entry.code, entry.excludedBanks, terminals], ['voltshop', ['beta'], 1])
    const changed = { ...entry, name: 'Вольт 2', excludedBanks: [] }
    const apply = (merchant: object) =>
      staff.call('POST', '/admin/directory', { body: { directory: JSON.stringify({ merchants: [merchant] }) } })
    assert.equal((await apply(changed)).body.updated, 1)
    const [after] = (await get('/partners?search=volt')).merchants.data
    assert.deepEqual([after.entry, after.terminals], [changed, 1], 'its terminals stay')
    await apply(entry)
  })

  test('who has access, and pages of merchants', async () => {
    const { banks, merchants } = await get('/partners?pageSize=1&page=2')
    const alphaBank = banks.find(({ entry }: any) => entry.code === 'alpha')
    assert.ok(alphaBank.credentials >= 1)
    assert.deepEqual(alphaBank.entry.esim, {
      deliveryMode: 'local',
      operators: 'all',
      reservationShare: null,
      statement: { timeZone: 'UTC', commissionPercentage: 0 },
    })
    assert.deepEqual(
      merchants.data.map(({ entry }: any) => entry.code),
      ['voltshop'],
    )
    await refused('/partners?code=alpha', 400, ['code must be omitted'])
  })

  test('a merchant is found by its whole id, in any case', async () => {
    const [{ entry }] = (await get('/partners?search=volt')).merchants.data
    for (const search of [entry.id, entry.id.toUpperCase()])
      assert.deepEqual(
        (await get(`/partners?search=${search}`)).merchants.data.map((found: any) => found.entry.code),
        ['voltshop'],
      )
    assert.deepEqual((await get(`/partners?search=${entry.id.slice(0, 18)}`)).merchants.data, [])
  })
})

test('GET /admin/overview counts everything', async () => {
  await createCampaign(platform, {}, grocer)
  const before = await get('/overview')
  await createCampaign(platform, {}, grocer)
  const order = (await bank.reserve('overview-1')).body.orderId
  await bank.cancel(order)
  const overview = await get('/overview')
  assert.deepEqual(
    [overview.banks, overview.merchants, overview.mobileOperators, overview.tariffs],
    [
      { active: 3, suspended: 1 },
      { active: 2, suspended: 0 },
      { active: 2, others: 0 },
      { onSale: 4, others: 1 },
    ],
  )
  assert.equal(overview.campaigns.awaitingBankApproval, before.campaigns.awaitingBankApproval + 1)
  assert.equal(overview.orders.cancelled, before.orders.cancelled + 1)
  assert.equal(Object.keys(overview.campaigns).length, 12)
})

suite('stock', () => {
  const desk = async (tariffCode: string) =>
    (await get('/stock-desk')).find((tariff: any) => tariff.tariffCode === tariffCode)

  test('how long it lasts, and a mark where new profiles are needed', async () => {
    const { importedAt, ...first } = await desk('eu-10gb')
    assert.match(importedAt, /^\d{4}-/)
    assert.deepEqual(
      [
        first.operatorName,
        first.tariffName,
        first.isOffered,
        first.free,
        first.soldLastDays,
        first.daysOfCover,
        first.level,
      ],
      ['Київстар', 'Europe 10 GB', true, 20, 0, null, 'enough'],
    )
    for (let count = 0; count < 10; count++) await bank.confirm((await bank.reserve(`pace-${count}`)).body.orderId)
    const low = await desk('eu-10gb')
    assert.deepEqual([low.free, low.sold, low.soldLastDays, low.daysOfCover, low.level], [10, 10, 10, 7, 'enough'])
    await bank.confirm((await bank.reserve('pace-10')).body.orderId)
    const lower = await desk('eu-10gb')
    assert.deepEqual([lower.free, lower.daysOfCover, lower.level], [9, 5.7, 'low'])
    assert.equal((await desk('empty')).level, 'out')
    const off = await desk('off')
    assert.deepEqual([off.isOffered, off.level, off.importedAt], [false, 'enough', null])
  })

  test('older sales do not count for how long the stock lasts', async () => {
    await advance(platform, 'P7D')
    const { soldLastDays, daysOfCover, level } = await desk('eu-10gb')
    assert.deepEqual([soldLastDays, daysOfCover, level], [0, null, 'enough'])
    // The sandbox's clock has moved by a week, but the session has not expired: sessions use real time.
    assert.equal((await viewer.call('GET', '/portal/session')).status, 200)
  })

  test('GET /admin/stock has the shape of the command', async () => {
    const [first] = await get('/stock')
    assert.deepEqual(Object.keys(first), ['operatorCode', 'tariffCode', 'free', 'reserved', 'sold', 'withdrawn'])
  })

  test('a dry run tells everything and keeps nothing', async () => {
    const good = [...profileLines({ count: 5, seed: 4711 })]
    const [existing = ''] = [...profileLines({ count: 1, seed: 815 })].slice(1)
    const load = async (lines: string[], query: string) => {
      const answer = await staff.call('POST', `/admin/profiles?operator=kyivstar&tariff=ua-5gb${query}`, {
        raw: lines.join(''),
        headers: { 'content-type': 'text/csv' },
      })
      return {
        ...answer,
        lines:
          answer.status === 200
            ? answer.text
                .trimEnd()
                .split('\n')
                .map(line => JSON.parse(line))
            : [],
      }
    }
    await load([...profileLines({ count: 1, seed: 815 })], '')
    const file = [...good, existing, '1,2,3,4\n']
    const before = await desk('ua-5gb')
    const dry = await load(file, '&skipInvalid=true&dryRun=true')
    assert.deepEqual(dry.lines, [
      { reject: { lineNumber: 8, column: 'iccid', rule: 'iccid-digits', reason: 'must be 18 to 20 digits' } },
      {
        result: {
          imported: 5,
          duplicates: 1,
          duplicateLines: [{ lineNumber: 7, otherActivationCode: false }],
          rejected: 1,
        },
      },
    ])
    const strict = await load(file, '&dryRun=true')
    assert.deepEqual(
      [strict.status, strict.body.message],
      [400, ['line 8, column iccid: must be 18 to 20 digits', '1 error in all: nothing was imported']],
    )
    const problem = { line: 8, column: 'iccid', rule: 'iccid-digits', params: {}, value: null }
    assert.deepEqual([strict.body.problems, strict.body.problemCount], [[problem], 1])
    assert.deepEqual(await desk('ua-5gb'), before)
    const real = await load(file, '&skipInvalid=true')
    assert.deepEqual(real.lines, dry.lines)
    assert.equal((await desk('ua-5gb')).free, before.free + 5)
  })
})

suite('orders', () => {
  let orderId: string
  before(async () => {
    const beta = await openBank(platform, await platform.bankToken('beta'))
    await platform.addStock('roamwide', 'world', 3)
    orderId = (await beta.reserve({ operatorCode: 'roamwide', tariffCode: 'world', externalId: 'desk-1' })).body.orderId
    await beta.confirm(orderId)
    await bank.reserve({ operatorCode: 'roamwide', tariffCode: 'world', externalId: 'desk-2' })
  })

  test('of all banks, with whose they are', async () => {
    const found = async (query: string) =>
      (await get(`/orders${query}`)).data.map((order: any) => [order.bank.code, order.externalId, order.status])
    assert.deepEqual(await found('?externalId=desk-'), [
      ['alpha', 'desk-2', 'reserved'],
      ['beta', 'desk-1', 'confirmed'],
    ])
    assert.deepEqual(await found('?externalId=desk-&bank=beta'), [['beta', 'desk-1', 'confirmed']])
    assert.deepEqual(await found('?bank=nobody'), [])
    const { data, nextCursor } = await get('/orders?externalId=desk-&limit=1')
    assert.equal(nextCursor, data[0].orderId)
    assert.equal((await get(`/orders?externalId=desk-&cursor=${nextCursor}`)).data[0].externalId, 'desk-1')
    await refused('/orders?status=sold', 400)
  })

  test('profiles that were taken out of sale are no orders', async () => {
    const { database } = platform.platform
    await database.execute(
      `insert into orders (order_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until)
       select gen_random_uuid(), tariff_id, profile_id, 'withdrawn', 0, '', now(), now() from profiles p
       where not exists (select from orders o where o.profile_id = p.profile_id) limit 1`,
    )
    const { data } = await get('/orders?limit=200')
    assert.ok(data.every((order: any) => order.externalId && order.bank.id))
  })

  test('one, on a line of time, without secrets', async () => {
    const order = await get(`/orders/${orderId}`)
    assert.deepEqual(order.bank, { id: ids.beta, code: 'beta', name: 'Бета Банк' })
    assert.deepEqual(
      order.timeline.map(({ event }: any) => event),
      ['profile-imported', 'reserved', 'confirmed'],
    )
    assert.ok(order.timeline.every(({ at }: any, index: number) => index === 0 || at >= order.timeline[index - 1].at))
    for (const name of ['iccid', 'pin1', 'activationCode']) assert.ok(!(name in order), name)
    await advance(platform, 'PT16M')
    const [{ orderId: lapsed }] = (await get('/orders?externalId=desk-2')).data
    const expired = await get(`/orders/${lapsed}`)
    assert.deepEqual(expired.timeline.at(-1), {
      at: expired.reservedUntil,
      event: 'expired',
      by: null,
      count: null,
      lastAt: null,
    })
    await refused('/orders/00000000-0000-7000-8000-000000000000', 404)
    await refused('/orders/7', 400, ['orderId must be a UUID'])
  })
})

suite('campaigns', () => {
  test('of all merchants, found by id, name, status, merchant and bank', async () => {
    const id = await createCampaign(platform, { name: 'Пошук' }, grocer)
    const own = await createBankCampaign(platform, alpha, { name: 'Банк', retailerId: ids.voltshop })
    const found = async (query: string) => (await get(`/campaigns${query}`)).data.map((one: any) => one.cashbackId)
    assert.deepEqual((await found('')).slice(0, 2), [own, id])
    assert.deepEqual(await found(`?search=${encodeURIComponent('пОШУК')}`), [id])
    assert.deepEqual(await found(`?search=${id.toUpperCase()}`), [id])
    assert.deepEqual(await found('?merchant=voltshop'), [own])
    assert.deepEqual(await found('?merchant=voltshop&bank=beta'), [])
    assert.deepEqual(await found('?status=completed&status=deleted'), [])
    assert.ok((await found('?status=awaitingBankApproval&bank=alpha')).includes(id))
    const [listed] = (await get(`/campaigns?search=${own}`)).data
    assert.deepEqual(
      [listed.retailer, listed.createdByType, listed.banksInvited, listed.banksApproved],
      [{ retailerId: ids.voltshop, code: 'voltshop', name: 'Вольт', nameEn: 'Вольт' }, 'bank', 1, 0],
    )
    await refused('/campaigns?status=running', 400)
  })

  test('one with its banks and its whole history', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
    await alpha.call('POST', `/cashbacks/${id}/confirm`)
    const campaign = await get(`/campaigns/${id}`)
    assert.deepEqual([campaign.cashbackId, campaign.name, campaign.terminalsCount], [id, 'Осінь', 2])
    assert.deepEqual(campaign.retailer, {
      retailerId: ids.grocer,
      code: 'grocer',
      name: 'Гросер',
      nameEn: 'Grocer',
    })
    assert.deepEqual(
      campaign.banks.map((bank: any) => [bank.code, bank.status, bank.stage]),
      [
        ['alpha', 'approved', null],
        ['beta', 'pending', null],
      ],
    )
    assert.deepEqual(
      campaign.history.map((entry: any) => [entry.subject, entry.trigger, entry.to]),
      [
        ['campaign', 'create', 'awaitingBankApproval'],
        ['bank', 'invite', 'pending'],
        ['bank', 'invite', 'pending'],
        ['bank', 'confirm', 'approved'],
      ],
    )
    assert.ok(!('terminals' in campaign))
    await refused('/campaigns/00000000-0000-4000-8000-000000000000', 404, 'The campaign was not found')
    await refused('/campaigns/7', 400, ['cashbackId must be a UUID'])
  })

  test('the history names the member of the staff who completes a campaign', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await platform.platform.database.execute(
      `update campaigns set status = 'compensationReceived', compensation_received_at = now() where cashback_id = $1`,
      [id],
    )
    assert.equal((await viewer.call('POST', `/admin/campaigns/${id}/complete`)).status, 403)
    const answer = await staff.call('POST', `/admin/campaigns/${id}/complete`)
    assert.deepEqual([answer.status, answer.body.status], [200, 'completed'])
    const { history } = await get(`/campaigns/${id}`)
    const { body: session } = await staff.call('GET', '/portal/session')
    const staffMember = { type: 'platform', id: null, login: session.login, name: null, role: 'admin' }
    assert.deepEqual(history.at(-1).actor, staffMember)
    const [ofPartners] = (await grocer.call('GET', `/portal/cashbacks/${id}/history`)).body.slice(-1)
    assert.deepEqual([ofPartners.trigger, ofPartners.actor.login], ['complete', null])
  })
})

test('customers: counts of every bank, and whose one is', async () => {
  const load = await staff.call('POST', '/admin/customers?bank=alpha', {
    raw: 'customerId\nC-1\nC/2 ї\nC-3\n',
    headers: { 'content-type': 'text/csv' },
  })
  assert.equal(load.status, 200, load.text)
  const { total, banks } = await get('/customers')
  assert.equal(total, 3)
  assert.deepEqual(
    banks.map((one: any) => [one.code, one.customers]),
    [
      ['alpha', 3],
      ['beta', 0],
      ['closed', 0],
      ['gamma', 0],
    ],
  )
  assert.equal((await get('/overview')).customers, 3)
  const customerId = 'C/2 ї'
  const find = (body: object, by = staff) => by.call('POST', '/admin/customers/find', { body })
  for (const reader of [staff, viewer])
    assert.deepEqual((await find({ customerId }, reader)).body, {
      customerId,
      bank: { id: ids.alpha, code: 'alpha', name: 'Alpha Bank' },
    })
  const unknown = await find({ customerId: 'c-1' })
  assert.deepEqual(
    [unknown.status, unknown.body.message],
    [404, 'The customer directory does not know this id'],
    'compared byte by byte',
  )
  assert.deepEqual((await find({})).body.message, ['customerId must be given'])
  assert.equal((await platform.call('POST', '/admin/customers/find', { body: { customerId } })).status, 401)
})

test('files of customers and terminals: what is wrong is told as rules with names, by line', async () => {
  const problemsOf = async (path: string, given: object) => {
    const { status, body } = await staff.call('POST', path, given)
    assert.equal(status, 400)
    return body.problems.map(({ line, column, rule, value }: any) => [line, column, rule, value])
  }
  const customers = (raw: string) =>
    problemsOf('/admin/customers?bank=beta', { raw, headers: { 'content-type': 'text/csv' } })
  assert.deepEqual(await customers('customer\nB-1\n'), [[1, null, 'header', null]])
  assert.deepEqual(await customers(''), [[null, null, 'not-empty', null]])
  assert.deepEqual(await customers(`customerId\n B-1\n"B\nB,2\n${'x'.repeat(5000)}\n`), [
    [2, 'customerId', 'customer-id', null],
    [3, null, 'quotes', null],
    [4, null, 'value-count', null],
    [5, null, 'max-bytes', null],
  ])
  assert.deepEqual(await customers('customerId\nC-1\n'), [[2, null, 'other-bank', null]])
  assert.equal((await customers(`customerId\n${' B\n'.repeat(30)}`)).length, 20)

  const directory = 'merchants: [{ code: grocer, terminalsFile: t.csv }]'
  const terminals = (csv: string, text = directory) =>
    problemsOf('/admin/directory?dryRun=true', { body: { directory: text, files: { 't.csv': csv } } })
  assert.deepEqual(await terminals('id\nT-1\n'), [[1, null, 'terminals-header', 'id']])
  assert.deepEqual(await terminals('terminalId|name\nT-1|"N\n'), [[1, null, 'terminals-header', 'terminalId|name']])
  assert.deepEqual(await terminals('\n'), [[1, null, 'terminals-header', null]])
  const [[, , , long]] = await terminals(`id\u0007${'x'.repeat(200)}\n`)
  assert.equal(long, `id?${'x'.repeat(97)}…`)
  assert.deepEqual(await terminals('terminalId,name\n,N\nT-1\nT-1,N\n"\n'), [
    [2, 'terminalId', 'one-line', null],
    [3, null, 'value-count', null],
    [4, 'terminalId', 'repeated', null],
    [5, null, 'quotes', null],
  ])
  const mixed = await staff.call('POST', '/admin/directory', {
    body: {
      directory: 'merchants: [{ code: grocer, status: gone, terminalsFile: t.csv }]',
      files: { 't.csv': 'id\n' },
    },
  })
  assert.deepEqual([mixed.body.message.length, mixed.body.problems], [2, undefined], 'other faults have no rule')
})

test('the users and credentials of one partner', async () => {
  await openBrowser(platform, { bank: 'beta' }, 'VIEWER')
  await openBrowser(platform, { merchant: 'grocer' }, 'viewer')
  for (const list of ['users', 'credentials']) {
    const all = await get(`/${list}`)
    for (const [kind, code] of [
      ['bank', 'alpha'],
      ['bank', 'beta'],
      ['merchant', 'grocer'],
    ] as const) {
      const ofPartner = all.filter((each: { bank: string; merchant: string }) => each[kind] === code)
      if (list === 'users' && code !== 'alpha') assert.ok(ofPartner.length > 0, code)
      assert.deepEqual(await get(`/${list}?${kind}=${code}`), ofPartner)
    }
    await refused(`/${list}?bank=nobody`, 404, 'No bank has the code nobody')
    await refused(`/${list}?bank=alpha&merchant=grocer`, 400, [
      'bank must be given, or another one account, and only one',
    ])
    await refused(`/${list}?platform=true`, 400)
  }
})

test('no browser keeps what the staff and people of partners have seen', async () => {
  const answers = [await staff.call('GET', '/admin/users'), await alpha.call('GET', '/portal/home')]
  for (const { headers } of [...answers, await platform.call('GET', '/portal/esim/stock')])
    assert.deepEqual([headers.get('cache-control'), headers.get('x-content-type-options')], ['no-store', 'nosniff'])
})

test('every read is for the operator alone', async () => {
  const paths = [
    'overview',
    'partners',
    'stock-desk',
    'orders',
    `orders/${ids.alpha}`,
    'campaigns',
    `campaigns/${ids.alpha}`,
  ]
  const strangers = [
    await openBrowser(platform, { bank: 'alpha' }, 'ADMIN'),
    await openBrowser(platform, { merchant: 'grocer' }, 'admin_user'),
  ]
  for (const path of [...paths, 'customers', 'swagger', 'swagger/json']) {
    assert.equal((await platform.call('GET', `/admin/${path}`)).status, 401, path)
    for (const stranger of strangers) assert.equal((await stranger.call('GET', `/admin/${path}`)).status, 403, path)
    const byKey = await platform.call('GET', `/admin/${path}`, { token: platform.config.operatorKey })
    assert.ok([200, 404].includes(byKey.status), `${path}: ${byKey.status}`)
  }
})

test('a viewer gets no export of a customer', async () => {
  const path = '/admin/customers/export'
  const body = { customerId: '100045', bank: 'alpha' }
  assert.equal((await staff.call('POST', path, { body })).status, 200)
  const answer = await viewer.call('POST', path, { body })
  assert.equal(answer.status, 403)
  assert.equal(answer.body.message, 'This operation needs the role admin')
})

suite('reads of one order or campaign are entries', () => {
  let auditor: string
  before(async () => {
    auditor = await platformUserToken(platform)
  })

  test('an order or a campaign is read with GET, not with HEAD', async () => {
    const { orderId } = (await bank.reserve('read')).body
    const cashbackId = await createCampaign(platform, {}, grocer)
    for (const [path, action, object] of [
      [`/admin/orders/${orderId}`, 'order.read', `order:${orderId}`],
      [`/admin/campaigns/${cashbackId}`, 'campaign.read', `campaign:${cashbackId}`],
    ] as const) {
      for (const method of ['HEAD', 'GET', 'HEAD']) assert.equal((await staff.call(method, path)).status, 200)
      assert.equal(
        (await readEntries(platform, auditor, `&object=${object}`)).filter(one => one.action === action).length,
        1,
      )
    }
  })

  test('a list that was asked for one order or campaign by its whole id is a read of it', async () => {
    const { orderId } = (await bank.reserve('read-in-list')).body
    const cashbackId = await createCampaign(platform, {}, grocer)
    const readsOf = async (object: string) =>
      (await readEntries(platform, auditor, `&object=${object}`)).filter(({ action }) => action.endsWith('.read'))
        .length
    for (const [path, object, reads] of [
      ['/admin/orders', `order:${orderId}`, 0],
      ['/admin/orders?externalId=read-in-lis', `order:${orderId}`, 0],
      ['/admin/orders?externalId=read-in-list', `order:${orderId}`, 1],
      ['/admin/orders?externalId=read-in-list&exact=true', `order:${orderId}`, 2],
      [`/admin/orders?orderId=${orderId}`, `order:${orderId}`, 3],
      [`/admin/orders?orderId=${orderId}&bank=beta`, `order:${orderId}`, 3],
      ['/admin/campaigns', `campaign:${cashbackId}`, 0],
      [`/admin/campaigns?search=${cashbackId}`, `campaign:${cashbackId}`, 1],
      [`/admin/campaigns?search=${cashbackId.toUpperCase()}`, `campaign:${cashbackId}`, 2],
    ] as const) {
      for (const method of ['HEAD', 'GET']) assert.equal((await staff.call(method, path)).status, 200, path)
      assert.equal(await readsOf(object), reads, path)
    }
    const [entry] = await readEntries(platform, auditor, `&object=order:${orderId}`)
    assert.deepEqual([entry.action, entry.account.type, entry.account.id], ['order.read', 'bank', ids.alpha])
  })
})
