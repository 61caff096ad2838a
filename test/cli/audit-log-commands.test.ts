/** The commands of the audit log against a real platform (contract/audit-log.md, "Reading", "Checkpoints", "Checking"). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chained } from '../support/audit-log.ts'
import { commandsAt } from '../support/command.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const formerKey = randomBytes(32).toString('base64')
const folder = mkdtempSync(join(tmpdir(), 'perkline-audit-log-'))
const anchors = join(folder, 'anchors.txt')
let platform: TestPlatform
let clientId: string
before(async () => {
  platform = await startPlatform({ MASTER_KEY: formerKey, AUDIT_ANCHOR_FILE: anchors })
  clientId = (await json('credentials', 'issue', '--bank', 'alpha', '--role', 'ADMIN', '--label', 'Core')).clientId
  await json('credentials', 'issue', '--merchant', 'grocer')
  await chained(platform)
})
after(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const { run, json } = commandsAt(() => platform)

test('entries are listed newest first, and filtered', async () => {
  const { data, nextCursor } = await json('audit-log', 'list', '--action', 'credential.issued')
  assert.deepEqual(
    [data.map(({ account, via }: any) => [account.type, via]), nextCursor],
    [
      [
        ['merchant', 'cli'],
        ['bank', 'cli'],
      ],
      null,
    ],
  )
  const own = await json('audit-log', 'list', '--account', data[1].account.id, '--object', `credential:${clientId}`)
  assert.deepEqual(own.data, [data[1]])
  assert.equal((await json('audit-log', 'list', '--limit', '1')).data.length, 1)
  const { code, stdout } = await run('audit-log', 'list', '--action', 'credential.issued')
  assert.equal(code, 0)
  const [head, first, second, ...others] = stdout.trimEnd().split('\n')
  assert.match(head ?? '', /^SEQ +AT \(UTC\) +ACCOUNT +ACTOR +ACTION +OBJECT/)
  assert.match(first ?? '', /merchant .+ operator +credential\.issued +credential:/)
  assert.match(second ?? '', new RegExp(`bank .+ operator +credential\\.issued +credential:${clientId}`))
  assert.deepEqual(others, [])
  assert.equal((await run('audit-log', 'list', '--limit', '501')).code, 1)
})

test('a checkpoint is told, kept and appended to the file', async () => {
  const { seq, hash, at } = await json('audit-log', 'checkpoint')
  assert.match(hash, /^[0-9a-f]{64}$/)
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000)
  const note = readFileSync(anchors, 'utf8').split('\n\n— ').at(-2)?.split('\n') ?? []
  assert.deepEqual(note.slice(-3), [String(seq), Buffer.from(hash, 'hex').toString('base64'), at])
  const { code, stdout } = await run('audit-log', 'checkpoint')
  assert.deepEqual([code, /^Entry \d+ and all before it: [0-9a-f]{64}\n$/.test(stdout)], [0, true])
})

test('a checkpoint that could not be appended to the file is told, and shows in the metrics', async () => {
  const metric = async (name: string) => {
    const text = await platform.platform.metrics.registry.metrics()
    return Number(new RegExp(`^perkline_audit_anchor_${name}(?:{.*})? (\\S+)$`, 'm').exec(text)?.[1])
  }
  const writtenAt = () => metric('written_seconds')
  const failures = () => metric('failures_total')
  await json('audit-log', 'checkpoint')
  const before = await writtenAt()
  assert.equal(await failures(), 0)
  assert.ok(Math.abs(Date.now() / 1_000 - before) < 60, String(before))
  renameSync(anchors, `${anchors}.aside`)
  mkdirSync(anchors)
  const { code, stdout, stderr } = await run('audit-log', 'checkpoint', '--json')
  rmdirSync(anchors)
  renameSync(`${anchors}.aside`, anchors)
  assert.deepEqual([code, JSON.parse(stdout).anchored], [1, false])
  assert.match(stderr, /^The checkpoint was made, but could not be appended to AUDIT_ANCHOR_FILE/)
  assert.deepEqual([await writtenAt(), await failures()], [before, 1])
  assert.equal((await json('audit-log', 'checkpoint')).anchored, true)
  assert.ok((await writtenAt()) > before)
  assert.equal(await failures(), 1)
})

test('the log is exported whole or of one account, and checked from the file', async () => {
  await chained(platform)
  const file = join(folder, 'log.jsonl')
  const { entries } = await json('audit-log', 'export', file)
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(lines.length, entries)
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    lines.map((_, index) => index + 1),
  )
  const verified = await json('audit-log', 'verify', '--file', file, '--anchors', anchors)
  assert.deepEqual([verified.ok, verified.entries], [true, entries])
  const account = JSON.parse(lines.at(-1).entry).account.id
  assert.equal(account, null)
  const bank = lines.map(({ entry }) => JSON.parse(entry).account).find(({ type }) => type === 'bank')
  const own = join(folder, 'own.jsonl')
  const part = await json('audit-log', 'export', own, '--account', bank.id)
  assert.ok(part.entries > 0 && part.entries < entries)
  for (const line of readFileSync(own, 'utf8').trimEnd().split('\n'))
    assert.deepEqual(
      [JSON.parse(JSON.parse(line).entry).account.id, Object.keys(JSON.parse(line))],
      [bank.id, ['entry', 'accountHash']],
    )
  const partly = await json('audit-log', 'verify', '--file', own)
  assert.deepEqual([partly.ok, partly.entries], [true, part.entries])
  assert.equal(statSync(own).mode & 0o777, 0o600, 'others may not read it')
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const exported = run('audit-log', 'export', pipe, '--account', bank.id)
  assert.equal(await readFile(pipe, 'utf8'), readFileSync(own, 'utf8'))
  assert.deepEqual([(await exported).code, (await exported).stderr], [0, ''])
  const { code, stderr } = await run('audit-log', 'export', join(folder, 'nowhere', 'log.jsonl'))
  assert.equal(code, 1)
  assert.match(stderr, /nowhere/)
})

test('an export that fails leaves no file, and none replaces a former one', async () => {
  const fresh = join(folder, 'fresh.jsonl')
  const former = join(folder, 'former.jsonl')
  writeFileSync(former, 'as it was')
  const unknown = await run('audit-log', 'export', fresh, '--account', randomUUID())
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no such account/)
  const refused = await run('audit-log', 'export', former)
  assert.deepEqual([refused.code, refused.stderr], [1, `${former} is there already.\n`])
  assert.equal(readFileSync(former, 'utf8'), 'as it was')
  const left = readdirSync(folder).filter(name => name.startsWith('fresh') || name.endsWith('.part'))
  assert.deepEqual(left, [])
})

test('an export leaves other files alone, and exports of the same file do not mix', async () => {
  const [file, other] = [join(folder, 'own-part.jsonl'), join(folder, 'other')]
  writeFileSync(other, 'of somebody else', { mode: 0o644 })
  symlinkSync(other, `${file}.part`)
  const failed = await run('audit-log', 'export', file, '--account', randomUUID())
  assert.equal(failed.code, 1)
  const exports = await Promise.all([1, 2, 3].map(() => run('audit-log', 'export', file)))
  // One that begins after another has ended is refused.
  for (const { code, stderr } of exports) assert.ok(code === 0 || stderr === `${file} is there already.\n`, stderr)
  assert.ok(exports.some(({ code }) => code === 0))
  assert.equal(readFileSync(`${file}.part`, 'utf8'), 'of somebody else')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal((await json('audit-log', 'verify', '--file', file)).ok, true)
  rmSync(`${file}.part`)
})

test('verify says in words what was checked, and what no checkpoint covers', async () => {
  const file = join(folder, 'words.jsonl')
  await json('audit-log', 'checkpoint')
  await chained(platform)
  const { entries } = await json('audit-log', 'export', file)
  const said = async (...args: string[]) => (await run('audit-log', 'verify', ...args)).stdout
  const extent = new RegExp(`^${entries} entries fit, from entry 1 of [^\\n]+ until entry ${entries} of `)
  const withAnchors = await said('--file', file, '--anchors', anchors)
  assert.match(withAnchors, extent)
  assert.match(withAnchors, /Checkpoints of --anchors, \d+ of them, cover entries until \d+\./)
  assert.match(withAnchors, /No checkpoint covers the last \d+ entries/)
  assert.match(await said('--file', file), new RegExp(`No checkpoint covers the last ${entries} entries`))
  assert.match(await said(), /Checkpoints kept in the same database, \d+ of them, cover/)
})

test('the platform is asked with checkpoints only: a file without any is an error', async () => {
  const none = join(folder, 'empty.txt')
  for (const text of ['', '\n\n', '\r\n \n']) {
    writeFileSync(none, text)
    const { code, stdout, stderr } = await run('audit-log', 'verify', '--anchors', none)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /empty\.txt has no checkpoint/)
  }
})

test('a checkpoint counts once, however often the file has it', async () => {
  await json('audit-log', 'checkpoint')
  await chained(platform)
  const file = join(folder, 'once.jsonl')
  await json('audit-log', 'export', file)
  const notes = readFileSync(anchors, 'utf8')
  const count = notes.match(/^perkline\.audit/gm)?.length ?? 0
  const thrice = join(folder, 'thrice.txt')
  writeFileSync(thrice, `${notes}\n${notes}\n${notes}`)
  for (const place of [[], ['--file', file]]) {
    const once = await json('audit-log', 'verify', ...place, '--anchors', anchors)
    assert.equal(once.covered.checkpoints, count)
    const { covered } = await json('audit-log', 'verify', ...place, '--anchors', thrice)
    assert.deepEqual(covered, once.covered)
  }
})

test('checkpoints of the whole log say nothing of the platform’s own entries alone', async () => {
  await json('audit-log', 'checkpoint')
  await chained(platform)
  const file = join(folder, 'platform.jsonl')
  await json('audit-log', 'export', file, '--account', '00000000-0000-0000-0000-000000000000')
  const { code, stdout, stderr } = await run(...['audit-log', 'verify', '--file', file, '--anchors', anchors, '--json'])
  const { fault, entries, covered } = JSON.parse(stdout)
  assert.deepEqual([code, fault], [1, { seq: 1, reason: 'checkpoint' }])
  assert.deepEqual(covered, { checkpoints: 0, until: null, uncovered: entries })
  assert.match(stderr, /No checkpoint of the file of --anchors covers any entry/)
  const { accountHash } = JSON.parse(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '')
  const events = join(folder, 'platform-events.txt')
  writeFileSync(events, JSON.stringify({ data: { accountSeq: entries, accountHash } }))
  const own = await json('audit-log', 'verify', '--file', file, '--anchors', events)
  assert.deepEqual(own.covered, { checkpoints: 1, until: entries, uncovered: 0 })
  // These events are about the entries of one account, so they prove nothing about the whole log.
  const whole = join(folder, 'whole.jsonl')
  await json('audit-log', 'export', whole)
  const other = await run('audit-log', 'verify', '--file', whole, '--anchors', events, '--json')
  assert.deepEqual(JSON.parse(other.stdout).fault, { seq: 1, reason: 'checkpoint' })
})

test('events of other types do not hide that the end of a log is missing', async () => {
  await chained(platform)
  const file = join(folder, 'cut.jsonl')
  const nobody = '00000000-0000-0000-0000-000000000000'
  const { entries } = await json('audit-log', 'export', file, '--account', nobody)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const { accountHash } = JSON.parse(lines.at(-1) ?? '')
  writeFileSync(file, lines.slice(0, -1).join('\n'))
  const events = join(folder, 'mixed-events.txt')
  const checkpoint = JSON.stringify({ type: 'audit.checkpoint', data: { accountSeq: entries, accountHash } })
  const other = JSON.stringify({ type: 'catalogue.changed', data: { accountSeq: 'none of ours' } })
  writeFileSync(events, [other, checkpoint, other, ''].join('\n'))
  const { code, stdout } = await run('audit-log', 'verify', '--file', file, '--anchors', events, '--json')
  assert.deepEqual([code, JSON.parse(stdout).fault], [1, { seq: entries, reason: 'cut-off' }])
  writeFileSync(file, lines.join('\n'))
  const whole = await json('audit-log', 'verify', '--file', file, '--anchors', events)
  assert.deepEqual(whole.covered, { checkpoints: 1, until: entries, uncovered: 0 })
  const { stdout: said } = await run('audit-log', 'verify', '--file', file, '--anchors', events)
  assert.match(said, /No signature was checked/)
  for (const wrong of [
    'null',
    '5',
    '["a"]',
    'nonsense',
    '{"data":null}',
    '{"data":[]}',
    JSON.stringify({ data: { accountSeq: '1', accountHash } }),
    JSON.stringify({ data: { accountSeq: 1.5, accountHash } }),
    JSON.stringify({ data: { accountSeq: 0, accountHash } }),
    JSON.stringify({ type: 'audit.checkpoint', data: { accountSeq: 1 } }),
    JSON.stringify({ data: { accountSeq: 1, accountHash: `${accountHash}0` } }),
    JSON.stringify({ data: { accountSeq: 1, accountHash: 'z'.repeat(64) } }),
  ])
    for (const [text, line] of [
      [`${checkpoint}\n\n${wrong}`, 3],
      [`${wrong}\n${checkpoint}`, 1],
    ] as const) {
      writeFileSync(events, text)
      const { code, stdout, stderr } = await run('audit-log', 'verify', '--file', file, '--anchors', events)
      assert.deepEqual([code, stdout], [1, ''], wrong)
      assert.match(stderr, new RegExp(`mixed-events\\.txt, line ${line}, is no checkpoint`), wrong)
    }
})

test('a keys file that is not a JWKS gives a clear error message', async () => {
  const file = join(folder, 'keys-log.jsonl')
  await json('audit-log', 'export', file)
  const keys = join(folder, 'keys.json')
  for (const text of ['null', '5', '{}', '{"keys":5}', '{"keys":[null]}', '{"keys":[{"x":5}]}', '{"keys":["x"]}']) {
    writeFileSync(keys, text)
    const { code, stdout, stderr } = await run('audit-log', 'verify', '--file', file, '--keys', keys)
    assert.deepEqual([code, stdout], [1, ''], text)
    assert.match(stderr, /keys\.json is no JWKS/, text)
  }
})

test('remarks and notes of another platform are passed over, and the output says so', async () => {
  await json('audit-log', 'checkpoint')
  await chained(platform)
  const [file, keys, notes] = ['noted.jsonl', 'own-keys.json', 'notes.txt'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await json('audit-log', 'export', file)
  writeFileSync(keys, JSON.stringify((await platform.call('GET', '/.well-known/perkline-keys.json')).body))
  const own = readFileSync(anchors, 'utf8').trimEnd()
  const verify = (...args: string[]) => run('audit-log', 'verify', '--file', file, '--anchors', notes, ...args)
  writeFileSync(notes, `\n# kept by the bank\n\n${own}\n# until here\n${own}\n\n# the end\n`)
  const checked = await verify('--keys', keys)
  assert.deepEqual([checked.code, checked.stderr], [0, ''])
  assert.doesNotMatch(checked.stdout, /No signature|another platform/)
  const unchecked = await verify()
  assert.equal(unchecked.code, 0)
  assert.match(unchecked.stdout, /No signature was checked/)
  assert.equal((await run('audit-log', 'verify', '--anchors', notes)).code, 0)
  const other = own
    .split('\n\n')
    .slice(0, 2)
    .join('\n\n')
    .replace(/perkline\.audit\/[0-9a-f-]{36}/g, `perkline.audit/${randomUUID()}`)
  writeFileSync(notes, `${other}\n\n${own}\n`)
  const mixed = await verify('--keys', keys)
  assert.deepEqual([mixed.code, mixed.stderr], [0, ''])
  assert.match(mixed.stdout, /1 note of another platform was passed over/)
  // Without keys the command cannot tell which notes belong to this log.
  const blind = await verify()
  assert.equal(blind.code, 1)
  assert.match(blind.stderr, /notes of another platform.*--keys/)
  // If none of the notes in the file is signed by the keys, all may be forged. So the command skips no note, and fails.
  writeFileSync(notes, `${other}\n`)
  const forged = await verify('--keys', keys, '--json')
  assert.deepEqual([forged.code, JSON.parse(forged.stdout).fault?.reason], [1, 'checkpoint'])
})

test('a note that a full disk cut off is passed over and counted; the next one begins on its own line', async () => {
  const whole = readFileSync(anchors)
  const [file, keys] = [join(folder, 'torn.jsonl'), join(folder, 'torn-keys.json')]
  writeFileSync(keys, JSON.stringify((await platform.call('GET', '/.well-known/perkline-keys.json')).body))
  const note = whole.subarray(whole.lastIndexOf('\n\nperkline.audit/') + 2)
  const dash = note.indexOf('—')
  try {
    for (const length of [3, 30, note.indexOf('\n') + 1, dash - 20, dash, dash + 1, dash + 3, note.length - 10]) {
      writeFileSync(anchors, Buffer.concat([whole, Buffer.from('\n'), note.subarray(0, length)]))
      await json('audit-log', 'checkpoint')
      await chained(platform)
      rmSync(file, { force: true })
      await json('audit-log', 'export', file)
      for (const place of [[], ['--file', file, '--keys', keys]]) {
        const { code, stdout, stderr } = await run('audit-log', 'verify', '--anchors', anchors, ...place)
        assert.deepEqual([code, stderr], [0, ''], `${length}: ${stdout}`)
        assert.match(stdout, /1 note is incomplete and was passed over\./)
        const { incomplete, covered } = await json('audit-log', 'verify', '--anchors', anchors, ...place)
        assert.deepEqual([incomplete, covered.uncovered <= 1], [1, true], `${length}`)
      }
    }
    const wrong = note.toString().replace(/.{8}(=*)\n$/, 'AAAAAAAA$1\n')
    writeFileSync(anchors, Buffer.concat([whole, Buffer.from(`\n${wrong}`)]))
    const changed = await run('audit-log', 'verify', '--anchors', anchors, '--json')
    assert.deepEqual([changed.code, JSON.parse(changed.stdout).fault?.reason], [1, 'checkpoint'])
    writeFileSync(anchors, note.subarray(0, dash))
    const none = await run('audit-log', 'verify', '--anchors', anchors)
    assert.match(none.stderr, /has no checkpoint, so nothing was checked/)
  } finally {
    writeFileSync(anchors, whole)
  }
})

test('a file that ends before a checkpoint is cut off, and the answer says what else it may be', async () => {
  await json('audit-log', 'checkpoint')
  await chained(platform)
  const file = join(folder, 'period.jsonl')
  await json('audit-log', 'export', file)
  for (const kept of [2, 0]) {
    writeFileSync(file, readFileSync(file, 'utf8').split('\n').slice(0, kept).join('\n'))
    const { code, stdout, stderr } = await run(
      ...['audit-log', 'verify', '--file', file, '--anchors', anchors, '--json'],
    )
    assert.deepEqual([code, JSON.parse(stdout).fault], [1, { seq: kept + 1, reason: 'cut-off' }])
    assert.match(stderr, /A checkpoint covers entries until \d+\. .*period/)
  }
})

test('only a line feed ends a line of a file', async () => {
  const separators = 'one\u2028two\u2029three\u0085four'
  await platform.platform.database.execute(
    `insert into outbox (kind, account_type, account, data)
     select kind, account_type, account, jsonb_set(data, '{change}', jsonb_build_object('terms', jsonb_build_array(null, $1::text)))
     from outbox where kind = 'audit' and account_type = 'bank' limit 1`,
    [separators],
  )
  await json('audit-log', 'checkpoint')
  const file = join(folder, 'separators.jsonl')
  await chained(platform)
  const { entries } = await json('audit-log', 'export', file)
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(separators))
  const verified = await json('audit-log', 'verify', '--file', file, '--anchors', anchors)
  assert.deepEqual([verified.ok, verified.entries], [true, entries])
  writeFileSync(file, text.replaceAll('\n', '\r\n'))
  assert.deepEqual(await json('audit-log', 'verify', '--file', file, '--anchors', anchors), verified)
})

test('an empty file does not pass', async () => {
  const file = join(folder, 'empty.jsonl')
  for (const text of ['', '\n']) {
    writeFileSync(file, text)
    const { code, stdout, stderr } = await run('audit-log', 'verify', '--file', file)
    assert.deepEqual([code, stdout, stderr], [1, '', `${file} is empty, so nothing was checked.\n`])
  }
})

test('a file without a checkpoint that covers it, and a file that is not a log, do not pass', async () => {
  const file = join(folder, 'short.jsonl')
  const { entries } = await json('audit-log', 'export', file)
  const none = join(folder, 'none.txt')
  writeFileSync(none, '')
  const verify = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('audit-log', 'verify', '--file', file, ...args, '--json')
    return { code, stderr, ...JSON.parse(stdout) }
  }
  const uncovered = await verify('--anchors', none)
  assert.deepEqual([uncovered.code, uncovered.ok, uncovered.entries], [1, false, entries])
  assert.deepEqual(uncovered.fault, { seq: 1, reason: 'checkpoint' })
  assert.match(uncovered.stderr, /No checkpoint/)
  const [first, second, ...others] = readFileSync(file, 'utf8').split('\n')
  for (const line of ['null', 'nonsense', '{"seq":"3"}', '{"seq":3,"entry":"{}","accountHash":"00","hash":3}']) {
    writeFileSync(file, [first, second, line, ...others.slice(1)].join('\n'))
    const { code, ok, fault, stderr } = await verify()
    assert.deepEqual([code, ok, fault], [1, false, { seq: 3, reason: 'changed' }], line)
    assert.match(stderr, /line 3/)
  }
})

test('a change of the master key seals the signing key anew: the same key signs on', async () => {
  const newKey = randomBytes(32).toString('base64')
  const sealed = async () =>
    (await platform.platform.database.query<{ key: Buffer }>('select sealed_private_key as key from audit_keys'))[0]
      ?.key
  const former = await sealed()
  const both = await platform.sibling({ MASTER_KEY: `${newKey},${formerKey}` })
  const rotated = await both.call('POST', '/admin/keys/rotate', { token: platform.config.operatorKey })
  assert.equal(rotated.status, 200, rotated.text)
  await both.close()
  assert.notDeepEqual(await sealed(), former)
  const later = await platform.sibling({ MASTER_KEY: newKey })
  const [own, theirs] = [
    await platform.call('GET', '/.well-known/perkline-keys.json'),
    await later.call('GET', '/.well-known/perkline-keys.json'),
  ]
  assert.deepEqual(theirs.body, own.body)
  const made = await later.call('POST', '/admin/audit-log/checkpoint', { token: platform.config.operatorKey })
  assert.equal(made.status, 200, made.text)
  await later.close()
  const verified = await json('audit-log', 'verify', '--anchors', anchors)
  assert.deepEqual([verified.ok, verified.fault], [true, null])
})
