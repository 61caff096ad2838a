/** The audit in pieces: at the borders between pieces, nothing is missed and nothing is reported twice. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { campaignSteps } from '../../src/campaigns/lifecycle/audit-steps.ts'
import { createClock } from '../../src/clock.ts'
import type { Queryable } from '../../src/db/database.ts'
import { createSealing } from '../../src/esim/stock/sealing.ts'
import { applyDirectory } from '../../src/partners/operations.ts'
import { createSealer } from '../../src/sealing.ts'
import { audit } from '../../src/upkeep/audit/audit.ts'
import { prepare } from '../../src/upkeep/audit/store.ts'
import { webhookPurpose } from '../../src/webhooks/stored-secrets.ts'
import { columnsOf } from '../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, openMerchant } from '../support/campaigns.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

type Broken = [what: string, change: string, undo: string, code: string, total: number]

const totalOf = (detail: string) => detail.split('; ').length + (/; and (\d+) more$/.exec(detail) ? -1 : 0)
const foundIn = (detail: string) => totalOf(detail) + Number(/; and (\d+) more$/.exec(detail)?.[1] ?? 0)

suite('orders and profiles', () => {
  const piece = 20_000
  const count = 2 * piece + 1_000
  /** The positions of the broken rows: the first row, the last row, and the rows around the borders of pieces. */
  const places = [1, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 1, count]
  const listed = places.join(', ')
  const bank = randomUUID()
  let scratch: TestDatabase
  const run = (text: string) => scratch.database.execute(text)
  const prove = () =>
    audit(
      {
        database: scratch.database,
        sealing: createSealing([randomBytes(32)], randomBytes(32)),
        webhooks: { sealer: createSealer([randomBytes(32)], webhookPurpose) },
        masterKeys: [randomBytes(32)],
        retention: { reportLinesDays: null, segmentsDays: null, msisdnDays: 1 },
      },
      new Date('2026-11-21T12:00:00Z'),
    )
  const brokenChecks = async () =>
    // The profiles of this test are not sealed.
    (await prove()).checks.filter(({ code, ok }) => !ok && code !== 'sealed-profiles')

  before(async () => {
    scratch = await createTestDatabase()
    const directory = `
banks: [{ code: alpha, name: Alpha, id: ${bank}, esim: { operators: all } }]
esim:
  operators:
    - { code: star, nameUk: Зоря, country: UA, tariffs: [{ code: a, name: A, price: 1, currency: UAH, validityDays: 1 }] }
`
    await applyDirectory(
      { database: scratch.database, clock: createClock() },
      { directory, files: new Map(), dryRun: false },
    )
    // Drops the database's constraints, so that the test can store rows that they would refuse. The indexes stay, but
    // are no longer unique.
    await run('alter table orders drop constraint orders_bank_external_id_key')
    await run('drop index orders_live_profile_key')
    await run(`create index on orders (profile_id) where status in ('reserved', 'confirmed', 'withdrawn')`)
    await run('create index on orders (bank_id, external_id)')
    await run(`insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
      select 1, int4send(n), '', '\\x00', now() from generate_series(1, ${count}) n`)
    await run(`insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                                   confirmed_at, delivery_mode)
      select ${orderId('n')}, '${bank}', 'e' || lpad(n::text, 6, '0'), 1, n, 'confirmed', 1, 'UAH', '2026-11-11T11:00Z', '2026-11-11T11:15Z',
        '2026-11-11T11:05Z', 'local'
      from generate_series(1, ${count}) n`)
    await run(`insert into stock_positions (tariff_id, taken_up_to) values (1, ${count})`)
  })
  after(() => scratch.close())

  const orderId = (n: string) => `lpad(to_hex(${n}), 32, '0')::uuid`
  const ofPlaces = `order_id in (select ${orderId('n')} from unnest(array[${listed}]) n)`
  const copies = (column: string) => {
    const columns =
      'tariff_id, status, price, currency, created_at, reserved_until, confirmed_at, delivery_mode, bank_id'
    return column === 'profile_id'
      ? `insert into orders (order_id, external_id, profile_id, ${columns}) select gen_random_uuid(), order_id, profile_id, ${columns}`
      : `insert into orders (order_id, external_id, profile_id, ${columns}) select gen_random_uuid(), external_id, profile_id + 1000000, ${columns}`
  }
  const removeCopies = `delete from orders where order_id > ${orderId(String(count))}`

  test('sound books are sound', async () => {
    assert.deepEqual(await brokenChecks(), [])
    const { checks } = await prove()
    assert.equal(
      checks[0]?.detail,
      `${count} profiles of 1 tariffs are 0 free, 0 reserved, ${count} sold and 0 withdrawn`,
    )
  })

  const broken: Broken[] = [
    [
      'profiles on two live orders',
      `${copies('profile_id')} from orders where ${ofPlaces}`,
      removeCopies,
      'live-orders',
      places.length,
    ],
    [
      'externalIds with two orders',
      `${copies('external_id')} from orders where ${ofPlaces}`,
      removeCopies,
      'external-ids',
      places.length,
    ],
    [
      'orders of no profile',
      `update orders set profile_id = -profile_id where ${ofPlaces}`,
      'update orders set profile_id = -profile_id where profile_id < 0',
      'order-references',
      places.length,
    ],
    [
      'orders in no state of the table',
      `update orders set mail = 'sent', delivery_mode = null where ${ofPlaces}`,
      `update orders set mail = null, delivery_mode = 'local'`,
      'order-values',
      places.length,
    ],
    [
      'profiles lost for sale',
      `update orders set profile_id = profile_id + 1000000 where ${ofPlaces}`,
      'update orders set profile_id = profile_id - 1000000 where profile_id > 1000000',
      'lost-profiles',
      places.length,
    ],
    [
      'notes of profiles that are not there',
      `insert into returned_profiles select n + ${count}, 1 from generate_series(1, ${count}) n`,
      'truncate returned_profiles',
      'returned-profiles',
      count,
    ],
    [
      'phone numbers that are too old',
      `update profiles set msisdn = '+1' where profile_id in (${listed})`,
      `update profiles set msisdn = ''`,
      'msisdn-retention',
      places.length,
    ],
  ]
  for (const [what, change, undo, code, total] of broken)
    test(`each of these is found once: ${what}`, async () => {
      await run('alter table orders drop constraint if exists orders_confirmed_check')
      await run(change)
      const found = (await brokenChecks()).find(check => check.code === code)
      assert.equal(foundIn(found?.detail ?? ''), total, found?.detail)
      await run(undo)
      assert.deepEqual(await brokenChecks(), [])
    })
})

