/**
 * The commands for statements and orders against a real platform, also after somebody has changed its books directly in
 * the database (contract/statements.md, "Checking").
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commandsAt, perkline } from '../support/command.ts'
import { advance, openBank } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let orderId: string
const folder = mkdtempSync(join(tmpdir(), 'perkline-statements-'))
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 5)
  const alpha = await openBank(platform)
  orderId = (await alpha.reserve('payment-42')).body.orderId
  assert.equal((await alpha.confirm(orderId)).status, 200)
  await alpha.reserve('payment-421')
  await advance(platform, 'P2D')
})
after(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const { run, json } = commandsAt(() => platform)

test('statements are listed and shown', async () => {
  const { data, missing } = await json('statements', 'list', '--bank', 'alpha')
  assert.deepEqual(
    [data.map((one: any) => [one.bank.code, one.number]), missing],
    [
      [
        ['alpha', 2],
        ['alpha', 1],
      ],
      [],
    ],
  )
  const { stdout } = await run('statements', 'list')
  assert.match(
    stdout,
    /^BANK +DAY +NUMBER +SALES +NET +LATE +ID\nalpha +\S+ +2 +0 +- +0 +\S+\nalpha +\S+ +1 +1 +399\.00 UAH +0/,
  )
  const shown = await run('statements', 'show', data[1].statementId)
  assert.match(shown.stdout, /UAH +1 +399\.00 +0\.00 +399\.00/)
  assert.deepEqual((await json('statements', 'list', '--bank', 'beta')).data, [])
  assert.equal((await run('statements', 'list', '--bank', 'nobody')).code, 1)
})

test('an export has the bytes of the files', async () => {
  const path = join(folder, 'all.csv')
  const { bytes } = await json('statements', 'export', path, '--bank', 'alpha')
  const { data } = await json('statements', 'list', '--bank', 'alpha')
  const text = readFileSync(path, 'utf8')
  assert.equal(Buffer.byteLength(text), bytes)
  const second = text.slice(text.indexOf('\nH,') + 1)
  const hashes = [text.slice(0, text.length - second.length), second].map(file =>
    createHash('sha256').update(file).digest('hex'),
  )
  assert.deepEqual(hashes, data.map((one: any) => one.sha256).toReversed())
})

test('an export that breaks off leaves the former file as it was', async () => {
  const path = join(folder, 'former.csv')
  writeFileSync(path, 'as it was')
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/csv' })
    reply.write('H,1\nL,2\n', () => setTimeout(() => reply.destroy(), 50))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const PERKLINE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stderr } = await perkline(['statements', 'export', path, '--bank', 'alpha'], {
    env: { PERKLINE_URL, OPERATOR_KEY: platform.config.operatorKey },
  })
  server.close()
  assert.equal(code, 1, stderr)
  assert.match(stderr, /The connection to the platform broke before its answer was complete/)
  assert.equal(readFileSync(path, 'utf8'), 'as it was')
  assert.deepEqual(
    readdirSync(folder).filter(name => name.endsWith('.part')),
    [],
  )
})

test('an order is found by exactly its externalId', async () => {
  const found = await json('orders', 'find', '--external-id', 'payment-42')
  assert.deepEqual(
    found.map((one: any) => [one.bank.code, one.orderId]),
    [['alpha', orderId]],
  )
  assert.deepEqual(await json('orders', 'find', '--external-id', 'payment-42', '--bank', 'beta'), [])
})

test('what was changed behind the platform’s back is found, by the audit too', async () => {
  const { ok, checks } = await json('statements', 'verify')
  assert.ok(ok, JSON.stringify(checks))
  const { database } = platform.platform
  const breaks: [string, string, RegExp][] = [
    [
      `update statement_files set bytes = 'H,1' where piece = 0`,
      'statement-chain',
      /another hash.*|name the one before/,
    ],
    ['update statement_lines set amount = 1', 'statement-lines', /is not what was sold/],
    ['update statement_lines set amount = 1', 'statement-sums', /has sums that are not/],
    ['delete from statement_lines', 'statement-lines', /is confirmed and has no line/],
    ['update statements set number = 3 where number = 2', 'statement-chain', /does not follow/],
    ['delete from statement_lines', 'statement-chain', /statement 1 of alpha lacks lines/],
    [
      `update statement_lines set confirmed_at = confirmed_at + interval '9 days'`,
      'statement-chain',
      /statement 1 of alpha lacks lines, or has one that was confirmed after its end/,
    ],
    [
      'delete from statement_files',
      'statement-chain',
      /1 of alpha has a file with another hash.*2 of alpha has a file/,
    ],
    [
      `update statement_files set bytes = bytes || '\\x20'::bytea where (statement_id, piece) in (
         select statement_id, max(piece) from statement_files join statements using (statement_id) where number = 2 group by 1)`,
      'statement-chain',
      /^statement 2 of alpha has a file with another hash$/,
    ],
    // A statement with 30,000 lines is checked separately, and its file is read in several steps.
    [
      `with long as (update statements set lines = 30000 where number = 2)
       update statement_files set bytes = bytes || '\\x20'::bytea where piece = 1`,
      'statement-chain',
      /1 of alpha has a file with another hash.*2 of alpha lacks lines.*2 of alpha has a file with another hash/,
    ],
  ]
  for (const [change, code, expected] of breaks) {
    await database.execute('create table if not exists kept_lines as select * from statement_lines')
    await database.execute('create table if not exists kept_files as select * from statement_files')
    await database.execute(change)
    const { code: exit, stdout } = await run('statements', 'verify', '--bank', 'alpha', '--json')
    const check = JSON.parse(stdout.split('\n')[0] ?? '').checks.find((one: any) => one.code === code)
    assert.deepEqual([exit, check.ok], [1, false], change)
    assert.match(check.detail, expected)
    assert.equal((await run('statements', 'verify', '--bank', 'beta')).code, 0)
    await database.execute('truncate statement_lines, statement_files')
    await database.execute('insert into statement_lines select * from kept_lines')
    await database.execute('insert into statement_files select * from kept_files')
    await database.execute('update statements set number = 2, lines = 0 where number > 1')
  }
  assert.equal((await run('statements', 'verify')).code, 0)
  assert.equal((await run('audit')).code, 0)
})
