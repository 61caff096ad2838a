/** Withdrawals take only profiles of the named tariff, and report a reason for each profile that is not withdrawn. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { profileLines } from '../../../samples/make-profiles.ts'
import { openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

const admin = (method: string, path: string, options: { body?: object; csv?: string } = {}) =>
  platform.call(method, `/admin${path}`, {
    token: platform.config.operatorKey,
    ...(options.body && { body: options.body }),
    ...(options.csv && { raw: options.csv, headers: { 'content-type': 'text/csv' } }),
  })

async function load(tariff: string, seed: number, count: number) {
  const lines = [...profileLines({ count, seed })]
  const answer = await admin('POST', `/profiles?operator=kyivstar&tariff=${tariff}`, { csv: lines.join('') })
  assert.equal(answer.status, 200, answer.text)
  return lines.slice(1).map(line => line.split(',')[0] ?? '')
}

test('profiles of another tariff stay for sale, and every reason is told by the last digits and the place', async () => {
  const eu = await load('eu-10gb', 501, 4)
  const ua = await load('ua-5gb', 502, 2)
  const bank = await openBank(platform)
  const { orderId } = (await bank.reserve('sold')).body
  assert.equal((await bank.confirm(orderId)).status, 200)
  await bank.reserve('reserved')
  const free = eu.slice(2)
  const given = [...ua, ...eu, '8999900000000000000', ...free]
  const tariff = { operator: 'kyivstar', tariff: 'eu-10gb' }
  const { status, body } = await admin('POST', '/profiles/withdraw', { body: { iccids: given, ...tariff } })
  assert.equal(status, 200)
  const told = (line: number, reason: string) => ({ iccid: given[line - 1]?.slice(-4), line, reason })
  assert.deepEqual(body, {
    withdrawn: 2,
    notFree: 5,
    problems: [
      told(1, 'other-tariff'),
      told(2, 'other-tariff'),
      told(3, 'sold'),
      told(4, 'reserved'),
      told(7, 'unknown'),
    ],
  })
  const again = await admin('POST', '/profiles/withdraw', { body: { iccids: free, ...tariff } })
  assert.deepEqual(
    again.body.problems.map(({ reason }: { reason: string }) => reason),
    ['withdrawn', 'withdrawn'],
  )
  // A request with an operator and no tariff is for all tariffs of this operator. Profiles of other operators stay.
  const other = await admin('POST', '/profiles/withdraw', { body: { iccids: ua, operator: 'roamwide' } })
  assert.deepEqual([other.body.withdrawn, other.body.notFree], [0, 2])
  const own = await admin('POST', '/profiles/withdraw', { body: { iccids: ua, operator: 'kyivstar' } })
  assert.deepEqual([own.body.withdrawn, own.body.notFree], [2, 0])
})

test('404 for an unknown operator or tariff, 400 for a tariff alone, and nothing is withdrawn', async () => {
  const iccids = await load('eu-10gb', 503, 1)
  for (const [scope, status] of [
    [{ operator: 'nobody' }, 404],
    [{ operator: 'kyivstar', tariff: 'nothing' }, 404],
    [{ operator: 'roamwide', tariff: 'eu-10gb' }, 404],
    [{ tariff: 'eu-10gb' }, 400],
  ] as const)
    assert.equal((await admin('POST', '/profiles/withdraw', { body: { iccids, ...scope } })).status, status)
  assert.equal((await admin('POST', '/profiles/withdraw', { body: { iccids } })).body.withdrawn, 1)
})

test('a faulty line of a stock file is told with a code beside its words', async () => {
  const [header, good = '', other = ''] = [...profileLines({ count: 2, seed: 504 })]
  const csv = [header, good.replace(/^\d/, 'x'), other.replace('LPA:1', 'LPA:2')].join('')
  const { text } = await admin('POST', '/profiles?operator=kyivstar&tariff=eu-10gb&skipInvalid=true', { csv })
  const rejects = text
    .trim()
    .split('\n')
    .flatMap(line => JSON.parse(line).reject ?? [])
  assert.deepEqual(
    rejects.map(({ lineNumber, column, rule }) => [lineNumber, column, rule]),
    [
      [2, 'iccid', 'iccid-digits'],
      [3, 'activationCode', 'activation-form'],
    ],
  )
})

test('each check of the audit has a code of its own, and its figures as numbers', async () => {
  const { body } = await admin('GET', '/audit')
  const codes = body.checks.map(({ code }: { code: string }) => code)
  assert.equal(new Set(codes).size, codes.length)
  for (const code of codes) assert.match(code, /^[a-z]+(-[a-z]+)*$/)
  const { params, detail } = body.checks.find(({ code }: { code: string }) => code === 'profile-states')
  assert.ok(detail.startsWith(`${params.profiles} profiles of ${params.tariffs} tariffs are ${params.free} free`))
})