suite('campaigns', () => {
  const piece = 200
  const count = 2 * piece + 5
  const places = [1, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 1, count]
  let platform: TestPlatform
  const run = (text: string) => platform.platform.database.execute(text)
  const brokenChecks = async () =>
    (await audit(platform.platform.deps.admin, new Date())).checks.filter(({ ok }) => !ok)
  const copied = ['campaigns', 'campaign_banks', 'campaign_history']
  const idOf = (n: string) => `lpad(to_hex(${n}), 32, '0')::uuid`
  const ofPlaces = `cashback_id in (select ${idOf('n')} from unnest(array[${places.join(', ')}]) n)`

  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory })
    const id = await createCampaign(platform, {}, await openMerchant(platform))
    // Copies of one campaign with ascending ids; the original is deleted.
    for (const [table, own] of [
      ['campaigns', ''],
      ['campaign_banks', ''],
      ['campaign_history', 'history_id'],
    ] as const) {
      const columns = (await columnsOf(platform.platform.database, table)).split(', ').filter(column => column !== own)
      const values = columns.map(column =>
        column === 'cashback_id'
          ? idOf('n')
          : column === 'card'
            ? `replace(card, '${id}', ${idOf('n')}::text)`
            : column,
      )
      await run(`insert into ${table} (${columns}) select ${values} from ${table} cross join generate_series(1, ${count}) n
        where cashback_id = '${id}'`)
    }
    for (const table of copied.toReversed()) await run(`delete from ${table} where cashback_id = '${id}'`)
    await run(`update campaign_counts set campaigns = campaigns * ${count}`)
    for (const table of copied) await run(`create table kept_${table} as table ${table}`)
  })
  after(() => platform.close())

  const broken: [what: string, change: string, code: string][] = [
    ['cards', `update campaigns set name = 'Other' where ${ofPlaces}`, 'campaign-texts'],
    ['states', `update campaigns set status = 'deleted' where ${ofPlaces}`, 'history-present'],
    ['parts', `update campaign_banks set created_at = now() where ${ofPlaces}`, 'bank-parts'],
    [
      'moves',
      `update campaign_history set trigger = 'pay' where subject = 'campaign' and ${ofPlaces}`,
      'history-moves',
    ],
    [
      'gaps',
      `update campaign_history set from_state = 'active' where subject = 'campaign' and ${ofPlaces}`,
      'history-gaps',
    ],
    ['counts of reports', `update campaign_banks set bank_report_uploads = 1 where ${ofPlaces}`, 'report-counts'],
  ]
  for (const [what, change, code] of broken)
    test(`each of these is found once: ${what}`, async () => {
      assert.deepEqual(await brokenChecks(), [])
      const changed = await run(change)
      assert.ok(changed >= places.length)
      const found = (await brokenChecks()).find(check => check.code === code)
      assert.equal(foundIn(found?.detail ?? ''), changed, found?.detail)
      for (const table of copied.toReversed()) await run(`delete from ${table}`)
      for (const table of copied) {
        const columns = await columnsOf(platform.platform.database, table)
        await run(`insert into ${table} (${columns}) overriding system value select ${columns} from kept_${table}`)
      }
    })

  test('campaigns of banks and histories that are not there are found behind the last one, too', async () => {
    await run('alter table campaign_history drop constraint if exists campaign_history_cashback_id_fkey')
    const columns = (await columnsOf(platform.platform.database, 'campaign_history')).split(', ')
    const values = columns.map(column =>
      column === 'cashback_id'
        ? `'ffffffff-ffff-4fff-8fff-ffffffffffff'`
        : column === 'history_id'
          ? 'history_id + 1000000'
          : column,
    )
    await run(`insert into campaign_history (${columns}) overriding system value select ${values} from campaign_history
      where cashback_id = ${idOf('1')}`)
    assert.match(
      (await brokenChecks()).find(({ code }) => code === 'history-present')?.detail ?? '',
      /ffffffff.* is nothing, by its history/,
    )
  })
})

