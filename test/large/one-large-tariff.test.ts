/**
 * Nearly all profiles belong to one tariff. Requests for other tariffs, and their sales, must not read all these
 * profiles. PostgreSQL chooses plans by statistics. By these, nearly every row belongs to the large tariff, so
 * PostgreSQL could decide to read the whole table.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { type Bank, bankAt, openBank, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsReadBy } from '../support/table-reads.ts'

const profiles = 200_000
const returned = 50_000
const soldOut = 'empty'
const small = 'ua-5gb'

let platform: TestPlatform
let database: Database
let bank: Bank
/** How many profiles were added. */
let loaded = 0
before(async () => {
  platform = await startPlatform()
  database = platform.platform.database
  bank = await openBank(platform)
  await addProfiles('eu-10gb', profiles)
  await addProfiles(small, 3)
  await database.execute(
    `insert into returned_profiles select profile_id, tariff_id from profiles order by profile_id limit $1`,
    [returned],
  )
  await database.execute('vacuum analyze profiles, returned_profiles')
})
after(() => platform.close())

/** Adds profiles with the next numbers. Each statement is short enough for its time limit. */
async function addProfiles(tariffCode: string, count: number): Promise<void> {
  const atOnce = 20_000
  for (const end = loaded + count; loaded < end; loaded = Math.min(end, loaded + atOnce))
    await database.execute(
      `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
       select tariff_id, int4send(n), '+' || 380670000000 + n, '', now()
       from tariffs, generate_series($2::int + 1, $2 + $3) n where code = $1`,
      [tariffCode, loaded, Math.min(end - loaded, atOnce)],
    )
}

test('the list of tariffs', async () => {
  const read = await rowsReadBy(platform, '%profiles', async sibling => {
    const there = bankAt(sibling, bank.token)
    const { status, body } = await there.tariffs()
    assert.equal(status, 200)
    assert.deepEqual(availabilityOf(body), { 'eu-10gb': true, [small]: true, off: false, [soldOut]: false })
  })
  // Jobs of a starting process clean up the returned profiles, and read them once or twice.
  assert.ok(read < profiles, `${read} rows were read`)
})

const availabilityOf = (body: unknown): Record<string, boolean> =>
  Object.fromEntries((body as { code: string; available: boolean }[]).map(({ code, available }) => [code, available]))

test('a sale of a tariff without stock, and of one with few profiles', async () => {
  const read = await rowsReadBy(platform, '%profiles', async sibling => {
    const there = bankAt(sibling, bank.token)
    for (const number of [1, 2, 3]) {
      const refused = await there.reserve({ tariffCode: soldOut, externalId: `none-${number}` })
      assert.equal(refused.status, 503)
      const made = await there.reserve({ tariffCode: small, externalId: `few-${number}` })
      assert.equal(made.status, 201)
    }
    assert.equal((await there.reserve({ tariffCode: small, externalId: 'few-4' })).status, 503)
  })
  assert.ok(read < profiles, `${read} rows were read`)
})

test('the large tariff is sold from its returned profiles first, the oldest first', async () => {
  const made = await bank.reserve('large')
  assert.equal(made.status, 201)
  await until('the order is stored', async () => {
    const rows = await database.query(
      `select from orders where external_id = 'large' and profile_id = (select min(profile_id) from profiles)`,
    )
    return rows.length === 1
  })
})
