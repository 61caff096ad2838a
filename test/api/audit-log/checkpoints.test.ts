/**
 * Checkpoints: when they are made, which accounts get an event, and how anybody verifies them (contract/audit-log.md,
 * "Checkpoints").
 */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { makeHourlyCheckpoint } from '../../../src/audit-log/checkpoints.ts'
import { readNote } from '../../../src/audit-log/note.ts'
import { createClock } from '../../../src/clock.ts'
import { createLogger } from '../../../src/log.ts'
import { assertChained, chained, readEntries } from '../../support/audit-log.ts'
import { perkline } from '../../support/command.ts'
import { openPerson } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let folder: string
let anchorFile: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-checkpoints-'))
  anchorFile = join(folder, 'anchors.txt')
  platform = await startPlatform({ AUDIT_ANCHOR_FILE: anchorFile })
})
after(async () => {
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

type Kept = { at: Date; seq: number; hash: Buffer; note: string; isHourly: boolean }
const kept = () =>
  platform.platform.database.query<Kept>(
    `select at, seq, hash, note, is_hourly as "isHourly" from audit_anchors where kind = 'checkpoint' order by anchor_id`,
  )
/** Waits for this many `audit.checkpoint` events, at most one for each account. Returns their data and timestamps by account. */
async function checkpointsTold(count: number): Promise<Map<string, Record<string, unknown>>> {
  for (const endsAt = Date.now() + 10_000; ; await wait(50)) {
    const rows = await platform.platform.database.query<{ account: string; data: Record<string, unknown> }>(
      `select replace(account_type, 'retailer', 'merchant') || account_id as account, (body::jsonb -> 'data') || jsonb_build_object('timestamp', body::jsonb -> 'timestamp') as data
       from events where type = 'audit.checkpoint'`,
    )
    if (rows.length >= count) {
      assert.equal(rows.length, count, 'one for each account')
      return new Map(rows.map(({ account, data }) => [account, data]))
    }
    assert.ok(Date.now() < endsAt, `${rows.length} events`)
  }
}

/** Returns the key id that a note contains: the first 4 bytes of SHA-256(name ‖ LF ‖ 1 ‖ key). */
const idOf = (name: string, x: Buffer): Buffer =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([1]), x]))
    .digest()
    .subarray(0, 4)

test('hourly, once however many ask; each account that has entries is told its head, once a day', async () => {
  const { database } = platform.platform
  await chained(platform)
  const deps = {
    database,
    clock: createClock(),
    masterKeys: platform.config.masterKeys,
    anchorFile,
    logger: createLogger('silent'),
  }
  await makeHourlyCheckpoint(deps)
  assert.deepEqual(await kept(), [], 'no hour has begun since the first entry')
  // Moves all entries so far one hour into the past, so that a new hour has begun since the first entry.
  await database.execute('alter table audit_log disable trigger all')
  await database.execute(`update audit_log set at = at - interval '1 hour'`)
  await database.execute('alter table audit_log enable trigger all')
  await Promise.all(Array.from({ length: 8 }, () => makeHourlyCheckpoint(deps)))
  const [made, ...others] = await kept()
  assert.deepEqual([made?.isHourly, others], [true, []])
  const rows = await assertChained(platform)
  const covered = rows.filter(({ seq }) => seq <= (made?.seq ?? 0))
  assert.ok(covered.at(-1)?.hash.equals(made?.hash ?? Buffer.alloc(0)))
  const heads = new Map(covered.map(({ account, accountSeq, accountHash }) => [account, { accountSeq, accountHash }]))
  const told = await checkpointsTold(heads.size)
  for (const [account, head] of heads) {
    const { at, timestamp, ...data } = told.get(account) ?? {}
    assert.deepEqual(data, {
      hash: made?.hash.toString('hex'),
      accountSeq: head.accountSeq,
      accountHash: head.accountHash.toString('hex'),
    })
    assert.equal(at, made?.at.toISOString())
    assert.equal(timestamp, at)
  }
  await database.execute(`update audit_anchors set at = at - interval '1 hour' where kind = 'checkpoint'`)
  await makeHourlyCheckpoint(deps)
  assert.equal((await kept()).length, 2)
  if (made && made.at.getUTCHours() > 0)
    assert.equal(
      (await database.query(`select from outbox where data ->> 'type' = 'audit.checkpoint'`)).length,
      heads.size,
    )
})

