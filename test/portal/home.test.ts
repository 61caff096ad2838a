/** The open tasks of each side, step by step through the life of a campaign. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  type Partner,
} from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openBrowser } from '../support/portal.ts'
import {
  endedCampaign,
  line,
  move,
  openSides,
  reportOf,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
})
after(() => platform.close())

const home = async (partner: Partner) => {
  const answer = await partner.call('GET', '/portal/home?pageSize=100')
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
/** The open tasks of one campaign, in short: `me decide-invitation`, `other launch-possible`. */
const tasks = async (partner: Partner, id: string): Promise<string[]> =>
  (await home(partner)).tasks
    .filter((task: any) => task.cashbackId === id)
    .map(
      (task: any) =>
        `${task.waitsFor} ${task.kind}${task.bankId ? ` ${task.bankId === ids.alpha ? 'alpha' : 'beta'}` : ''}`,
    )

const assertTasks = async (id: string, expected: { grocer: string[]; alpha: string[]; beta?: string[] }) => {
  for (const [who, list] of Object.entries(expected))
    assert.deepEqual((await tasks(sides[who as 'grocer'], id)).toSorted(), list.toSorted(), who)
}

test('from the invitation to the launch', async () => {
  const { grocer, alpha, beta } = sides
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
  await assertTasks(id, {
    grocer: ['other decide-invitation alpha', 'other decide-invitation beta'],
    alpha: ['me decide-invitation alpha'],
    beta: ['me decide-invitation beta'],
  })
  await alpha.call('POST', `/cashbacks/${id}/confirm`)
  await assertTasks(id, {
    grocer: ['me launch-possible', 'other decide-invitation beta'],
    alpha: ['other launch-possible'],
    beta: ['me decide-invitation beta'],
  })
  await beta.call('POST', `/cashbacks/${id}/reject`)
  await assertTasks(id, { grocer: ['me launch-possible'], alpha: ['other launch-possible'], beta: [] })
  await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
  await assertTasks(id, { grocer: [], alpha: [], beta: [] })
})

test('after the period, until the money has come', async () => {
  const { grocer, alpha, beta } = sides
  const campaign = await endedCampaign(sides, [alpha, beta])
  const { id } = campaign
  const report = reportOf(line(campaign, 'a-1'))
  await assertTasks(id, {
    grocer: ['other upload-report alpha', 'other upload-report beta'],
    alpha: ['me upload-report alpha'],
    beta: ['me upload-report beta'],
  })
  assert.equal((await uploadBank(alpha, id, report)).status, 201)
  await assertTasks(id, {
    grocer: ['me answer-report alpha', 'other upload-report beta'],
    alpha: ['other answer-report alpha'],
    beta: ['me upload-report beta'],
  })
  assert.equal((await uploadMerchant(grocer, id, report)).status, 201)
  await assertTasks(id, {
    grocer: ['other upload-report alpha', 'other upload-report beta'],
    alpha: ['me upload-report alpha'],
  })
  assert.equal((await uploadBank(alpha, id, report)).status, 201)
  assert.equal((await move(grocer, `${id}/banks/${ids.alpha}/accept-report`)).status, 200)
  await assertTasks(id, {
    grocer: ['me confirm-settlement alpha', 'other upload-report beta'],
    alpha: ['other confirm-settlement alpha'],
  })
  assert.equal((await move(grocer, `${id}/banks/${ids.alpha}/settle`)).status, 200)
  await assertTasks(id, { grocer: ['other upload-report beta'], alpha: [] })
  assert.equal((await uploadBank(beta, id, report)).status, 201)
  for (const step of ['accept-report', 'settle'])
    assert.equal((await move(grocer, `${id}/banks/${ids.beta}/${step}`)).status, 200)
  await assertTasks(id, { grocer: ['me mark-paid'], alpha: ['other mark-paid'], beta: ['other mark-paid'] })
  assert.equal((await move(grocer, `${id}/compensation-paid`)).status, 200)
  await assertTasks(id, {
    grocer: ['other acknowledge-compensation alpha', 'other acknowledge-compensation beta'],
    alpha: ['me acknowledge-compensation alpha'],
    beta: ['me acknowledge-compensation beta'],
  })
  for (const bank of [alpha, beta]) assert.equal((await move(bank, `${id}/compensation-received`)).status, 200)
  await assertTasks(id, { grocer: [], alpha: [], beta: [] })
})

