/**
 * Reads pages of the list of campaigns, for every sort and filter. Compares a merchant with 100,000 campaigns to one
 * with 1,000. Only one reader sends requests, and the median of their times counts, so that the figures compare the
 * work for one page.
 */
import { sortBys } from '../../src/campaigns/for-merchant/list-store.ts'
import { type Bench, type Case, using } from '../bench.ts'
import { type CampaignPlatform, columnsOf, createCampaign, serveCampaigns } from '../campaigns.ts'
import { timeToRead } from '../reading.ts'
import type { Figure } from '../report.ts'
import { type Compared, compare } from '../rounds.ts'

const database = 'bench_merchant_list'
const target = 5
const pageSize = 100
const few = 1_000
const dayMs = 86_400_000

const sorts = sortBys.flatMap(by => [`&sortBy=${by}`, `&sortBy=${by}&sortOrder=ASC`])
const filters = {
  'status=active': '&status=active',
  'generalStatus=finished': '&generalStatus=finished',
  'name in all': `&name=${encodeURIComponent('осінь')}`,
  'name in a tenth': '&name=rare',
  'name in none': '&name=nothing',
  'sku of all': '&sku=all',
  'sku of a hundredth': '&sku=s7&sku=none',
  'dates of all': '&dateFrom=2020-01-01&dateTo=2039-01-01',
  'all filters': `&name=${encodeURIComponent('осінь')}&generalStatus=finished&sku=all&dateFrom=2020-01-01&dateTo=2039-01-01`,
}

type Merchant = { token: string; count: number }
type Merchants = { platform: CampaignPlatform; large: Merchant; small: Merchant }

export const merchantListCase: Case = {
  name: 'merchant-list',
  run: bench =>
    using(serveCampaigns(bench, database), async platform => {
      const large = { token: platform.merchantToken, count: bench.quick ? 20_000 : 100_000 }
      const small = { token: await addMerchant(platform), count: few }
      for (const merchant of [large, small]) await fill(bench, platform, merchant)
      await bench.server.run(database, 'vacuum analyze', 'checkpoint')
      return measure(bench, { platform, large, small })
    }),
}

async function measure(bench: Bench, merchants: Merchants): Promise<Figure[]> {
  const figures: Figure[] = []
  const lastPage = merchants.large.count / pageSize
  for (const page of [1, lastPage / 2, lastPage]) {
    const bySort: Compared[] = []
    for (const sort of sorts) bySort.push(await comparePages(bench, merchants, { page, query: sort }))
    const slowest = bySort.reduce((one, other) => (other.ratio > one.ratio ? other : one))
    const name = `page ${page.toLocaleString('en')}`
    figures.push(figureOf(`${name}, the slowest of ${sorts.length} sorts: ${sorts[bySort.indexOf(slowest)]}`, slowest))
    for (const [filter, query] of Object.entries(filters))
      figures.push(figureOf(`${name}, ${filter}`, await comparePages(bench, merchants, { page, query })))
  }
  const fresh = figureOf(
    'pages that nobody has read before, full ones against empty ones',
    await compareFreshPages(merchants),
  )
  figures.push({ ...fresh, target: '', pass: null })
  figures.push(...(await compareAfterChange(merchants)))
  const sizes = `${merchants.large.count.toLocaleString('en')} campaigns against ${few.toLocaleString('en')}`
  return figures.map(figure => ({ ...figure, name: `${sizes}: ${figure.name}` }))
}

const figureOf = (name: string, { ours, limit, ratio }: Compared): Figure => ({
  name,
  ours: `${ours.toFixed(2)} ms`,
  limit: `${limit.toFixed(2)} ms`,
  ratio,
  target: `<= ${target}`,
  pass: ratio <= target,
})

function comparePages(
  bench: Bench,
  merchants: Merchants,
  { page, query }: { page: number; query: string },
): Promise<Compared> {
  const path = `/cashbacks/for-merchant?pageSize=${pageSize}&page=${page}${query}`
  return compareReads(merchants, Array(bench.quick ? 20 : 60).fill(path))
}

