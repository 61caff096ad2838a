/**
 * `perkline audit` on the stock: every check passes on correct books, and each fails on books that the test has broken.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createClock } from '../../../src/clock.ts'
import { createSealing } from '../../../src/esim/stock/sealing.ts'
import { applyDirectory } from '../../../src/partners/operations.ts'
import { createSealer } from '../../../src/sealing.ts'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { webhookPurpose } from '../../../src/webhooks/stored-secrets.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let scratch: TestDatabase
const run = (text: string) => scratch.database.execute(text)
const now = new Date('2026-11-21T12:00:00Z')
const bank = randomUUID()

const books = 'every profile is either free, reserved, sold or withdrawn'
const live = 'no profile is on two live orders'
const references = 'every order names a bank, a tariff and a profile that exist'
const states = 'every order has a known status'
const fields = 'every order has the data that its status requires'
const externalIds = 'no externalId of a bank has two orders'
const lost = 'every free profile can be sold'
const returned = 'every returned profile belongs to its tariff'
const sealed = 'encrypted data belongs to its profile'
const salesDays = 'the sales figures by day equal those by hour'
const counters = 'the counters of stock equal the profiles'
const salesHours = 'the sales figures by hour equal the orders'
const lines = 'each confirmed order has one line, for what was sold'
const masterKeys = [randomBytes(32)]
const sealing = createSealing(masterKeys, randomBytes(32))
const webhooks = { sealer: createSealer(masterKeys, webhookPurpose) }
const retention = { reportLinesDays: null, segmentsDays: null, msisdnDays: null }

before(async () => {
  scratch = await createTestDatabase()
  await applyDirectory(
    { database: scratch.database, clock: createClock() },
    {
      directory: `
banks: [{ code: alpha, name: Alpha, id: ${bank}, esim: { operators: all } }]
esim:
  operators:
    - { code: star, nameUk: Зоря, country: UA, tariffs: [
        { code: a, name: A, price: 1, currency: UAH, validityDays: 1 }, { code: b, name: B, price: 1, currency: UAH, validityDays: 1 }] }
`,
      files: new Map(),
      dryRun: false,
    },
  )
  // Removes the database's constraints, so that the test can store what an audit must find.
  for (const { name } of await scratch.database.query<{ name: string }>(
    `select conname as name from pg_constraint where conrelid = 'orders'::regclass and conname <> 'orders_pkey' and contype <> 'n'`,
  ))
    await run(`alter table orders drop constraint ${name}`)
  await run('drop index orders_live_profile_key')
  await run('alter table profiles drop constraint profiles_tariff_id_fkey')
  await run('alter table profiles drop constraint profiles_iccid_hash_key')
})
after(() => scratch.close())

const orderId = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

/** Tariff a (1): profiles 1 to 9, of which 6 to 9 are free; tariff b (2): profile 10, free. */
beforeEach(async () => {
  await run('truncate orders, profiles, returned_profiles, stock_positions restart identity cascade')
  await run(
    'truncate outbox, sales_days, sales_hours, tariff_sales_days, tariff_sales_hours, tariff_sales, tariff_stock',
  )
  for (let profileId = 1; profileId <= 10; profileId++) {
    const tariffId = profileId === 10 ? 2 : 1
    const iccid = `89380010000000000${profileId}`
    const iccidHash = sealing.hashIccid(iccid)
    const secrets = sealing.seal(
      { iccid, pin1: '0042', activationCode: 'LPA:1$smdp.example$A' },
      { profileId, tariffId, iccidHash },
    )
    await scratch.database.execute(
      `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at) values ($1, $2, '+1', $3, now())`,
      [tariffId, iccidHash, secrets],
    )
  }
  await run(`insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                                 confirmed_at, cancelled_at, delivery_mode, mail)
    values ('${orderId(1)}', '${bank}', 'e1', 1, 1, 'confirmed', 1, 'UAH', '2026-11-21T11:00Z', '2026-11-21T11:15Z', '2026-11-21T11:05Z', null, 'local', null),
           ('${orderId(2)}', '${bank}', 'e2', 1, 2, 'reserved', 1, 'UAH', '2026-11-21T11:50Z', '2026-11-21T12:05Z', null, null, null, null),
           ('${orderId(3)}', '${bank}', 'e3', 1, 3, 'reserved', 1, 'UAH', '2026-11-21T11:40Z', '2026-11-21T11:55Z', null, null, null, null),
           ('${orderId(4)}', '${bank}', 'e4', 1, 4, 'cancelled', 1, 'UAH', '2026-11-21T11:00Z', '2026-11-21T11:15Z', null, '2026-11-21T11:01Z', null, null),
           ('${orderId(5)}', null, null, 1, 5, 'withdrawn', 0, '', '2026-11-21T11:00Z', '2026-11-21T11:00Z', null, null, null, null),
           ('${orderId(6)}', '${bank}', 'e6', 1, 6, 'expired', 1, 'UAH', '2026-11-21T10:00Z', '2026-11-21T10:15Z', null, null, null, null),
           ('${orderId(7)}', '${bank}', 'e7', 1, 6, 'confirmed', 1, 'UAH', '2026-11-21T10:20Z', '2026-11-21T10:35Z', '2026-11-21T10:21Z', null, 'qr_email', 'sent')`)
  await run('insert into returned_profiles (profile_id, tariff_id) values (4, 1)')
  await run('insert into stock_positions (tariff_id, taken_up_to) values (1, 6)')
})

