/** The command line against a real platform: each command, with its text output and with `--json`. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { profileLines } from '../../samples/make-profiles.ts'
import { perkline } from '../support/command.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
const folder = mkdtempSync(join(tmpdir(), 'perkline-cli-'))
before(async () => {
  platform = await startPlatform({}, { directory: null })
})
after(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const run = (args: string[], input = '') =>
  perkline(args, { input, env: { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey } })

/** Runs a command that must succeed and print exactly one line of JSON. */
async function json(args: string[], input = '') {
  const { code, stdout, stderr } = await run([...args, '--json'], input)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^[^\n]+\n$/)
  return JSON.parse(stdout)
}

const sampleDirectory = fileURLToPath(new URL('../../samples/directory.yaml', import.meta.url))
const tokenStatus = async (credential: { clientId: string; secret: string }) =>
  (
    await platform.call('POST', '/getToken/auth', {
      body: { clientId: credential.clientId, secret: credential.secret },
    })
  ).status

test('apply: a dry run changes nothing, the first run creates, the second finds nothing to do', async () => {
  const planned = await json(['apply', sampleDirectory, '--dry-run'])
  assert.deepEqual(await json(['stock']), [])
  const applied = await json(['apply', sampleDirectory])
  assert.ok(applied.created > 0)
  assert.deepEqual(planned, applied)
  const { created, updated, unchanged } = await json(['apply', sampleDirectory])
  assert.deepEqual({ created, updated, unchanged }, { created: 0, updated: 0, unchanged: applied.created })
})

test('apply: every fault is told with its path and line, a missing terminals file among them', async () => {
  const path = join(folder, 'faulty.yaml')
  writeFileSync(path, 'banks:\n  - { code: omega }\nmerchants:\n  - { code: m, name: M, terminalsFile: none.csv }\n')
  const { code, stderr } = await run(['apply', path])
  assert.equal(code, 1)
  assert.match(stderr, /^ {2}- banks\[0\]\.name \(line 2\)/m)
  assert.match(stderr, /^ {2}- merchants\[0\]\.terminalsFile \(line 4\)/m)
})

test('credentials: issued, listed, rotated and revoked', async () => {
  const issued = await json(['credentials', 'issue', '--bank', 'alpha', '--role', 'ADMIN', '--label', 'бек-офіс'])
  assert.deepEqual(Object.keys(issued).sort(), ['clientId', 'secret'])
  assert.equal(await tokenStatus(issued), 200)
  const merchant = await run(['credentials', 'issue', '--merchant', 'grocer'])
  assert.match(merchant.stdout, /^clientId {2}\S+\nsecret {4}\S+\nStore the secret now: it is shown only once\.\n$/)

  const rotated = await json(['credentials', 'rotate', issued.clientId, '--overlap', 'PT0S'])
  assert.deepEqual(Object.keys(rotated).sort(), ['clientId', 'previousValidUntil', 'secret'])
  assert.deepEqual([await tokenStatus(issued), await tokenStatus(rotated)], [400, 200])

  assert.deepEqual(await json(['credentials', 'revoke', issued.clientId]), { clientId: issued.clientId })
  assert.equal(await tokenStatus(rotated), 400)
  const listed = await json(['credentials', 'list'])
  const [first] = listed.filter((entry: { clientId: string }) => entry.clientId === issued.clientId)
  assert.deepEqual([first.bank, first.role, first.label], ['alpha', 'ADMIN', 'бек-офіс'])
  const { stdout } = await run(['credentials', 'list'])
  assert.match(stdout, new RegExp(`^${issued.clientId} +bank alpha +ADMIN .* revoked .* бек-офіс$`, 'm'))
})

test('users: added with a password from standard input, listed and disabled', async () => {
  const adding = ['users', 'add', '--merchant', 'grocer', '--login', 'olena@grocer.example', '--role', 'editor']
  const { userId } = await json(adding, 'very secret words 1\n')
  const body = { typeAccount: 'retailer', login: 'olena@grocer.example', password: 'very secret words 1' }
  assert.equal((await platform.call('POST', '/auth/login', { body })).status, 200)
  const again = await run(adding, 'very secret words 1\n')
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /taken/)

  assert.deepEqual(await json(['users', 'disable', 'olena@grocer.example']), { login: 'olena@grocer.example' })
  assert.equal((await platform.call('POST', '/auth/login', { body })).status, 401)
  const [user] = await json(['users', 'list'])
  assert.deepEqual([user.userId, user.merchant, user.role], [userId, 'grocer', 'editor'])
  assert.match((await run(['users', 'list'])).stdout, /^olena@grocer\.example +merchant grocer +editor .* disabled /m)
})

