/**
 * `perkline audit` on the audit log and on the feeds: every check passes on untouched data, and each change that only
 * the owner of the database can make is found.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { chained } from '../../support/audit-log.ts'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
  for (let n = 0; n < 6; n++) await bank.cancel((await bank.reserve(`feed-${n}`)).body.orderId)
  // The audit checks the log in pieces. This adds enough entries to fill more than one piece.
  await platform.platform.database.execute(
    `insert into outbox (kind, account_type, account, data)
     select 'audit', case n % 2 when 0 then 'platform' else 'bank' end, case n % 2 when 1 then (select bank_id from banks where code = 'alpha') end,
       jsonb_build_object('at', instant_text(now()), 'actor', '{"type":"clock","id":null}'::jsonb, 'via', 'clock',
         'action', 'test.' || n, 'object', '{"type":"test","id":null}'::jsonb, 'outcome', 'done', 'change', '{}'::jsonb,
         'requestId', null, 'address', null)
     from generate_series(1, 2100) as n`,
  )
  await chained(platform)
  await platform.call('POST', '/admin/audit-log/checkpoint', { token: platform.config.operatorKey })
  await chained(platform)
  for (let tried = 0; (await numberOf('events')) < 6; tried++) {
    assert.ok(tried < 100, 'events are not numbered')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
})
after(() => platform.close())

const run = (statement: string) => platform.platform.database.execute(statement)
async function numberOf(table: string): Promise<number> {
  const [row] = await platform.platform.database.query<{ n: number }>(`select count(*)::int as n from ${table}`)
  return row?.n ?? 0
}
const broken = async () => (await audit(platform.platform.deps.admin, new Date())).checks.filter(({ ok }) => !ok)

/** Changes a table, runs the audit, and undoes the change. Returns what the audit finds. */
async function afterwards(table: 'audit_log' | 'events', statement: string) {
  await run(`create table kept as select * from ${table}`)
  await run('alter table audit_log disable trigger all')
  try {
    await run(statement)
    return (await broken()).map(({ code, detail }) => [code, detail])
  } finally {
    await run(`delete from ${table}`)
    await run(`insert into ${table} select * from kept`)
    await run('drop table kept')
    await run('alter table audit_log enable trigger all')
  }
}

test('an untouched log and untouched feeds hold', async () => assert.deepEqual(await broken(), []))

test('each change of the log is named, also where one piece of the check ends', async () => {
  const found = (seq: number, reason: string) => [
    ['audit-log', `entry ${seq} of the audit log does not fit: ${reason}`],
  ]
  for (const seq of [1, 999, 1_000, 1_001, 2_050])
    assert.deepEqual(
      await afterwards(
        'audit_log',
        `update audit_log set entry = replace(entry, '"clock"', '"c1ock"') || ' ' where seq = ${seq}`,
      ),
      found(seq, 'changed'),
      String(seq),
    )
  for (const seq of [1, 1_000, 1_001, 1_500])
    assert.deepEqual(await afterwards('audit_log', `delete from audit_log where seq = ${seq}`), found(seq, 'missing'))
  assert.deepEqual(await afterwards('audit_log', 'delete from audit_log where seq > 1500'), found(1_501, 'cut-off'))
  assert.deepEqual(await afterwards('audit_log', 'delete from audit_log'), found(1, 'cut-off'))
  assert.deepEqual(await afterwards('audit_log', 'delete from audit_log where seq > 1000'), found(1_001, 'cut-off'))
  const [covered] = await platform.platform.database.query<{ seq: number }>('select max(seq) as seq from audit_anchors')
  const seq = covered?.seq ?? 0
  const tail = await afterwards('audit_log', `delete from audit_log where seq > ${seq}`)
  assert.deepEqual(tail, found(seq + 1, 'cut-off'), 'what no checkpoint covers yet is compared with what told it')
})

test('only what is of the last two days is read', async () => {
  const old = `update audit_log set at = at - interval '3 days' where seq <= 1500`
  assert.deepEqual(await afterwards('audit_log', old), [])
  const changed = `update audit_log set at = at - interval '3 days', entry = entry || ' ' where seq <= 1500`
  assert.deepEqual(await afterwards('audit_log', changed), [])
  const next = `${old}; update audit_log set entry = entry || ' ' where seq = 1501`
  assert.equal((await afterwards('audit_log', next)).length, 1)
})

test('a hole in a feed is named, and an event of an order that is not the bank’s', async () => {
  const [row] = await platform.platform.database.query<{ id: string }>(
    `select bank_id as id from banks where code = 'alpha'`,
  )
  const feed = `the feed of bank ${row?.id}`
  const ofBank = `account_type = 'bank' and account_id = '${row?.id}'`
  const hole = await afterwards('events', `delete from events where ${ofBank} and sequence = 3`)
  assert.deepEqual(hole, [['feeds', `${feed} has no event before 4`]])
  const [[missing, first] = []] = await afterwards('events', `delete from events where ${ofBank} and sequence = 1`)
  assert.equal(missing, 'feeds')
  assert.match(
    first ?? '',
    new RegExp(`^${feed} has no event before 2; ${feed} states another first event of [-0-9]{10} than it has$`),
  )
  const other = `update events set type = 'order.confirmed' where ${ofBank} and type = 'order.cancelled' and body like '%"feed-1"%'`
  const [[code, text] = []] = await afterwards('events', other)
  assert.equal(code, 'feed-orders')
  assert.match(text ?? '', /is of no such order of the bank/)
})
