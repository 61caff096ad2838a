/** Nearly all orders and people belong to one bank. Requests from another bank must not read all of them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { callerWith, openPerson, type Person } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsReadBy } from '../support/table-reads.ts'

const sold = 60_000
const reserved = 10_000
const people = 20_000
const repeats = 8

let platform: TestPlatform
let database: Database
let person: Person
before(async () => {
  platform = await startPlatform()
  database = platform.platform.database
  await database.execute(
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                         confirmed_at, delivery_mode, ended_by)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
            bank_id, 'large-' || n, 1, n, case when n <= $1 then 'confirmed' else 'reserved' end, 1, 'UAH', at,
            case when n <= $1 then at else now() + interval '1 day' end, case when n <= $1 then at end, case when n <= $1 then 'local' end, 'test'
     from banks, generate_series(1, $1::int + $2::int) n, lateral (select now() - ($1 + $2 - n) * interval '1 minute' as at) made
     where code = 'alpha'`,
    [sold, reserved],
  )
  await database.execute(
    `with made as (
       insert into portal_users (user_id, bank_id, login, login_key, role, password_hash, created_at)
       select gen_random_uuid(), bank_id, 'large-' || n, 'large-' || n, 'VIEWER', '', now() from banks, generate_series(1, $1::int) n
       where code = 'alpha' returning user_id
     )
     insert into user_logins (user_id, last_at, failed_count, failed_since) select user_id, now(), 0, now() from made`,
    [people],
  )
  await database.execute('vacuum analyze orders, portal_users, user_logins')
  person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
})
after(() => platform.close())

for (const status of ['reserved', 'expired'])
  test(`${status} orders of a bank that has none`, async () => {
    const read = await rowsReadBy(platform, 'orders', async there => {
      const call = callerWith(there, person.token)
      for (let n = 0; n < repeats; n++) {
        const { status: code, text } = await call('GET', `/portal/esim/orders?status=${status}&tariffCode=ua-5gb`)
        assert.equal(code, 200, text)
      }
    })
    // The jobs of a starting process read the reservations once or twice.
    assert.ok(read < 4 * reserved, `${read} rows were read`)
  })

test('the session of one of many people', async () => {
  const read = await rowsReadBy(platform, '%user%', async there => {
    const call = callerWith(there, person.token)
    for (let n = 0; n < repeats; n++) {
      const { status, text } = await call('GET', '/portal/session')
      assert.equal(status, 200, text)
    }
  })
  assert.ok(read < 4 * people, `${read} rows were read`)
})

test('the people of another bank, for the operator', async () => {
  const read = await rowsReadBy(platform, 'portal_users', async there => {
    for (let n = 0; n < repeats; n++) {
      const { status, body } = await there.call('GET', '/admin/users?bank=beta', { token: platform.config.operatorKey })
      assert.deepEqual([status, body.length], [200, 1])
    }
  })
  assert.ok(read < people, `${read} rows were read`)
})

test('the partners, when nearly all people are of one bank', async () => {
  const read = await rowsReadBy(platform, 'portal_users', async there => {
    for (let n = 0; n < repeats; n++) {
      const { status, text } = await there.call('GET', '/admin/partners', { token: platform.config.operatorKey })
      assert.equal(status, 200, text)
    }
  })
  // Each request counts the people of the large bank once.
  assert.ok(read < (repeats + 2) * people, `${read} rows were read`)
})