test('anybody proves a note with the public keys alone, also one of a key that signs no more', async () => {
  const { database } = platform.platform
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const retired = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  await database.execute(
    `insert into audit_keys (key_id, public_key, sealed_private_key, created_at) values ('retired', $1, null, now() - interval '1 year')`,
    [retired],
  )
  const { status, body, text } = await platform.call('GET', '/.well-known/perkline-keys.json')
  assert.equal(status, 200)
  const keys = body.keys.map((key: { x: string }) => Buffer.from(key.x, 'base64url'))
  assert.ok(keys.some((x: Buffer) => x.equals(retired)))
  await platform.call('POST', '/admin/audit-log/checkpoint', { token: platform.config.operatorKey })
  for (const { seq, hash, note } of await kept()) {
    const [signed = '', signature = ''] = note.split('\n\n')
    const [name = '', number, base64] = signed.split('\n')
    assert.match(name, /^perkline\.audit\/[0-9a-f-]{36}$/)
    assert.deepEqual([number, base64], [String(seq), hash.toString('base64')])
    const [, by, blob = ''] = /^— (\S+) (\S+)\n?$/.exec(signature) ?? []
    assert.equal(by, name)
    const bytes = Buffer.from(blob, 'base64')
    const x = keys.find((key: Buffer) => idOf(name, key).equals(bytes.subarray(0, 4)))
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: x?.toString('base64url') }
    assert.ok(verify(null, Buffer.from(`${signed}\n`), createPublicKey({ key: jwk, format: 'jwk' }), bytes.subarray(4)))
  }
  // A note that the retired key signed before it was retired.
  const last = (await kept()).at(-1)
  const signedText = `${last?.note.split('\n\n')[0]}\n`
  const name = signedText.split('\n')[0] ?? ''
  const signature = Buffer.concat([idOf(name, retired), sign(null, Buffer.from(signedText), privateKey)])
  const files = { log: join(folder, 'log.jsonl'), keys: join(folder, 'keys.json'), note: join(folder, 'retired.txt') }
  await writeFile(files.keys, text)
  await writeFile(files.note, `${signedText}\n— ${name} ${signature.toString('base64')}\n`)
  const rows = await assertChained(platform)
  const lines = rows.map(({ seq, entry, accountHash, hash }) =>
    JSON.stringify({ seq, entry, accountHash: accountHash.toString('hex'), hash: hash.toString('hex') }),
  )
  await writeFile(files.log, `${lines.join('\n')}\n`)
  const args = ['audit-log', 'verify', '--file', files.log, '--anchors', files.note, '--keys', files.keys, '--json']
  const { code, stdout } = await perkline(args)
  assert.deepEqual([code, JSON.parse(stdout).ok], [0, true])
})

test('at the stop of a worker: it covers all that was done, and stands in the file of anchors', async () => {
  const worker = await platform.sibling({ AUDIT_ANCHOR_FILE: anchorFile })
  const before = (await kept()).length
  const body = { bank: 'alpha', role: 'VIEWER', label: 'last' }
  const issued = await worker.call('POST', '/admin/credentials', { token: platform.config.operatorKey, body })
  assert.equal(issued.status, 201)
  await worker.close()
  const all = await kept()
  assert.ok(all.length > before)
  const last = all.at(-1)
  const [entry] = await platform.platform.database.query<{ seq: number }>(
    `select seq from audit_log where entry::jsonb #>> '{object,id}' = $1`,
    [issued.body.clientId],
  )
  assert.ok(entry && last && last.seq >= entry.seq, 'the last thing done is covered')
  const notes = (await readFile(anchorFile, 'utf8')).trimEnd()
  assert.ok(notes.endsWith((last?.note ?? '').trimEnd()))
  assert.equal(notes.split('\n\nperkline.audit/').length, all.length, 'an empty line between notes')
})

