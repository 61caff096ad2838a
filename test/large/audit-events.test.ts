/** The audit checks the events of campaigns piece by piece. It must not read the feeds again for each piece. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { campaignDirectory, createCampaign, openMerchant } from '../support/campaigns.ts'
import { advance, each, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsRead } from '../support/table-reads.ts'

/** Campaigns are checked in pieces of 200. */
const campaigns = 1_000
const others = 50_000

let platform: TestPlatform
let database: Database
before(async () => {
  platform = await startPlatform({ PENDING_CAMPAIGNS: '100000', API_RATE_LIMIT: '0' }, { directory: campaignDirectory })
  database = platform.platform.database
  const merchant = await openMerchant(platform)
  await each(Array.from({ length: campaigns }), 8, () => createCampaign(platform, {}, merchant))
  await until('all events are numbered', async () => (await countEvents()) >= 2 * campaigns)
  // The last events of the campaigns may not be numbered yet. So these events get much higher sequences, and the lower
  // ones stay free.
  await database.execute(
    `insert into events (account_type, account_id, sequence, day, event_id, type, recorded_at, body, subject)
     select account_type, account_id, sequence + 1000000 + n, day, gen_random_uuid(), type, recorded_at, body, gen_random_uuid()
     from (select * from events order by sequence desc limit 1) e, generate_series(1, ${others}) n`,
  )
  await database.execute('analyze events')
  // The audit looks for the events of changes that are some minutes old.
  await advance(platform, 'PT1H')
})
after(() => platform.close())

async function countEvents(): Promise<number> {
  const [row] = await database.query<{ count: number }>('select count(*)::int as count from events')
  return row?.count ?? 0
}

test('the audit reads each event a few times, however many campaigns there are', async () => {
  const before = await rowsRead(database, 'events\\_2%')
  const sibling = await platform.sibling()
  const token = platform.config.operatorKey
  const { status, text } = await sibling.call('GET', '/admin/audit', { token }).finally(() => sibling.close())
  assert.equal(status, 200, text)
  const read = async () => (await rowsRead(database, 'events\\_2%')) - before
  await until('the reads of the ended connections are counted', async () => (await read()) >= others)
  const count = await read()
  assert.ok(count < 3 * others, `${count} events were read`)
})
