/** Pages of the feed that span several days, while the feed grows. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../../src/db/database.ts'
import { findEvents } from '../../../src/events/feed-store.ts'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bankId: string
const database = () => platform.platform.database

before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  const [row] = await database().query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  bankId = row?.id ?? ''
})
after(() => platform?.close())

async function tell(count: number): Promise<void> {
  const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
  const event = { type: 'tariff.availability_changed', at: null, banks: [bankId], data } as const
  await database().transaction(transaction => recordEvents(transaction, Array(count).fill(event)))
  while ((await sequenceEvents(database(), true))?.mayBeMore);
}

test('a page over two days ends where the feed ended at its first statement', async () => {
  await tell(3)
  await database().execute(`create table events_20260101 (like events including all)`)
  await database().execute(
    `alter table events attach partition events_20260101 for values from ('2026-01-01') to ('2026-01-02')`,
  )
  await database().execute(`update events set day = '2026-01-01'`)
  await database().execute(`update feed_days set day = '2026-01-01'`)
  await tell(2)
  let asked = 0
  const growing: Database = {
    ...database(),
    async query(statement, values) {
      // The feed grows between the statements of the two days.
      if (++asked === 2) await tell(4)
      return database().query(statement, values)
    },
  }
  const params = { after: 0, through: Number.MAX_SAFE_INTEGER, limit: 100, types: ['tariff.availability_changed'] }
  const page = await findEvents(growing, { type: 'bank', id: bankId }, params)
  assert.ok(asked >= 2, `${asked} statements`)
  assert.deepEqual([page.count, page.examined, page.feed.last], [5, page.feed.last, page.feed.last])
})
