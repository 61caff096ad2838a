/** What the check finds after the owner of the database has changed the log (contract/audit-log.md, "Checking"). */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chained, platformUserToken, tokenOfUser } from '../../support/audit-log.ts'
import { perkline } from '../../support/command.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let folder: string
let notes: string
let operator: { token: string }

const count = 300

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-audit-'))
  platform = await startPlatform({ AUDIT_ANCHOR_FILE: join(folder, 'anchors.txt') })
  operator = { token: platform.config.operatorKey }
  const { database } = platform.platform
  await database.execute(
    `insert into outbox (kind, account_type, account, data)
     select 'audit', case n % 3 when 0 then 'platform' else 'bank' end,
       case n % 3 when 1 then '6f1d0c52-7a3e-4b8c-9d21-0a5be7c4f101' when 2 then '2c9b7e14-5d60-4f3a-8b17-93d0a6e5c201' end::uuid,
       jsonb_build_object('at', instant_text(now() - interval '1 hour'), 'actor', '{"type":"clock","id":null}'::jsonb, 'via', 'clock',
         'action', 'test.' || n, 'object', '{"type":"test","id":null}'::jsonb, 'outcome', 'done', 'change', '{"ціна":[1,2]}'::jsonb,
         'requestId', null, 'address', null)
     from generate_series(1, $1::int) as n`,
    [count],
  )
  await chained(platform)
  const { status, body } = await platform.call('POST', '/admin/audit-log/checkpoint', operator)
  assert.equal(status, 200)
  assert.ok(body.seq >= count)
  notes = (await readFile(join(folder, 'anchors.txt'), 'utf8')).trim()
  await chained(platform)
})
after(async () => {
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 30_000
  while (!(await condition())) {
    assert.ok(Date.now() < endsAt, 'it never happens')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const verify = async (anchors?: string) =>
  (await platform.call('POST', '/admin/audit-log/verify', { ...operator, body: { anchors } })).body

/** Changes the log as only its owner can, checks it, and undoes the change. */
async function tampered(statements: string[], anchors = notes): Promise<any> {
  const { database } = platform.platform
  await database.execute('create table kept_log as select * from audit_log')
  await database.execute('create table kept_anchors as select * from audit_anchors')
  await database.execute('create table kept_outbox as select * from outbox')
  await database.execute('alter table audit_log disable trigger all')
  try {
    for (const statement of statements) await database.execute(statement)
    return await verify(anchors)
  } finally {
    for (const name of ['log', 'anchors']) await database.execute(`delete from audit_${name}`)
    await database.execute('insert into audit_log select * from kept_log')
    await database.execute('insert into audit_anchors overriding system value select * from kept_anchors')
    await database.execute('alter table audit_log enable trigger all')
    await database.execute('delete from outbox')
    await database.execute('insert into outbox select * from kept_outbox')
    for (const name of ['log', 'anchors', 'outbox']) await database.execute(`drop table kept_${name}`)
  }
}

test('an untouched log holds, with checkpoints and without', async () => {
  for (const anchors of [undefined, notes]) {
    const { ok, entries, checkedUntil, fault } = await verify(anchors)
    assert.deepEqual([ok, fault], [true, null])
    assert.ok(entries > count)
    assert.equal(checkedUntil.seq, entries)
  }
})

const forget = `delete from audit_anchors`
const untold = `delete from outbox where kind = 'audit'`

test('each way to change it is found at its place, by its name', async () => {
  const changed = await tampered([`update audit_log set entry = replace(entry, 'test.', 'tesT.') where seq = 50`])
  assert.deepEqual(changed.fault, { seq: 50, reason: 'changed' })
  assert.deepEqual([changed.ok, changed.entries, changed.checkedUntil.seq], [false, 49, 49])
  const hash = await tampered([`update audit_log set hash = sha256('x') where seq = 51`])
  assert.deepEqual(hash.fault, { seq: 51, reason: 'changed' })
  const removed = await tampered(['delete from audit_log where seq = 60'])
  assert.deepEqual(removed.fault, { seq: 60, reason: 'missing' })
  const first = await tampered(['delete from audit_log where seq < 10'])
  assert.deepEqual(first.fault, { seq: 1, reason: 'missing' })
  const copied = await tampered([
    `insert into audit_log select seq + 10000, account_type, account_id, account_seq + 10000, at, entry, account_hash, hash
     from audit_log where seq = 20`,
    'update audit_log set seq = (select max(seq) + 1 from audit_log where seq < 10000) where seq > 10000',
  ])
  assert.equal(copied.fault.reason, 'added')
  const inserted = await tampered([
    'update audit_log set seq = -seq - 1 where seq >= 70',
    'update audit_log set seq = -seq where seq < 0',
    `insert into audit_log select 70, account_type, account_id, 100000, at, entry, account_hash, hash from audit_log where seq = 20`,
  ])
  assert.deepEqual(inserted.fault, { seq: 70, reason: 'added' })
  const swapped = await tampered([
    'update audit_log set seq = -seq where seq in (80, 81)',
    'update audit_log set seq = 161 + seq where seq < 0',
  ])
  assert.deepEqual(swapped.fault, { seq: 80, reason: 'changed' })
})

test('each column beside the text is bound to it', async () => {
  for (const change of [
    `account_type = (array['bank', 'merchant', 'platform'])[1 + seq % 3]`,
    `account_id = '3a8d6b25-6e71-4f4b-9c28-a4e1f7b6d301'`,
    'account_seq = account_seq + 100000',
    `at = at - interval '1 microsecond'`,
    `at = at - interval '8 years'`,
    `action = 'test.other'`,
    'action = null',
    `actor_id = coalesce(actor_id, '') || 'x'`,
    `object_type = 'order'`,
    `object_id = coalesce(object_id, '') || 'x'`,
  ]) {
    const { fault } = await tampered([`update audit_log set ${change} where seq = 91`])
    assert.deepEqual(fault, { seq: 91, reason: 'changed' }, change)
  }
})

test('an entry that a process of before the columns writes has them too', async () => {
  const { ok } = await tampered([
    'delete from audit_log where seq = 40',
    'alter table audit_log enable trigger audit_log_fill_search',
    `insert into audit_log (seq, account_type, account_id, account_seq, at, entry, account_hash, hash)
     select seq, account_type, account_id, account_seq, at, entry, account_hash, hash from kept_log where seq = 40`,
  ])
  assert.equal(ok, true)
})

test('a log that was cut is found by a checkpoint alone', async () => {
  const last = 'delete from audit_log where seq > (select max(seq) from audit_log) - 100'
  for (const statements of [[last], [last, forget]]) {
    const { fault, entries } = await tampered(statements)
    assert.deepEqual(fault, { seq: entries + 1, reason: 'cut-off' })
  }
  assert.deepEqual((await tampered(['delete from audit_log', forget])).fault, { seq: 1, reason: 'cut-off' })
  assert.equal((await tampered([last, forget, untold], '')).ok, true, 'nothing else says what was there')
})

test('entries that were cut off before a checkpoint covered them are found by the outbox, also behind newer entries', async () => {
  const { database } = platform.platform
  const [covered] = await database.query<{ seq: number }>('select max(seq) as seq from audit_anchors')
  const next = (covered?.seq ?? 0) + 1
  const cut = `delete from audit_log where seq >= ${next}`
  assert.deepEqual((await tampered([cut], '')).fault, { seq: next, reason: 'cut-off' })
  assert.deepEqual((await tampered([cut, forget], '')).fault, { seq: next, reason: 'cut-off' })
  const forged = `update audit_log set entry = replace(entry, '"api"', '"cli"') where seq >= ${next}`
  assert.equal((await tampered([forged], '')).fault.reason, 'changed')
  await database.execute('create table kept_end as select * from audit_log where seq >= 0')
  await database.execute('alter table audit_log disable trigger all')
  try {
    await database.execute(cut)
    await database.execute(
      `insert into outbox (kind, account_type, data)
      select 'audit', 'platform', data || jsonb_build_object('at', $1::text, 'action', 'test.later')
      from outbox where kind = 'audit' limit 1`,
      [new Date().toISOString()],
    )
    await until(async () => (await database.query(`select from audit_log where entry like '%test.later%'`)).length > 0)
    assert.deepEqual(
      (await verify()).fault,
      { seq: next, reason: 'missing' },
      'the chain itself goes on without a hole',
    )
  } finally {
    await database.execute('delete from audit_log')
    await database.execute('insert into audit_log select * from kept_end')
    await database.execute(`delete from outbox where data ->> 'action' = 'test.later'`)
    await database.execute('alter table audit_log enable trigger all')
    await database.execute('drop table kept_end')
  }
  assert.equal((await verify()).ok, true)
})

test('the answer says what was checked, and what checkpoints cover', async () => {
  const own = await verify()
  const outside = await verify(notes)
  const seq = Number(notes.split('\n')[1])
  assert.equal(own.checkedFrom.seq, 1)
  assert.equal(outside.checkedUntil.seq, outside.entries)
  assert.deepEqual(outside.covered, { checkpoints: 1, until: seq, uncovered: outside.entries - seq })
  assert.deepEqual(own.covered, outside.covered)
  const none = await tampered([forget], '')
  assert.deepEqual([none.ok, none.covered], [true, { checkpoints: 0, until: null, uncovered: none.entries }])
})

test('a chain that was made anew is found by a checkpoint from outside', async () => {
  const { database } = platform.platform
  const rows = await database.query<{ seq: number; key: string; entry: string }>(
    'select seq, account_type || account_id as key, entry from audit_log order by seq',
  )
  const heads = new Map<string, Buffer>()
  let all = Buffer.alloc(32)
  const statements = rows.map(({ seq, key, entry }) => {
    const text = seq === 30 ? entry.replace('test.', 'tesT.') : entry
    const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
    const accountHash = sha(heads.get(key) ?? Buffer.alloc(32), Buffer.from(text))
    all = sha(all, Buffer.from(seq.toString(16).padStart(16, '0'), 'hex'), accountHash)
    heads.set(key, accountHash)
    const values = `account_hash = '\\x${accountHash.toString('hex')}', hash = '\\x${all.toString('hex')}'`
    const forge = `entry = replace(entry, 'test.', 'tesT.'), action = replace(action, 'test.', 'tesT.'),`
    return `update audit_log set ${seq === 30 ? forge : ''} ${values} where seq = ${seq}`
  })
  const covered = Number(notes.split('\n')[1])
  assert.deepEqual((await tampered([...statements, forget])).fault, { seq: covered, reason: 'checkpoint' })
  assert.equal((await tampered([...statements, forget], '')).fault.reason, 'missing', 'the outbox says otherwise')
  assert.equal((await tampered([...statements, forget, untold], '')).ok, true)
  // Even if the stored checkpoint gets the new hash, its signed note still contains the old one.
  const adapt = 'update audit_anchors a set hash = l.hash from audit_log l where l.seq = a.seq'
  assert.equal((await tampered([...statements, adapt], '')).fault.reason, 'checkpoint')
})

test('a checkpoint that the platform has not signed is no checkpoint', async () => {
  const forged = notes.replace(/\n\d+\n/, '\n17\n')
  assert.deepEqual((await verify(forged)).fault, { seq: 17, reason: 'checkpoint' })
  assert.equal(
    (await platform.call('POST', '/admin/audit-log/verify', { ...operator, body: { anchors: 'x' } })).status,
    400,
  )
})

test('a file is checked without a platform', async () => {
  const token = await platformUserToken(platform)
  await chained(platform)
  const { text, headers } = await platform.call('GET', '/partner/v1/audit-log.jsonl', { token })
  assert.match(headers.get('content-type') ?? '', /^application\/x-ndjson/)
  const at = (name: string) => join(folder, name)
  const keys = await platform.call('GET', '/.well-known/perkline-keys.json')
  const [key] = keys.body.keys
  assert.deepEqual([key.kty, key.crv, key.use, key['perkline:purpose']], ['OKP', 'Ed25519', 'sig', 'audit'])
  await writeFile(at('keys.json'), keys.text)
  const run = async (content: string) => {
    await writeFile(at('log.jsonl'), content)
    const files = ['--file', at('log.jsonl'), '--anchors', at('anchors.txt'), '--keys', at('keys.json')]
    const { code: status, stdout } = await perkline(['audit-log', 'verify', ...files, '--json'])
    return { status, ...JSON.parse(stdout) }
  }
  const whole = await run(text)
  assert.deepEqual([whole.status, whole.ok], [0, true])
  const lines = text.trimEnd().split('\n')
  const part = await run(lines.slice(100).join('\n'))
  assert.deepEqual([part.ok, part.entries], [true, lines.length - 100])
  // In a part of the file, the first line of each account cannot be proven, because the hash before it is not in the
  // file.
  assert.ok(whole.unproven === 0 && part.unproven > 0)
  // An entry breaks its chain if it is moved to another account or if its number is not a whole number.
  const forged = (line: string, changes: object) => {
    const { entry, ...others } = JSON.parse(line)
    return JSON.stringify({ ...others, entry: JSON.stringify({ ...JSON.parse(entry), ...changes }) })
  }
  for (const n of [0, 120, lines.length - 1])
    for (const changes of [
      { account: { type: 'bank', id: randomUUID() }, accountSeq: 999 },
      { accountSeq: 1.0000000000000002, action: 'test.999' },
    ]) {
      const answer = await run(lines.with(n, forged(lines[n] ?? '', changes)).join('\n'))
      assert.deepEqual([answer.status, answer.fault.reason], [1, 'changed'], `${n} ${JSON.stringify(changes)}`)
    }
  const changed = await run(text.replace('test.200', 'test.999'))
  assert.deepEqual([changed.status, changed.fault.reason], [1, 'changed'])
  assert.equal((await run(lines.toSpliced(40, 1).join('\n'))).fault.reason, 'missing')
  assert.equal((await run(lines.slice(0, 150).join('\n'))).fault.reason, 'cut-off')
})

test('a partner’s file has its own chain and nothing of others', async () => {
  const token = await platform.merchantToken()
  await chained(platform)
  const { text } = await platform.call('GET', '/partner/v1/audit-log.jsonl', { token })
  let previous = Buffer.alloc(32)
  for (const line of text.trimEnd().split('\n')) {
    const { entry, accountHash, ...others } = JSON.parse(line)
    assert.deepEqual(others, {})
    previous = createHash('sha256')
      .update(Buffer.concat([previous, Buffer.from(entry)]))
      .digest()
    assert.equal(accountHash, previous.toString('hex'))
  }
  const account = JSON.parse(JSON.parse(text.slice(0, text.indexOf('\n'))).entry).account.id
  const auditor = await tokenOfUser(platform, 'platform', 'auditor-viewer')
  const asked = await platform.call('GET', `/partner/v1/audit-log.jsonl?account=${account}`, { token: auditor })
  assert.equal(asked.text, text, 'the platform gets the same file of one account')
  await platform.call('POST', '/admin/audit-log/checkpoint', operator)
  const { body } = await platform.call('GET', '/partner/v1/audit-log/checkpoints', { token })
  assert.deepEqual(Object.keys(body.data[0]).sort(), ['accountHash', 'accountSeq', 'at', 'hash', 'note'])
  assert.equal(body.data[0].accountHash, previous.toString('hex'))
})