test('stock: imported with rejects, counted and withdrawn', async () => {
  const lines = [...profileLines({ count: 10, seed: 9700 })].join('').trimEnd().split('\n')
  const bad = lines.map((line, index) => (index === 3 || index === 7 ? line.replace('LPA:1$', 'LPA:1!') : line))
  const file = join(folder, 'stock.csv')
  const rejects = join(folder, 'rejects.csv')
  writeFileSync(file, `${bad.join('\r\n')}\r\n`)
  const importing = ['profiles', 'import', file, '--operator', 'kyivstar', '--tariff', 'eu-10gb']

  const strict = await run(importing)
  assert.deepEqual([strict.code, strict.stdout], [1, ''])
  assert.match(
    strict.stderr,
    /^Nothing was imported from .*stock\.csv:\n {2}- line 4.*\n {2}- line 8.*\n {2}- 2 errors in all/,
  )

  const imported = await json([...importing, '--skip-invalid', '--rejects', rejects])
  assert.deepEqual(imported, { imported: 8, duplicates: 0, rejected: 2 })
  const [header, fourth, eighth, ...others] = readFileSync(rejects, 'utf8').split('\n')
  assert.equal(header, `${lines[0]},line,reason`)
  assert.ok(fourth?.startsWith(`${bad[3]},4,activationCode must be`))
  assert.ok(eighth?.startsWith(`${bad[7]},8,activationCode must be`))
  assert.deepEqual(others, [''])
  const { duplicateLines, ...again } = await json([...importing, '--skip-invalid'])
  assert.deepEqual(again, { imported: 0, duplicates: 8, rejected: 2 })
  assert.deepEqual(duplicateLines[2], { lineNumber: 5, otherActivationCode: false })

  const iccids = lines.slice(1, 3).map(line => line.split(',')[0] ?? '')
  const withdraw = ['profiles', 'withdraw', ...iccids]
  const ofOther = await json([...withdraw, '--operator', 'kyivstar', '--tariff', 'ua-start'])
  const problemsOf = (reason: string) => iccids.map((iccid, n) => ({ iccid: iccid.slice(-4), line: n + 1, reason }))
  assert.deepEqual(ofOther, { withdrawn: 0, notFree: 2, problems: problemsOf('other-tariff') })
  const ofTariff = await json([...withdraw, '--operator', 'kyivstar', '--tariff', 'eu-10gb'])
  assert.deepEqual(ofTariff, { withdrawn: 2, notFree: 0, problems: [] })
  assert.deepEqual(await json(withdraw), { withdrawn: 0, notFree: 2, problems: problemsOf('withdrawn') })
  const { stdout: told } = await run(withdraw)
  assert.ok(told.startsWith('0 withdrawn, 2 left as they are\n'))
  assert.ok(told.includes(`  number 2, …${iccids[1]?.slice(-4)}: withdrawn before\n`))
  const counts = (await json(['stock'])).find((tariff: { tariffCode: string }) => tariff.tariffCode === 'eu-10gb')
  const expected = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', free: 6, reserved: 0, sold: 0, withdrawn: 2 }
  assert.deepEqual(counts, expected)
  assert.match((await run(['stock'])).stdout, /^kyivstar +eu-10gb +6 +0 +0 +2$/m)
})

test('audit and keys rotate', async () => {
  const audited = await json(['audit'])
  assert.equal(audited.ok, true)
  const { stdout } = await run(['audit'])
  assert.equal(
    stdout,
    audited.checks.map(({ name, detail }: Record<string, string>) => `ok   ${name}: ${detail}\n`).join(''),
  )
  assert.deepEqual(await json(['keys', 'rotate']), { resealed: 0 })
})

test('refusals exit with 1: an unknown bank, tariff and credential, and a wrong key', async () => {
  const file = join(folder, 'one.csv')
  writeFileSync(file, [...profileLines({ count: 1, seed: 9701 })].join(''))
  const refusals: [args: string[], message: RegExp][] = [
    [['credentials', 'issue', '--bank', 'nobody', '--role', 'ADMIN'], /^No bank has the code nobody\n$/],
    [['credentials', 'revoke', 'pk_none'], /^No credential has the clientId pk_none\n$/],
    [
      ['profiles', 'import', file, '--operator', 'kyivstar', '--tariff', 'none'],
      /^Nothing was imported from .*no tariff/,
    ],
  ]
  for (const [args, message] of refusals) {
    const { code, stdout, stderr } = await run([...args, '--json'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, message)
  }
  for (const args of [['stock'], ['profiles', 'import', file, '--operator', 'kyivstar', '--tariff', 'eu-10gb']]) {
    const wrong = await perkline(args, { env: { PERKLINE_URL: platform.url } })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /OPERATOR_KEY is wrong/)
  }
})

test('a process without the admin service says so', async () => {
  const { code, stderr } = await perkline(['stock'], {
    env: { PERKLINE_URL: `${platform.url}/elsewhere`, OPERATOR_KEY: platform.config.operatorKey },
  })
  assert.equal(code, 1)
  assert.match(stderr, /has no admin interface there/)
})