suite('large segments', () => {
  const [count, customers] = [5, 500_000]
  let scratch: TestDatabase
  before(async () => {
    scratch = await createTestDatabase()
    // The test needs no campaigns.
    await scratch.database.execute('alter table campaign_segments drop constraint campaign_segments_bank_fkey')
    for (let n = 1; n <= count; n++)
      await scratch.database.execute(`
        insert into campaign_segments (cashback_id, bank_id, segment_id, customers_count, customer_ids, formed_at, source_file_name)
        select lpad('${n}', 32, '0')::uuid, gen_random_uuid(), gen_random_uuid(), ${customers} + ${n % 2},
          '[' || repeat('"customer-0000000000-0000000000-00000",', ${customers - 1}) || '"x"]', now(), 'x.csv'`)
  })
  after(() => scratch.close())

  test('are read two at a time, and each is checked once', async () => {
    const step = campaignSteps(() => []).find(({ name }) => name === 'segments') ?? assert.fail('no step')
    const pieces = await scratch.database.dedicated(async client => {
      const connection: Queryable = {
        query: async text => (await client.query(text as string)).rows,
        tuples: () => assert.fail('not used'),
        execute: async text => (await client.query(text as string)).rowCount ?? 0,
      }
      await prepare(connection)
      const pieces = [await step.next(connection, null)]
      for (let last = pieces[0]; last?.reached; last = pieces.at(-1))
        pieces.push(await step.next(connection, last.reached))
      return pieces
    })
    assert.deepEqual(
      pieces.map(({ findings }) => findings.length),
      [1, 1, 1],
    )
    for (const { text } of pieces.flatMap(({ findings }) => findings))
      assert.match(text, /has 500001 customers in its segment, but 500000 are listed$/)
  })
})