test('each task has its kind, its deadline, and what happens if nobody acts', async () => {
  const { grocer, alpha } = sides
  const id = await createCampaign(platform, { name: 'Зима' }, grocer)
  const own = await createBankCampaign(platform, alpha)
  const { tasks: list } = await home(alpha)
  const byId = (cashbackId: string) => list.find((task: any) => task.cashbackId === cashbackId)
  const { dateFrom, dateTo, ...rest } = byId(id)
  assert.ok(dateFrom < dateTo)
  assert.deepEqual(rest, {
    kind: 'decide-invitation',
    cashbackId: id,
    campaignName: 'Зима',
    campaignStatus: 'awaitingBankApproval',
    retailerId: ids.grocer,
    retailerName: 'Гросер',
    retailerNameEn: 'Grocer',
    bankId: ids.alpha,
    bankName: 'Alpha Bank',
    waitsFor: 'me',
    by: dateTo,
    otherwise: 'participation-expires',
    amount: null,
    currency: 'UAH',
  })
  assert.deepEqual([byId(own).kind, byId(own).otherwise], ['decide-invitation', 'campaign-expires'])
  await alpha.call('POST', `/cashbacks/${id}/confirm`)
  const launch = (await home(grocer)).tasks.find((task: any) => task.cashbackId === id)
  assert.deepEqual(
    [launch.kind, launch.bankId, launch.bankName, launch.otherwise, launch.by],
    ['launch-possible', null, null, 'campaign-expires', dateTo],
  )
})

test('tasks that wait for the caller come first, sorted by their deadline', async () => {
  const { grocer, alpha } = sides
  const day = (count: number) =>
    new Date(platform.platform.deps.campaigns.clock.now().getTime() + count * 86_400_000).toISOString()
  const late = await createCampaign(platform, { dateTo: day(90) }, grocer)
  const soon = await createCampaign(platform, { dateTo: day(11) }, grocer)
  const { tasks: list, isComplete } = await home(alpha)
  assert.equal(isComplete, true)
  const places = [soon, late].map(id => list.findIndex((task: any) => task.cashbackId === id))
  assert.ok((places[0] ?? 0) < (places[1] ?? 0))
  const firstOther = list.findIndex((task: any) => task.waitsFor === 'other')
  assert.ok(list.slice(0, firstOther).every((task: any) => task.waitsFor === 'me'))
  assert.ok(list.slice(firstOther).every((task: any) => task.waitsFor === 'other'))
})

test('the money of each step: the whole sum to the merchant, to a bank its own part', async () => {
  const { grocer, alpha, beta } = sides
  const campaign = await endedCampaign(sides, [alpha, beta])
  const { id } = campaign
  const amounts = async (partner: Partner) =>
    (await home(partner)).tasks.filter((task: any) => task.cashbackId === id).map((task: any) => task.amount)
  assert.deepEqual(await amounts(alpha), [null])
  for (const [bank, bankId, count] of [
    [alpha, ids.alpha, 1],
    [beta, ids.beta, 2],
  ] as const) {
    const lines = Array.from({ length: count }, (_, each) => line(campaign, `m-${count}-${each}`))
    assert.equal((await uploadBank(bank, id, reportOf(...lines))).status, 201)
    const [owed] = await amounts(bank)
    assert.ok(owed > 0)
    assert.deepEqual(await amounts(bank), [owed])
    for (const step of ['accept-report', 'settle'])
      assert.equal((await move(grocer, `${id}/banks/${bankId}/${step}`)).status, 200)
  }
  const [[all], [one], [two]] = [await amounts(grocer), await amounts(alpha), await amounts(beta)]
  assert.ok(one > 0 && two > one)
  assert.equal(all.toFixed(2), (one + two).toFixed(2))
})

test('page by page, by whom it waits for and by kind, with totals of everything', async () => {
  const { alpha } = sides
  const all = await home(alpha)
  const read = async (query: string) => (await alpha.call('GET', `/portal/home?${query}`)).body
  const pages = [await read('pageSize=2'), await read('pageSize=2&page=2'), await read('pageSize=2&page=999')]
  assert.deepEqual(
    pages.flatMap(({ tasks: list }) => list),
    all.tasks.slice(0, 4),
  )
  assert.equal(pages[2].pagination.totalItems, all.tasks.length)
  assert.deepEqual(pages[0].totals, all.totals)
  const decisions = await read('waitsFor=me&kind=decide-invitation&pageSize=100')
  assert.ok(decisions.tasks.length > 0)
  assert.equal(decisions.tasks.length, all.totals.me['decide-invitation'])
  assertRefused(await alpha.call('GET', '/portal/home?kind=nothing'), 400)
})

