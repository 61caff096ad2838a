/**
 * One request reads only a limited number of campaigns for a list or a count. Despite this limit, no campaign is lost,
 * shown twice or counted wrong.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCampaigns } from '../../../src/admin/campaign-store.ts'
import { findBankCampaigns } from '../../../src/campaigns/for-people/bank-table-store.ts'
import { bankStatuses, campaignStatuses } from '../../../src/campaigns/lifecycle/transitions.ts'
import type { Queryable } from '../../../src/db/database.ts'
import { namePattern } from '../../../src/text/name-pattern.ts'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { copyCampaigns, launchCampaign, moveClock, openPartners, type Partners } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids, inDays } from '../../support/campaigns.ts'
import { explaining } from '../../support/explain.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/** The maximum number of campaigns that one request reads. */
const maxLookedAt = 10_000

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
})
after(() => platform.close())

type Row = { cashbackId: string; name: string; status: string; createdAt: string; updatedAt: string }
type Listed = {
  data: Row[]
  pagination: {
    page: number
    totalPages: number
    totalItems: number
    hasNextPage: boolean
    isComplete: boolean
    next: string | null
  }
}

async function get(path: string, token: string) {
  const answer = await platform.call('GET', path, { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const ofBank = (query = ''): Promise<Listed> => get(`/portal/cashbacks${query}`, partners.alpha.token)
const ofOperator = (query = ''): Promise<Listed> => get(`/admin/campaigns${query}`, platform.config.operatorKey)
const idsOf = ({ data }: Listed): string[] => data.map(({ cashbackId }) => cashbackId)

/** All items of a list, read page by page. */
async function walk(list: (query: string) => Promise<Listed>, query: string, between: () => Promise<unknown>) {
  const met: string[] = []
  for (let next: string | null = ''; next !== null; await between()) {
    const page: Listed = await list(`?pageSize=7${query}${next && `&after=${next}`}`)
    met.push(...idsOf(page))
    assert.equal(page.pagination.hasNextPage, page.pagination.next !== null)
    next = page.pagination.next
  }
  return met
}

test('each campaign is met once from page to page while others are added, change and go', async () => {
  const { database } = platform.platform
  const one = await createCampaign(
    platform,
    { name: 'Walked', participantsIds: [ids.alpha, ids.beta] },
    partners.grocer,
  )
  // All were created at the same instant, so that pages end between campaigns with equal times.
  const all = [one, ...(await copyCampaigns(database, one, 30))].toSorted()
  const removed = await createCampaign(platform, {}, partners.grocer)
  const add = () => createCampaign(platform, { name: 'Walked later' }, partners.grocer)
  const decide = async (id = '') =>
    assert.equal((await partners.beta.call('POST', `/cashbacks/${id}/confirm`)).status, 201)

  let n = 0
  const met = await walk(ofBank, '', async () => {
    await add()
    await decide(all[n++])
    if (n === 1) await partners.grocer.call('DELETE', `/cashbacks/for-merchant/${removed}`)
  })
  assert.equal(new Set(met).size, met.length)
  assert.deepEqual(met.filter(id => all.includes(id)).toSorted(), all)

  const filtered = await walk(ofBank, '&name=walked&status=awaitingBankApproval&bankStatus=pending', add)
  assert.equal(new Set(filtered).size, filtered.length)
  assert.deepEqual(filtered.filter(id => all.includes(id)).toSorted(), all)

  // A campaign that changes moves to the beginning of the operator's list.
  const changed = all[20]
  const ofAll = await walk(ofOperator, '', add)
  assert.equal(new Set(ofAll).size, ofAll.length)
  assert.deepEqual(ofAll.filter(id => all.includes(id)).toSorted(), all)
  await decide(changed)
  assert.equal(idsOf(await ofOperator('?pageSize=1'))[0], changed)
})

test('pages by number show the same campaigns in the same order', async () => {
  const whole = await ofBank('?pageSize=100&sortBy=name&sortOrder=ASC')
  assert.equal(whole.pagination.isComplete, true)
  const pages = [1, 2, 3, 4, 5, 6, 7, 8].map(page => ofBank(`?pageSize=9&page=${page}&sortBy=name&sortOrder=ASC`))
  assert.deepEqual((await Promise.all(pages)).flatMap(idsOf), idsOf(whole).slice(0, 72))
  const byTime = await ofBank('?pageSize=100')
  assert.deepEqual(idsOf(await ofBank('?pageSize=10&page=2')), idsOf(byTime).slice(10, 20))
  assert.equal(byTime.pagination.totalItems, whole.pagination.totalItems)
  assert.deepEqual(idsOf(await ofBank('?status=active&status=active')), [])
})

test('what pages behind a cursor count is what the description of `after` says', async () => {
  const some = await createCampaign(platform, { name: 'Tallied' }, partners.grocer)
  await copyCampaigns(platform.platform.database, some, 5)
  const search = async (list: typeof ofBank, query: string) => {
    const first = await list(`?pageSize=2${query}`)
    const second = await list(`?pageSize=2${query}&after=${first.pagination.next}`)
    return [first, second].map(({ pagination }) => pagination.totalItems)
  }
  assert.deepEqual(await search(ofBank, '&name=tallied'), [6, 4])
  assert.deepEqual(await search(ofOperator, '&search=tallied'), [6, 4])
  for (const list of [ofBank, ofOperator]) {
    const [whole, behind] = await search(list, '')
    assert.equal(behind, whole)
  }
})

test('an edit moves a campaign to its new place in every order of a bank’s list', async () => {
  const edited = await createCampaign(platform, { name: 'Moved', percentage: 50 }, partners.grocer)
  const first = async (sortBy: string) =>
    (await ofBank(`?sortBy=${sortBy}&sortOrder=ASC&pageSize=1`)).data[0]?.cashbackId
  assert.notEqual(await first('percentage'), edited)
  const terms = { name: '!', percentage: 0.01, dateFrom: inDays(platform, 1), dateTo: inDays(platform, 2) }
  const answer = await partners.grocer.call('PATCH', `/cashbacks/for-merchant/${edited}`, { body: terms })
  assert.equal(answer.status, 200, answer.text)
  for (const sortBy of ['percentage', 'name', 'dateFrom', 'dateTo']) assert.equal(await first(sortBy), edited, sortBy)
  assert.deepEqual(idsOf(await ofBank(`?dateTo=${inDays(platform, 2)}`)), [edited])
  await partners.grocer.call('DELETE', `/cashbacks/for-merchant/${edited}`)
})

test('the operator finds by id, merchant, bank and status', async () => {
  const mine = await createCampaign(platform, { participantsIds: [ids.gamma], name: 'Gamma alone' }, partners.grocer)
  assert.deepEqual(idsOf(await ofOperator(`?search=${mine}`)), [mine])
  assert.deepEqual(idsOf(await ofOperator(`?search=${mine}&bank=gamma&merchant=grocer`)), [mine])
  assert.deepEqual(idsOf(await ofOperator(`?search=${mine}&bank=alpha`)), [])
  assert.deepEqual(idsOf(await ofOperator('?bank=gamma')), [mine])
  assert.deepEqual(idsOf(await ofOperator('?bank=gamma&merchant=voltshop')), [])
  assert.deepEqual(idsOf(await ofOperator('?bank=gamma&search=GAMMA&status=awaitingBankApproval')), [mine])
  assert.deepEqual(idsOf(await ofOperator('?merchant=voltshop')), [])
  const { pagination } = await ofOperator('?merchant=grocer')
  assert.equal(pagination.totalItems, (await ofOperator()).pagination.totalItems)
})

test('counts follow every move, and the audit proves them', async () => {
  const statusesOf = async (token: string) => (await get('/portal/home', token)).counts
  const before = await statusesOf(partners.alpha.token)
  await launchCampaign(platform, partners, { name: 'Counted' })
  const launched = await statusesOf(partners.alpha.token)
  assert.equal(launched.byStatus.approved, before.byStatus.approved + 1)
  assert.equal(launched.byBankStatus.approved, before.byBankStatus.approved + 1)
  await moveClock(platform, { advance: 'P11D' })
  assert.equal((await statusesOf(partners.alpha.token)).byStatus.active, before.byStatus.active + 1)
  assert.equal((await statusesOf(partners.grocer.token)).byStatus.active, before.byStatus.active + 1)
  await moveClock(platform, { advance: 'P40D' })
  const ended = await statusesOf(partners.grocer.token)
  assert.equal(ended.byStatus.awaitingBankApproval, 0)
  const overview = await get('/admin/overview', platform.config.operatorKey)
  assert.deepEqual(overview.campaigns, ended.byStatus)
  const { ok, checks } = await audit(platform.platform.deps.admin, new Date())
  assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
})

test('only the newest campaigns of a longer list are read, and a reader can continue behind them', async () => {
  const { database } = platform.platform
  const old = await createCampaign(platform, { name: 'Needle' }, partners.grocer)
  const hay = await createCampaign(platform, { name: 'Hay' }, partners.grocer)
  await copyCampaigns(database, hay, maxLookedAt)

  for (const list of [ofBank, ofOperator]) {
    const { data, pagination } = await list()
    assert.equal(data[0]?.name, 'Hay')
    assert.deepEqual(
      [pagination.totalItems, pagination.totalPages, pagination.isComplete],
      [maxLookedAt, maxLookedAt / 20, false],
    )
    const last = await list('?page=500')
    assert.equal(last.data.length, 20)
    assert.deepEqual((await list('?page=501')).data, [])
    const behind = await list(`?pageSize=100&after=${last.pagination.next}`)
    assert.ok(idsOf(behind).includes(old))
    assert.equal(behind.data.filter(({ name }) => name === 'Hay').length, 1)
  }

  for (const list of [(query: string) => ofBank(`?name=${query}`), (query: string) => ofOperator(`?search=${query}`)]) {
    const none = await list('needle')
    assert.deepEqual([none.data, none.pagination.totalItems, none.pagination.isComplete], [[], 0, false])
    const found = await list(`needle&after=${none.pagination.next}`)
    assert.deepEqual(idsOf(found), [old])
    assert.deepEqual([found.pagination.isComplete, found.pagination.next], [true, null])
  }

  const sorted = await ofBank('?sortBy=name&sortOrder=DESC')
  assert.deepEqual([sorted.data[0]?.name, sorted.pagination.isComplete], ['Hay', false])
  const others = await ofBank(`?sortBy=name&sortOrder=ASC&pageSize=100&after=${sorted.pagination.next}`)
  assert.equal(others.pagination.isComplete, true)
  assert.ok(others.data.some(({ name }) => name === 'Needle'))

  // With `after`, pages leave out the campaigns that were read before, even when the caller sorts them differently.
  const behind = (page: number) => ofBank(`?sortBy=name&pageSize=2&page=${page}&after=${sorted.pagination.next}`)
  const lastPage = Math.ceil(others.pagination.totalItems / 2)
  const ends = await Promise.all([behind(1), behind(lastPage)])
  assert.deepEqual(
    ends.map(({ pagination }) => pagination.hasNextPage),
    [true, false],
  )

  // A filter by state finds its campaigns, although there are many copies in a different state.
  assert.ok((await ofBank('?status=awaitingCompensationConfirmation&name=counted')).data.length > 0)
})

test('a sort or a search of a long list keeps no more than a page of it in memory', async () => {
  const bank = await platform.platform.database.query<{ id: string }>(
    `select bank_id as id from banks where code = 'alpha'`,
  )
  const usual = {
    namePattern: null,
    statuses: campaignStatuses.filter(status => status !== 'deleted'),
    bankStatuses,
    createdByType: null,
    startsFrom: null,
    endsBy: null,
    sort: { by: 'createdAt', ascending: false },
  } as const
  const page = { page: 1, pageSize: 20 }
  await platform.platform.database.execute('vacuum analyze campaign_banks')
  for (const by of ['createdAt', 'name', 'status', 'dateFrom', 'dateTo', 'percentage'] as const)
    assert.deepEqual(
      await largeSorts(database =>
        findBankCampaigns(database, bank[0]?.id ?? '', { ...usual, sort: { by, ascending: true } }, page),
      ),
      [],
      by,
    )
  const needle = { ...usual, namePattern: namePattern('needle') }
  assert.deepEqual(await largeSorts(database => findBankCampaigns(database, bank[0]?.id ?? '', needle, page)), [])
  const ofAlpha = { cashbackId: null, statuses: campaignStatuses, merchantCode: null, bankCode: 'alpha' }
  for (const pattern of [null, namePattern('needle')])
    assert.deepEqual(
      await largeSorts(database => findCampaigns(database, { ...ofAlpha, namePattern: pattern }, page)),
      [],
    )
})

/** Runs reads, and returns the sorts of their plans that take more memory than the rows of a page. */
async function largeSorts(read: (database: Queryable) => Promise<unknown>): Promise<object[]> {
  const { database } = platform.platform
  const found: object[] = []
  const collecting = explaining(database, node => {
    if ((node['Sort Space Used'] ?? 0) > 100) found.push({ key: node['Sort Key'], kilobytes: node['Sort Space Used'] })
  })
  await read(collecting)
  return found
}

test('a list of the far future is read page by page, too', async () => {
  for (const now of ['2290-01-01T00:00:00.007Z', '9500-01-01T00:00:00.007Z']) {
    const moved = await platform.call('POST', '/sandbox/clock', { body: { now } })
    assert.equal(moved.status, 200, moved.text)
    const period = { dateFrom: '9900-01-01', dateTo: '9901-01-01' }
    const made: string[] = []
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      made.unshift(await createCampaign(platform, { name, ...period }, partners.grocer))
      await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT0.001S' } })
    }
    for (const list of [ofBank, ofOperator]) {
      const pages = [await list('?pageSize=1')]
      while (pages.length < made.length) pages.push(await list(`?pageSize=1&after=${pages.at(-1)?.pagination.next}`))
      assert.deepEqual(pages.flatMap(idsOf), made, now)
    }
  }
})

test('an invalid place in a list is refused', async () => {
  for (const after of ['1', 'x_y', `1234567890123456789_${ids.alpha}`, `1_${ids.alpha}'`])
    for (const [path, token] of [
      ['/portal/cashbacks', partners.alpha.token],
      ['/admin/campaigns', platform.config.operatorKey],
    ] as const)
      assert.equal(
        (await platform.call('GET', `${path}?after=${encodeURIComponent(after)}`, { token })).status,
        400,
        after,
      )
})
