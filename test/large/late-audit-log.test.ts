/** Reading a short period of a long audit log reads few other entries (contract/partner-api.md, "Lists"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { rowsReadBy } from '../support/table-reads.ts'

const entries = 100_000
const insertedAtOnce = 20_000
const secondsApart = 600
const read = 100

let platform: TestPlatform
let database: Database
before(async () => {
  platform = await startPlatform()
  database = platform.platform.database
  for (let from = 1; from <= entries; from += insertedAtOnce)
    await database.execute(
      `insert into audit_log (seq, account_type, account_id, account_seq, at, entry, account_hash, hash)
       select 1000 + n, 'bank', bank_id, 1000 + n, now() - ($1::int - n) * interval '${secondsApart} s',
         '{"accountSeq":1,"actor":{"id":null},"object":{"type":"a","id":null},"action":"login.done"}', '', ''
       from banks, generate_series($2::int, $3::int) n where code = 'alpha'`,
      [entries, from, from + insertedAtOnce - 1],
    )
  await database.execute('analyze audit_log')
})
after(() => platform.close())

for (const [whose, pathOf] of [
  ['an account', (period: string) => `/partner/v1/audit-log.jsonl?${period}`],
  ['the platform', (period: string) => `/admin/audit-log/export?${period}`],
] as const)
  test(`the file of the newest entries of ${whose} reads few others`, async () => {
    const from = new Date(Date.now() - (read * 100 + read - 0.5) * secondsApart * 1_000)
    const to = new Date(from.getTime() + read * secondsApart * 1_000)
    const token = whose === 'an account' ? await platform.bankToken() : platform.config.operatorKey
    const path = pathOf(`from=${from.toISOString()}&to=${to.toISOString()}`)
    const count = await rowsReadBy(platform, 'audit_log', async sibling => {
      const { status, text } = await sibling.call('GET', path, { token })
      assert.equal(status, 200, text)
      assert.ok(Math.abs(text.trim().split('\n').length - read) <= 2, text.slice(0, 500))
    })
    // The jobs of both processes, which may be counted here, read up to 40,000 entries.
    assert.ok(count < entries / 2, `${count} entries were read`)
  })