test('a merchant is told of campaigns that banks have created at its cost', async () => {
  const { grocer, alpha } = sides
  const paid = await createBankCampaign(platform, alpha, { merchantCompensationPercentage: 60 })
  const free = await createBankCampaign(platform, alpha, { merchantCompensationPercentage: 0 })
  const listed = async () => (await home(grocer)).bankCampaigns.data.map((campaign: any) => campaign.cashbackId)
  assert.ok((await listed()).includes(paid))
  assert.equal((await alpha.call('POST', `/cashbacks/${paid}/confirm`)).status, 201)
  assert.ok((await listed()).includes(paid))
  assert.ok(!(await listed()).includes(free))
  const one = (await home(grocer)).bankCampaigns.data.find((campaign: any) => campaign.cashbackId === paid)
  assert.deepEqual([one.bankName, one.merchantCompensationPercentage], ['Alpha Bank', 60])
  assert.deepEqual((await home(alpha)).bankCampaigns, { data: [], hasMore: false })
})

test('a deleted campaign counts where the list has it, and nowhere else', async () => {
  const { grocer, beta } = sides
  const countOf = async (path: string) => (await beta.call('GET', path)).body.pagination.totalItems
  const id = await createCampaign(platform, { participantsIds: [ids.beta], dateFrom: inDays(platform, 10) }, grocer)
  assert.equal((await grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
  const { byStatus, byBankStatus } = (await home(beta)).counts
  assert.ok(byStatus.deleted > 0)
  assert.equal(byStatus.deleted, await countOf('/portal/cashbacks?status=deleted'))
  for (const status of ['pending', 'approved', 'declined', 'expired'])
    assert.equal(byBankStatus[status], await countOf(`/portal/cashbacks?bankStatus=${status}`), status)
})

test('counts of all statuses, for a bank also of its own', async () => {
  const gamma = await openCampaignBank(platform, 'gamma')
  const empty = await home(gamma)
  assert.deepEqual([empty.tasks, Object.values(empty.counts.byStatus).length], [[], 12])
  assert.deepEqual(empty.counts.byBankStatus, { pending: 0, approved: 0, declined: 0, expired: 0 })
  await createCampaign(platform, { participantsIds: [ids.gamma] }, sides.grocer)
  const { counts } = await home(gamma)
  assert.equal(counts.byStatus.awaitingBankApproval, 1)
  assert.deepEqual(counts.byBankStatus, { pending: 1, approved: 0, declined: 0, expired: 0 })
  assert.equal((await home(sides.grocer)).counts.byBankStatus, null)
})

test('tasks of the caller are found even if there are more open campaigns than are read', async () => {
  const gamma = await openCampaignBank(platform, 'gamma')
  const own = await createCampaign(
    platform,
    { participantsIds: [ids.gamma], dateTo: inDays(platform, 300) },
    sides.grocer,
  )
  const crowd = await createCampaign(
    platform,
    { participantsIds: [ids.gamma], dateTo: inDays(platform, 20) },
    sides.grocer,
  )
  const { database } = platform.platform
  // Adds campaigns of the same bank that end earlier, and about which the bank has decided.
  const columns = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_name = 'campaigns' and is_generated = 'NEVER' and column_name <> 'cashback_id'`,
    [],
  )
  const names = columns.map(({ name }) => name).join(', ')
  await database.query(
    `with made as (
       insert into campaigns (cashback_id, ${names}) select gen_random_uuid(), ${names} from campaigns, generate_series(1, 600)
       where cashback_id = $1 returning cashback_id, created_at, status, date_to)
     insert into campaign_banks (cashback_id, bank_id, status, created_at, campaign_status, date_to)
     select cashback_id, $2, 'approved', created_at, status, date_to from made`,
    [crowd, ids.gamma],
  )
  const { tasks: list, isComplete, totals } = await home(gamma)
  assert.equal(isComplete, false)
  assert.ok(totals.other['launch-possible'] >= 490)
  assert.equal(list[0].waitsFor, 'me')
  assert.ok(list.some((task: any) => task.cashbackId === own))
})

test('nothing of other partners', async () => {
  const voltshop = { call: platform.call, token: await platform.merchantToken('voltshop') }
  const { body } = await voltshop.call('GET', '/portal/home', { token: voltshop.token })
  assert.deepEqual(body.tasks, [])
  assert.ok(Object.values(body.counts.byStatus).every(count => count === 0))
  const { tasks: list } = await home(sides.beta)
  assert.ok(list.every((task: any) => task.bankId === null || task.bankId === ids.beta))
})

test('who may not: without a session, a bank’s VIEWER, the platform’s staff; a merchant’s viewer may', async () => {
  assertRefused(await platform.call('GET', '/portal/home'), 401)
  for (const [owner, role, status] of [
    [{ bank: 'alpha' }, 'VIEWER', 403],
    ['platform', 'admin', 403],
    [{ merchant: 'grocer' }, 'viewer', 200],
    [{ bank: 'alpha' }, 'EDITOR', 200],
  ] as const) {
    const browser = await openBrowser(platform, owner, role)
    assert.equal((await browser.call('GET', '/portal/home')).status, status)
  }
})