/**
 * Compares reads of pages that nobody has read before. For such a page, the order of the campaigns is cached, but not
 * their content. The small merchant has fewer campaigns, so these pages are empty for it.
 */
function compareFreshPages(merchants: Merchants): Promise<Compared> {
  const lastPage = merchants.large.count / pageSize
  const pages = Array.from({ length: 100 }, (_, index) => lastPage - index)
  return compareReads(
    merchants,
    pages.map(page => `/cashbacks/for-merchant?pageSize=${pageSize}&page=${page}&sortBy=dateTo`),
  )
}

/** Reads one path after the other, alternating between both merchants, so that other load on the machine affects both alike. */
function compareReads({ platform, large, small }: Merchants, paths: string[]): Promise<Compared> {
  const reader = ({ token }: Merchant) => {
    const left = [...paths]
    return () => timeToRead(platform.port, token, left.pop() ?? '')
  }
  return compare(paths.length, reader(large), reader(small))
}

/** Measures the first read after a campaign has changed. The figures have no target. */
async function compareAfterChange({ platform, large, small }: Merchants): Promise<Figure[]> {
  const queries = {
    'default sort': '',
    'sortBy=percentage': '&sortBy=percentage',
    'name in all': filters['name in all'],
  }
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(queries)) {
    const time = async (merchant: Merchant): Promise<number> => {
      await createCampaign({ ...platform, merchantToken: merchant.token }, period())
      const start = performance.now()
      await platform.call('GET', `/cashbacks/for-merchant?pageSize=${pageSize}${query}`, merchant.token)
      return performance.now() - start
    }
    const compared = await compare(
      7,
      () => time(large),
      () => time(small),
    )
    figures.push({ ...figureOf(`first read after a change, ${name}`, compared), target: '', pass: null })
  }
  return figures
}

const period = () => ({ dateFrom: new Date(Date.now() + dayMs), dateTo: new Date(Date.now() + 9 * dayMs) })

async function addMerchant(platform: CampaignPlatform): Promise<string> {
  const directory = 'merchants:\n  - { code: small, name: Small, terminals: [{ terminalId: S-1 }] }\n'
  await platform.call('POST', '/admin/directory', platform.operatorKey, { directory, files: {} })
  const { body } = await platform.call('POST', '/admin/credentials', platform.operatorKey, { merchant: 'small' })
  return (await platform.call('POST', '/getToken/auth', platform.operatorKey, body)).body.access_token
}

/** Makes copies of a campaign in all statuses of the list, with different names, SKUs, dates and percentages. */
async function fill(bench: Bench, platform: CampaignPlatform, { token, count }: Merchant): Promise<void> {
  const one = await createCampaign({ ...platform, merchantToken: token }, period())
  await bench.server.run(
    database,
    `insert into campaigns (${await columnsOf(platform.database, 'campaigns')})
     select ${await columnsOf(platform.database, 'campaigns', 'copy')}
     from campaigns c, generate_series(1, ${count - 1}) n, jsonb_populate_record(c, jsonb_build_object(
       'cashback_id', gen_random_uuid(), 'name', 'Осінь ' || n || case when n % 10 = 0 then ' Rare' else '' end,
       'description', repeat('d', 300), 'sku', array['all', 's' || n % 100], 'percentage', n % 100,
       'status', (array['awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active',
         'awaitingCompensationConfirmation', 'completed', 'declined', 'expired'])[1 + n % 8],
       'date_from', timestamptz '2027-01-01Z' + n % 500 * interval '1 day',
       'date_to', timestamptz '2029-01-01Z' + n % 700 * interval '1 day',
       'created_at', c.created_at - n * interval '1 minute',
       'updated_at', c.created_at - n * 7919 % 100000 * interval '1 second')) copy
     where c.cashback_id = '${one}'`,
    `insert into campaign_banks (cashback_id, bank_id, status, created_at, campaign_status, date_to)
     select p.cashback_id, b.bank_id, 'pending', p.created_at, p.status, p.date_to
     from campaigns o join campaigns p using (merchant_id) join campaign_banks b on b.cashback_id = o.cashback_id
     where o.cashback_id = '${one}' and p.cashback_id <> '${one}'`,
  )
}
