/**
 * The database's statistics may be from a time when no statement was closed, for example on the first day after an
 * upgrade. Even then, looking up an order must not read the lines of all closed statements.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { each, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsReadBy } from '../support/table-reads.ts'

const sold = 20_000
const read = 100

let platform: TestPlatform
let database: Database
let token: string
let orderIds: string[]
before(async () => {
  platform = await startPlatform()
  database = platform.platform.database
  token = await platform.bankToken()
  await database.execute('alter table statement_lines set (autovacuum_enabled = false)')
  await database.execute(
    `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
     select tariff_id, int4send(n), '+' || 380670000000 + n, '', now() from tariffs, generate_series(1, $1) n where code = 'eu-10gb'`,
    [sold],
  )
  const now = platform.platform.deps.esim.clock.now()
  await database.execute(
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                         confirmed_at, delivery_mode)
     select uuid_at($1::timestamptz, profile_id), bank_id, 'sold-' || profile_id, tariff_id, profile_id, 'confirmed', 1, 'UAH',
            $1::timestamptz, $1::timestamptz + interval '15 minutes', $1::timestamptz, 'local'
     from profiles, banks where banks.code = 'alpha'`,
    [now],
  )
  await database.execute(
    `insert into statement_lines (order_id, bank_id, external_id, tariff_id, tariff_name, confirmed_at, currency, amount)
     select order_id, bank_id, external_id, tariff_id, 'EU', confirmed_at, currency, price from orders`,
  )
  for (const table of ['orders', 'profiles', 'statement_lines']) await database.execute(`analyze ${table}`)
  await platform.call('POST', '/sandbox/clock', { token: platform.config.operatorKey, body: { advance: 'P2D' } })
  await until('the day is closed', async () => {
    const open = await database.query('select from statement_lines where statement_id is null limit 1')
    return open.length === 0
  })
  const orders = await database.query<{ id: string }>(
    `select order_id as id from orders order by order_id limit ${read}`,
  )
  orderIds = orders.map(({ id }) => id)
})
after(() => platform.close())

const countReads = (work: (sibling: TestPlatform, token: string) => Promise<void>): Promise<number> =>
  rowsReadBy(platform, 'statement_lines', sibling => work(sibling, token))

/** The jobs of a process read some lines, too. */
const allowed = sold * 5

for (const [what, work] of Object.entries<(sibling: TestPlatform, token: string) => Promise<void>>({
  'one order after the other': async (sibling, token) => {
    const paths = orderIds.flatMap(id => [`/partner/v1/orders/${id}`, `/esim/v1/orders/${id}`])
    for (const { status, text } of await each(paths, 8, path => sibling.call('GET', path, { token })))
      assert.equal(status, 200, text)
  },
  'a page of the list': async (sibling, token) => {
    const { body } = await sibling.call('GET', `/partner/v1/orders?limit=${read}`, { token })
    assert.equal(body.data.length, read)
  },
  'a page of people': async (sibling, token) => {
    assert.equal((await sibling.call('GET', '/portal/esim/orders', { token })).status, 200)
  },
  'a file of programs': async (sibling, token) => {
    assert.equal((await sibling.call('GET', '/partner/v1/orders.csv', { token })).status, 200)
  },
  'a file of people': async (sibling, token) => {
    const { status, text } = await sibling.call('GET', '/portal/esim/orders.csv?externalId=sold-12', { token })
    assert.ok(status === 200 && text.split('\r\n').length > read, text.slice(0, 200))
  },
}))
  test(`${what} reads the lines of its orders only`, async () => {
    const count = await countReads(work)
    assert.ok(count < allowed, `${count} lines were read`)
  })
