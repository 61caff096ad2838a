/** Deleted endpoints cause no work while there is nothing to deliver. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsRead } from '../support/table-reads.ts'

const deleted = 20_000

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
  const { database } = platform.platform
  await database.execute(
    `insert into webhook_endpoints (endpoint_id, account_type, account_id, url, delivery_order, status, position, failing_told,
                                    failed_attempts, probes, failed_in_row, version, created_at, deleted_at)
     select gen_random_uuid(), 'bank', bank_id, 'https://alpha.example/', 'concurrent', 'disabled', 0, false, 0, 0, 0, 1, now(), now()
     from banks, generate_series(1, $1::int) where code = 'alpha'`,
    [deleted],
  )
  // The plan of the statement that finds waiting endpoints is cached only if there are many events.
  await database.execute(
    `insert into events (account_type, account_id, sequence, day, event_id, type, recorded_at, body)
     select 'bank', bank_id, 1000000 + n, (now() at time zone 'UTC')::date, gen_random_uuid(), 'order.confirmed', now(), '{}'
     from banks, generate_series(1, 2000) n where code = 'alpha'`,
  )
  await database.execute('vacuum analyze webhook_endpoints, events')
})
after(() => platform.close())

test('the look for waiting endpoints does not read deleted ones', async () => {
  const { database } = platform.platform
  const before = await rowsRead(database, 'webhook_endpoints')
  // The platform looks for waiting endpoints several times a second. After some seconds it uses a cached plan.
  await sleep(12_000)
  const read = (await rowsRead(database, 'webhook_endpoints')) - before
  // Jobs that run once a minute may read all endpoints once.
  assert.ok(read < 4 * deleted, `${read} rows were read`)
})