test('a partner’s checkpoint is a signed note of its own chain, which passes for no other', async () => {
  const tokens = [await platform.bankToken('alpha'), await platform.merchantToken()]
  const operator = { token: platform.config.operatorKey }
  for (const partner of [{ bank: 'alpha', role: 'ADMIN' }, { merchant: 'grocer' }])
    await platform.call('POST', '/admin/credentials', { ...operator, body: { ...partner, label: 'Signed' } })
  assert.equal((await platform.call('POST', '/admin/audit-log/checkpoint', operator)).status, 200)
  const { keys } = (await platform.call('GET', '/.well-known/perkline-keys.json')).body
  const known = keys.map(({ x }: { x: string }) => ({ x: Buffer.from(x, 'base64url') }))
  const accounts = new Set<string | null>()
  for (const token of tokens) {
    const { body } = await platform.call('GET', '/partner/v1/audit-log/checkpoints?limit=1', { token })
    const [shown] = body.data
    const note = readNote(shown.note)
    assert.ok(note?.account && note.isSignedBy(known))
    const noted = [note.seq, note.hash.toString('hex'), note.at.toISOString()]
    assert.deepEqual(noted, [shown.accountSeq, shown.accountHash, shown.at])
    const [entry] = await readEntries(platform, token)
    assert.equal(note.account, entry.account.id)
    accounts.add(note.account)
    const other = shown.note.replaceAll(note.account, randomUUID())
    assert.equal(readNote(other)?.isSignedBy(known), false)
    const refused = await platform.call('POST', '/admin/audit-log/verify', {
      ...operator,
      body: { anchors: shown.note },
    })
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid'], 'it is no checkpoint of the whole log')
  }
  assert.equal(accounts.size, 2)
})

test('the cursor of a list of checkpoints has their time, and no number that counts what other accounts do', async () => {
  const token = await platform.bankToken('alpha')
  for (let made = 0; made < 2; made++)
    await platform.call('POST', '/admin/audit-log/checkpoint', { token: platform.config.operatorKey })
  const list = (query: string) => platform.call('GET', `/partner/v1/audit-log/checkpoints?${query}`, { token })
  const { data } = (await list('limit=500')).body
  const first = (await list('limit=1')).body
  const [text] = first.nextCursor.split('.')
  assert.deepEqual(JSON.parse(String(Buffer.from(text, 'base64url'))), [data[0].at])
  const rest = (await list(`limit=500&cursor=${first.nextCursor}`)).body
  assert.deepEqual([...first.data, ...rest.data], data)
})

test('who reads the log: by account, role and kind of caller', async () => {
  const bank = (role: 'ADMIN' | 'EDITOR' | 'VIEWER') => platform.bankToken('alpha', role)
  const person = async (owner: Parameters<typeof openPerson>[1], role: string) =>
    (await openPerson(platform, owner, role)).token
  const callers: [expected: number, token: string][] = [
    [200, await bank('ADMIN')],
    [403, await bank('EDITOR')],
    [403, await bank('VIEWER')],
    [200, await platform.merchantToken()],
    [200, await person({ bank: 'alpha' }, 'ADMIN')],
    [403, await person({ bank: 'alpha' }, 'EDITOR')],
    [403, await person({ bank: 'alpha' }, 'VIEWER')],
    [200, await person({ merchant: 'grocer' }, 'admin_user')],
    [403, await person({ merchant: 'grocer' }, 'editor')],
    [403, await person({ merchant: 'grocer' }, 'viewer')],
    [200, await person('platform', 'admin')],
    [200, await person('platform', 'viewer')],
    [401, platform.config.operatorKey],
  ]
  for (const [expected, token] of callers)
    for (const path of ['/audit-log', '/audit-log.jsonl', '/audit-log/checkpoints'])
      assert.equal(
        (await platform.call('GET', `/partner/v1${path}`, { token })).status,
        expected,
        `${path} ${expected}`,
      )
})
