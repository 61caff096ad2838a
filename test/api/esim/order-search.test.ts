/** Searches among many orders find the same orders as a scan of all orders. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../../src/db/database.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type Browser, openBrowser } from '../../support/portal.ts'

/**
 * More orders than a search reads by the beginning of an identifier (1,000) or among the newest (5,000) before it tries
 * another way.
 */
const many = 14_000

let platform: TestPlatform
let database: Database
let viewer: Browser
before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'portal', 'admin'] })
  database = platform.platform.database
  viewer = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
  await database.execute(
    `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
     select tariff_id, int4send(n), '+' || 380670000000 + n, '', now() from tariffs, generate_series(1, $1) n where code = 'eu-10gb'`,
    [many],
  )
  // Orders spread over a month, of two banks, with all tariffs and statuses; some identifiers contain the day, others
  // are random.
  await database.execute(
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                         confirmed_at, delivery_mode, cancelled_at)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || right(md5(n::text), 3) || '8' || left(md5(n::text), 15))::uuid,
            bank_id, case when n % 100 = 0 then 'odd-' || md5(n::text) else to_char(at, 'DD') || '-' || n end, tariff_id, profile_id, status,
            1, 'UAH', at, at + interval '15 minutes', case when status = 'confirmed' then at end,
            case when status = 'confirmed' then 'local' end, case when status = 'cancelled' then at end
     from (
       select row_number() over (order by profile_id)::int as n, profile_id from profiles
     ) p
     cross join lateral (select timestamptz '2026-01-01Z' + n * interval '185.5 s' as at) a
     join (select bank_id, row_number() over (order by code) - 1 as place from banks where code in ('alpha', 'beta')) b on b.place = (n % 13 = 0)::int
     join (select tariff_id, row_number() over (order by tariff_id) - 1 as place from tariffs) t on t.place = n % 5
     cross join lateral (
       select (array['confirmed', 'confirmed', 'confirmed', 'cancelled', 'expired', 'reserved'])[1 + n * 7 % 6] as status) s`,
  )
})
after(() => platform.close())

const filters = {
  none: ['true', {}],
  status: [`o.status = 'cancelled'`, { status: 'cancelled' }],
  // No job runs here, so expired reservations are still stored as `reserved`.
  expired: [`o.status in ('expired', 'reserved')`, { status: 'expired' }],
  reserved: ['false', { status: 'reserved' }],
  operator: [`operator = 'roamwide'`, { operatorCode: 'roamwide' }],
  tariff: [`tariff = 'ua-5gb'`, { tariffCode: 'ua-5gb' }],
  'operator of another tariff': ['false', { operatorCode: 'roamwide', tariffCode: 'ua-5gb' }],
  days: [
    `created_at >= '2026-01-10Z' and created_at < '2026-01-12Z'`,
    { dateFrom: '2026-01-10', dateTo: '2026-01-11' },
  ],
  'few identifiers': [`external_id like 'odd-%'`, { externalId: 'odd-' }],
  'an old day': [`external_id like '0%'`, { externalId: '0' }],
  'the newest': [`external_id like '3%'`, { externalId: '3' }],
  'no identifier': ['false', { externalId: '99' }],
} as const satisfies Record<string, readonly [string, Record<string, string>]>
const names = Object.keys(filters) as (keyof typeof filters)[]

/** The expected result, found by a scan of all orders. */
async function expected(conditions: readonly string[], bank: string | null): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select order_id as id from orders o join banks b using (bank_id)
     join (
       select tariff_id, t.code as tariff, m.code as operator from tariffs t join mobile_operators m using (mobile_operator_id)
     ) t using (tariff_id)
     where ($1::text is null or b.code = $1) and ${conditions.join(' and ')} order by order_id desc`,
    [bank],
  )
  return rows.map(({ id }) => id)
}

type Page = { data: { orderId: string }[]; nextCursor: string | null }

/** Reads pages from the beginning, until the list ends or more than 500 orders were read. */
async function walk(read: (query: string) => Promise<Page>, asked: Record<string, string>): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const page: Page = await read(String(new URLSearchParams({ ...asked, limit: '200', ...(cursor && { cursor }) })))
    found.push(...page.data.map(({ orderId }) => orderId))
    cursor = page.nextCursor
    if (cursor === null || found.length > 500) return found
  }
}

for (const [index, one] of names.entries())
  test(`${one}, and together with each other filter`, async () => {
    for (const other of names.slice(index)) {
      const [conditions, asked] = [[filters[one][0], filters[other][0]], { ...filters[one][1], ...filters[other][1] }]
      // Skips pairs of filters with the same parameter, because the API refuses a parameter that is given twice.
      if (other !== one && Object.keys(filters[one][1]).some(key => key in filters[other][1])) continue
      const own = await expected(conditions, 'alpha')
      const read = async (query: string) => (await viewer.call('GET', `/portal/esim/orders?${query}`)).body
      assert.deepEqual(await walk(read, asked), own.slice(0, 600), `${one}, ${other}`)
      const { text } = await viewer.call('GET', `/portal/esim/orders.csv?${new URLSearchParams(asked)}`)
      const lines = text.trimEnd().split('\r\n').slice(1)
      assert.deepEqual(
        lines.map(line => line.slice(1, 37)),
        own,
      )
      const all = await expected(conditions, null)
      const readAll = async (query: string) =>
        (await platform.call('GET', `/admin/orders?${query}`, { token: platform.config.operatorKey })).body
      assert.deepEqual(await walk(readAll, asked), all.slice(0, 600), `${one}, ${other}, of all banks`)
    }
  })