test('sound books: all checks hold, and a reservation that is over counts as free, marked or not', async () => {
  const { ok, checks } = await audit({ database: scratch.database, sealing, webhooks, masterKeys, retention }, now)
  assert.deepEqual(
    checks.filter(check => !check.ok),
    [],
  )
  assert.ok(ok)
  assert.deepEqual(
    checks.slice(0, 9).map(({ name }) => name),
    [books, sealed, live, references, states, fields, externalIds, lost, returned],
    'those of campaigns follow',
  )
  assert.equal(checks[0]?.detail, '10 profiles of 2 tariffs are 6 free, 1 reserved, 2 sold and 1 withdrawn')
})

const update = (n: number, set: string) => `update orders set ${set} where order_id = '${orderId(n)}'`
const copyOrder = (n: number, values: { profile_id?: number; external_id?: string }) => `
  insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                      confirmed_at, cancelled_at, delivery_mode, mail)
  select '${orderId(9)}', bank_id, ${values.external_id ? `'${values.external_id}'` : 'external_id'}, tariff_id,
         ${values.profile_id ?? 'profile_id'}, status, price, currency, created_at, reserved_until,
         confirmed_at, cancelled_at, delivery_mode, mail from orders where order_id = '${orderId(n)}'`

const broken: [what: string, change: string, red: string[], detail: RegExp][] = [
  [
    'a profile sold twice',
    copyOrder(1, { external_id: 'x' }),
    [books, live],
    /^profile 1 is on the live orders 0.*1, 0.*9$/,
  ],
  [
    'a sold profile that a reservation holds, over but unmarked',
    copyOrder(3, { external_id: 'x', profile_id: 1 }),
    [live],
    /^profile 1 /,
  ],
  ['an order of no bank', update(1, `bank_id = '${randomUUID()}'`), [references], /^order 0.*1 names a bank that/],
  [
    'an order of no tariff',
    update(1, 'tariff_id = 99'),
    [books, references, counters],
    /names a tariff that does not exist$/,
  ],
  [
    'an order of no profile',
    update(1, 'profile_id = 99'),
    [books, references, lost, counters],
    /names a profile that does not exist$/,
  ],
  [
    'an order of another tariff',
    update(1, 'tariff_id = 2'),
    [books, references, counters],
    /is of another tariff than its profile$/,
  ],
  [
    'a profile that vanished',
    'delete from profiles where profile_id = 1',
    [books, references, counters],
    /names a profile that does/,
  ],
  [
    'a profile that changed its tariff',
    'update profiles set tariff_id = 2 where profile_id = 2',
    [books, sealed, references, counters],
    /0002 is of another/,
  ],
  ['an unknown status', update(4, `status = 'lost'`), [states, fields, salesHours], /^order 0.*4 has the status lost$/],
  ['an unknown delivery mode', update(1, `delivery_mode = 'pigeon'`), [states], /has the delivery mode pigeon$/],
  ['an unknown mail state', update(7, `mail = 'lost'`), [states], /has the mail state lost$/],
  ['a confirmed order without its time', update(1, 'confirmed_at = null'), [fields], /is confirmed, but the time/],
  ['a confirmed order without its delivery mode', update(1, 'delivery_mode = null'), [fields], /but its delivery mode/],
  [
    'a reserved order with a confirmation',
    update(2, `confirmed_at = '2026-11-21T11:59Z'`),
    [fields],
    /is reserved, but the time/,
  ],
  [
    'a confirmation after the end',
    update(1, `confirmed_at = reserved_until`),
    [fields],
    /only after its reservation was over$/,
  ],
  [
    'a cancelled order without its time',
    update(4, 'cancelled_at = null'),
    [fields],
    /is cancelled, but the time of its canc/,
  ],
  ['a mail for an order that was not confirmed', update(2, `mail = 'sent'`), [fields], /is reserved, but an e-mail/],
  ['a sale without a bank', update(1, 'bank_id = null'), [fields], /its bank and externalId do not fit$/],
  [
    'a withdrawal by a bank',
    update(5, `bank_id = '${bank}', external_id = 'x'`),
    [fields],
    /is withdrawn, but its bank/,
  ],
  ['an externalId with two orders', copyOrder(4, {}), [externalIds], /^the orders 0.*4, 0.*9 have the same bank/],
  [
    'a profile given back but not noted',
    'delete from returned_profiles',
    [lost],
    /^profile 4 of star\/a is free, but no sale finds it$/,
  ],
  [
    'a position past unsold profiles',
    'update stock_positions set taken_up_to = 8',
    [lost],
    /profile [78] .*; profile [78] /,
  ],
  [
    'a profile noted for another tariff',
    'update returned_profiles set tariff_id = 2',
    [lost, returned],
    /belongs to another tariff$/,
  ],
  [
    'the secrets of a profile moved to one of another tariff',
    `update profiles p set iccid_hash = o.iccid_hash, sealed = o.sealed from profiles o
     where p.profile_id = 10 and o.profile_id = 9`,
    [sealed],
    /^profile 10 does not open: it was changed, or moved from another row$/,
  ],
  ['a sale that is not in the figures', 'truncate outbox', [salesHours, counters, lines], /but the figures say 0/],
  [
    'a figure of a day without its sale',
    `with of_all as (insert into tariff_sales_days values ('2026-11-20', 1, 'confirmed', 2))
     insert into sales_days values ('2026-11-20', '${bank}', 1, 'UAH', 1, 'confirmed', 2)`,
    [salesDays],
    /^the day 2026-11-20 has 0 confirmed orders of bank .* and tariff 1, but the figures say 2$/,
  ],
  [
    'a sum of all banks in a day without its sale',
    `insert into tariff_sales_days values ('2026-11-20', 1, 'confirmed', 2)`,
    [salesDays],
    /^the day 2026-11-20 has 0 confirmed orders of all banks and tariff 1, but the figures say 2$/,
  ],
  [
    'a sum of all banks in an hour without its sale',
    `insert into tariff_sales_hours values ('2026-11-20T10:00:00Z', 1, 'confirmed', 2)`,
    [salesHours],
    /^the hour 2026-11-20 10:00:00\+00 has 0 confirmed orders of all banks and tariff 1, but the figures say 2$/,
  ],
  [
    'a wrong counter',
    'insert into tariff_sales values (2, 1, 0)',
    [counters],
    /^tariff 2: .* counters say 1, 1 and 0$/,
  ],
  [
    'so little counted stock that its ids seem to be far apart',
    'update tariff_stock set loaded = 2 where tariff_id = 1',
    [counters],
    /^tariff 1: profile by profile 9 loaded, 2 sold and 1 withdrawn, but the counters say 2, 2 and 1$/,
  ],
  [
    'stock that was not counted',
    'update tariff_stock set loaded = loaded - 1 where tariff_id = 2',
    [counters],
    /^tariff 2: profile by profile 1 loaded, 0 sold and 0 withdrawn, but the counters say 0, 0 and 0$/,
  ],
  [
    'a note of no profile',
    'insert into returned_profiles values (99, 1)',
    [returned],
    /^profile 99 was given back, but is not in/,
  ],
]
for (const [what, change, red, detail] of broken) {
  test(`red: ${what}`, async () => {
    assert.equal(await run(change), change.startsWith('truncate') ? 0 : 1)
    const result = await audit({ database: scratch.database, sealing, webhooks, masterKeys, retention }, now)
    const failed = result.checks.filter(({ ok }) => !ok)
    assert.equal(result.ok, false)
    assert.deepEqual(
      failed.map(({ name }) => name),
      red,
    )
    assert.ok(
      failed.some(check => detail.test(check.detail)),
      failed.map(check => check.detail).join('\n'),
    )
  })
}

test('ten faults of a check are named, the others counted', async () => {
  await run(`insert into returned_profiles select n, 1 from generate_series(100, 125) n`)
  const check = (
    await audit({ database: scratch.database, sealing, webhooks, masterKeys, retention }, now)
  ).checks.find(({ name }) => name === returned)
  assert.equal(check?.detail.split('; ').length, 11)
  assert.match(check?.detail ?? '', /; and 16 more$/)
})
