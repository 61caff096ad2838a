/**
 * Which old entries are removed from the beginning of the log, and which may not be (contract/audit-log.md, "The
 * chain", "Checking").
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { chained } from '../../support/audit-log.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let folder: string
let operator: { token: string }

/** Fills the log with entries that are eight years old. */
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-audit-'))
  platform = await startPlatform({ AUDIT_ANCHOR_FILE: join(folder, 'anchors.txt') })
  operator = { token: platform.config.operatorKey }
  await chained(platform)
  await run('alter table audit_log disable trigger all')
  await run('delete from audit_log')
  await run('alter table audit_log enable trigger all')
  await run('delete from audit_anchors')
  await run(`delete from outbox where kind = 'audit'`)
  await tell(60, '8 years')
})
after(async () => {
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (statement: string) => platform.platform.database.execute(statement)

async function tell(count: number, age: string): Promise<void> {
  await platform.platform.database.execute(
    `insert into outbox (kind, account_type, account, data)
     select 'audit', case n % 2 when 0 then 'platform' else 'bank' end, case n % 2 when 1 then (select bank_id from banks where code = 'alpha') end,
       jsonb_build_object('at', instant_text(now() - $2::interval), 'actor', '{"type":"clock","id":null}'::jsonb, 'via', 'clock',
         'action', 'test.' || n, 'object', '{"type":"test","id":null}'::jsonb, 'outcome', 'done', 'change', '{}'::jsonb,
         'requestId', null, 'address', null)
     from generate_series(1, $1::int) as n`,
    [count, age],
  )
  await waitForNext()
}

/** Waits until the log contains all recorded entries. */
async function waitForNext(): Promise<void> {
  for (let tried = 0; tried < 100; tried++) {
    const [row] = await platform.platform.database.query<{ told: number; last: number }>(
      `select (select count(*)::int from outbox where kind = 'audit') as told, (select max(seq)::int from audit_log) as last`,
    )
    if (row?.told === row?.last) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  assert.fail('not chained')
}

async function verify(anchors?: string) {
  const { body } = await platform.call('POST', '/admin/audit-log/verify', { ...operator, body: { anchors } })
  return body
}
const auditFaults = async () =>
  (await audit(platform.platform.deps.admin, new Date())).checks.filter(({ ok }) => !ok).map(({ detail }) => detail)

async function remove(cutoff: string): Promise<number> {
  const [row] = await platform.platform.database.query<{ removed: number }>(
    `select remove_old_audit_entries(${cutoff}, 50) as removed`,
  )
  return row?.removed ?? 0
}

test('entries past their retention are removed from the beginning, and the chain continues behind them', async () => {
  await assert.rejects(run('delete from audit_log where seq <= 50'), /takes new entries only/)
  assert.equal(await remove(`now() - interval '7 years'`), 50)
  assert.deepEqual(await verify().then(({ ok, entries }) => [ok, entries]), [true, 10])
  assert.equal(await remove(`now() - interval '7 years'`), 10)
  await tell(20, '0 years')
  const { status } = await platform.call('POST', '/admin/audit-log/checkpoint', operator)
  assert.equal(status, 200)
  await waitForNext()
  const { ok, fault, checkedUntil } = await verify(await readFile(join(folder, 'anchors.txt'), 'utf8'))
  assert.deepEqual([ok, fault, checkedUntil.seq], [true, null, 81])
  assert.deepEqual(await auditFaults(), [])
})

test('nothing younger than a year is removed', async () => {
  for (const cutoff of [`now() + interval '1 hour'`, `now() - interval '364 days'`, 'null'])
    await assert.rejects(remove(cutoff), /for a year at least/, cutoff)
  assert.equal(await remove(`now() - interval '1 year'`), 0)
})

test('no setting of a session and no record of a removal opens the table', async () => {
  const refused = (...statements: string[]) =>
    assert.rejects(
      platform.platform.database.transaction(async transaction => {
        for (const statement of statements) await transaction.execute(statement)
      }),
      /takes new entries only/,
      statements.at(-1),
    )
  const mark = `select set_config('perkline.audit_removal', pg_current_xact_id()::text, true)`
  const record = `insert into audit_anchors (kind, at, seq, hash, entry_at)
    select 'removed', now(), seq, hash, now() - interval '9 years' from audit_log where seq = 61`
  await refused(mark, 'delete from audit_log where seq = 61')
  await refused(record, 'delete from audit_log where seq = 61')
  await refused('truncate audit_log')
  await refused('update audit_log set entry = entry')
})

/**
 * Deletes entries as only the owner of the tables can: with the trigger disabled. Unless `age` is null, it first
 * records a removal of entries of this age.
 */
async function cut(through: number, age: string | null): Promise<void> {
  await platform.platform.database.transaction(async transaction => {
    if (age !== null)
      await transaction.execute(
        `insert into audit_anchors (kind, at, account_type, account_id, seq, hash, entry_at)
         select 'removed', now(), null, null, seq, hash, now() - $2::interval from audit_log where seq = $1
         union all select * from (select distinct on (account_type, account_id) 'removed', now(), account_type, account_id, account_seq,
           account_hash, now() - $2::interval from audit_log where seq <= $1 order by account_type, account_id, account_seq desc) as own`,
        [through, age],
      )
    await transaction.execute('alter table audit_log disable trigger user')
    await transaction.execute('delete from audit_log where seq <= $1', [through])
    await transaction.execute('alter table audit_log enable trigger user')
  })
}

test('entries that were removed too early are found, whatever the database says about the removal', async () => {
  await cut(62, null)
  assert.deepEqual((await verify()).fault, { seq: 61, reason: 'missing' })
  assert.notDeepEqual(await auditFaults(), [])
  await cut(65, '2 minutes')
  assert.deepEqual((await verify()).fault, { seq: 65, reason: 'missing' })
  assert.deepEqual(await auditFaults(), ['entry 65 of the audit log does not fit: missing'])
  const notes = (await readFile(join(folder, 'anchors.txt'), 'utf8')).trim()
  await tell(20, '0 years')
  await cut(90, '9 years')
  const covered = Number(notes.split('\n')[1])
  assert.deepEqual((await verify(notes)).fault, { seq: covered + 1, reason: 'missing' })
  await run(`delete from audit_anchors where kind = 'checkpoint'`)
  assert.deepEqual((await verify(notes)).fault, { seq: covered + 1, reason: 'missing' })
})
