/**
 * Error codes for programs (contract/http.md, "Error codes"). The cashback and the eSIM API send them in a header, the
 * portal's and the operator's API in a field of the body.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rolesOfPeople } from '../../../src/roles.ts'
import { createCampaign, openCampaignBank, openMerchant, type Partner } from '../../support/campaigns.ts'
import { advance, type Bank, openBank } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { openBrowser } from '../../support/portal.ts'
import { openRaw, readRaw, requestText } from '../../support/raw-http.ts'

const header = 'perkline-error-code'
const unknownId = '0c7e9b1a-5d0f-4b8e-9c57-3f1d2a6b8e40'

let platform: TestPlatform
let bank: Bank
let merchant: Partner
before(async () => {
  platform = await startPlatform({ OPEN_RESERVATIONS: '2' })
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
  merchant = await openMerchant(platform)
})
after(() => platform.close())

/**
 * Returns the status and the error code of an answer whose body the contract specifies; there the code is in a header.
 */
function codeOf({ headers, body, status }: Answer): [number, string | null] {
  assert.ok(!('code' in body))
  return [status, headers.get(header)]
}

/** Returns the status and the error code of an answer of the portal or the operator's API, which has no such header. */
function codeInBody({ headers, body, status }: Answer): [number, string] {
  assert.equal(headers.get(header), null)
  return [status, body.code]
}

const reserved = async (externalId: string): Promise<string> => (await bank.reserve(externalId)).body.orderId

test('every refusal of an order says why', async () => {
  const first = await reserved('first')
  assert.deepEqual(codeOf(await bank.qr(first)), [409, 'order-not-confirmed'])
  assert.deepEqual(codeOf(await bank.reserve({ externalId: 'first', tariffCode: 'ua-5gb' })), [
    409,
    'external-id-mismatch',
  ])
  const second = await reserved('second')
  assert.deepEqual(codeOf(await bank.reserve('third')), [429, 'too-many-reservations'])
  // The bank can act on its limit, but not on the stock.
  for (const tariffCode of ['empty', 'off'])
    assert.deepEqual(codeOf(await bank.reserve({ externalId: tariffCode, tariffCode })), [429, 'too-many-reservations'])
  assert.deepEqual(codeOf(await bank.reserve({ externalId: 'none', tariffCode: 'none' })), [404, 'not-found'])
  await bank.cancel(second)
  assert.deepEqual(codeOf(await bank.confirm(second)), [409, 'order-cancelled'])
  await bank.confirm(first)
  assert.deepEqual(codeOf(await bank.cancel(first)), [409, 'order-confirmed'])
  const late = await reserved('late')
  await advance(platform, 'PT15M')
  assert.deepEqual(codeOf(await bank.confirm(late)), [409, 'order-expired'])
  assert.deepEqual(codeOf(await bank.cancel(late)), [409, 'order-expired'])
})

test('503 tells a tariff without stock from one that is switched off', async () => {
  assert.deepEqual(codeOf(await bank.reserve({ externalId: 'a', tariffCode: 'empty' })), [503, 'no-stock'])
  assert.deepEqual(codeOf(await bank.reserve({ externalId: 'b', tariffCode: 'off' })), [503, 'off-sale'])
})

test('a campaign’s state and the lack of an approval have codes of their own', async () => {
  await platform.applyDirectory(testDirectory)
  const [{ bank_id: alpha } = { bank_id: '' }] = await platform.platform.database.query<{ bank_id: string }>(
    `select bank_id from banks where code = 'alpha'`,
  )
  const [{ id: visa } = { id: '' }] = await platform.platform.database.query<{ id: string }>(
    'select payment_system_id as id from payment_systems limit 1',
  )
  const id = await createCampaign(platform, { participantsIds: [alpha], paymentSystemsId: [visa] }, merchant)
  const launch = () => merchant.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
  assert.deepEqual(codeOf(await launch()), [400, 'no-bank-approved'])
  const alphaBank = await openCampaignBank(platform)
  assert.equal((await alphaBank.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  assert.deepEqual(codeOf(await alphaBank.call('POST', `/cashbacks/${id}/reject`)), [400, 'campaign-state'])
  assert.deepEqual(
    codeOf(await merchant.call('DELETE', `/cashbacks/for-merchant/${id}`, { headers: { 'if-match': '"99"' } })),
    [412, 'stale'],
  )
  assert.deepEqual(codeInBody(await alphaBank.call('POST', `/portal/cashbacks/${id}/compensation-received`)), [
    400,
    'campaign-state',
  ])
})

test('what every API refuses alike has the same codes in each of them', async () => {
  const token = platform.config.operatorKey
  const cases: [string, string, string, number][] = [
    ['GET', '/nowhere', 'not-found', 404],
    ['PUT', '/portal/session', 'method-not-allowed', 405],
    ['PUT', '/admin/users', 'method-not-allowed', 405],
    ['PUT', '/esim/v1/orders', 'method-not-allowed', 405],
    ['GET', '/portal/home', 'unauthenticated', 401],
    ['GET', '/esim/v1/operators', 'unauthenticated', 401],
    ['GET', '/portal/nowhere', 'not-found', 404],
    ['GET', '/admin/nowhere', 'not-found', 404],
    ['GET', '/getToken/nowhere', 'not-found', 404],
  ]
  for (const [method, path, code, status] of cases) {
    const answer = await platform.call(method, path, path.startsWith('/admin') ? { token } : {})
    const hasOwnBody = /^\/(portal|admin)\//.test(path)
    assert.deepEqual((hasOwnBody ? codeInBody : codeOf)(answer), [status, code], `${method} ${path}`)
  }
  const login = (raw: string, headers = {}) => platform.call('POST', '/portal/session', { raw, headers })
  assert.deepEqual(codeInBody(await login('{')), [400, 'invalid'])
  assert.deepEqual(codeInBody(await login(' '.repeat(70_000))), [413, 'too-large'])
  assert.deepEqual(codeInBody(await login('x', { 'content-type': 'text/plain' })), [415, 'wrong-type'])
  assert.deepEqual(codeOf(await bank.call('GET', '/orders/x')), [400, 'invalid'])
  assert.deepEqual(codeOf(await bank.read(unknownId)), [404, 'not-found'])
  assert.deepEqual(codeOf(await merchant.call('GET', '/cashbacks/for-bank')), [403, 'forbidden'])
})

test('the portal’s and the operator’s errors tell which rule each field breaks', async () => {
  const token = platform.config.operatorKey
  const admin = (path: string, body: object) => platform.call('POST', `/admin${path}`, { token, body })
  const rulesOf = ({ status, body }: Answer) => {
    // There is one message for each broken rule.
    assert.equal(body.message.length, body.rules.length)
    return [status, body.code, body.rules]
  }
  const user = { platform: true, login: 'one', role: 'admin', password: 'long enough for anybody' }
  assert.deepEqual(rulesOf(await admin('/users', { ...user, role: 'king' })), [
    400,
    'invalid',
    [{ field: 'role', rule: 'one-of', params: { values: rolesOfPeople.platform.join(', ') } }],
  ])
  assert.deepEqual(rulesOf(await admin('/users', { ...user, login: '', nick: 'x' })), [
    400,
    'invalid',
    [
      { field: 'login', rule: 'login', params: { max: 128 } },
      { field: 'nick', rule: 'omitted', params: {} },
    ],
  ])
  const directory = 'banks:\n  - { code: -a, name: A, status: open }\n'
  assert.deepEqual(rulesOf(await admin('/directory', { directory, files: {} })), [
    400,
    'invalid',
    [
      { field: 'banks[0].code', line: 2, rule: 'code', params: {} },
      { field: 'banks[0].status', line: 2, rule: 'one-of', params: { values: 'active, suspended' } },
    ],
  ])
  assert.equal((await admin('/users', user)).status, 201)
  assert.deepEqual(rulesOf(await admin('/users', user)), [
    409,
    'conflict',
    [{ field: 'login', rule: 'login-taken', params: { login: 'one' } }],
  ])
})

test('a person’s request gets the broken rules in a header where the contract fixes the body; a system’s does not', async () => {
  const person = await openBrowser(platform, { merchant: 'grocer' }, rolesOfPeople.retailer[0])
  const body = { name: ' ', countryCode: 'U\u0456', sku: [''], minAmount: 2.001 }
  const create = (by: Pick<Partner, 'call'>) => by.call('POST', '/cashbacks/for-merchant', { body })
  const [seen, unseen] = [await create(person), await create(merchant)]
  assert.deepEqual([seen.status, seen.body], [400, unseen.body])
  assert.equal(unseen.headers.get('perkline-error-rules'), null)
  const rules: { field: string; rule: string; params: object }[] = JSON.parse(
    seen.headers.get('perkline-error-rules') ?? '',
  )
  assert.equal(rules.length, seen.body.message.length)
  assert.deepEqual(
    rules.filter(({ rule }) => rule !== 'given'),
    [
      { field: 'countryCode', rule: 'country', params: {} },
      { field: 'sku.0', rule: 'text', params: { max: 128 } },
      { field: 'name', rule: 'not-blank', params: {} },
      { field: 'minAmount', rule: 'decimals', params: { decimals: 2 } },
    ],
  )
})

test('the header of broken rules is short and in ASCII, however many and however named they are', async () => {
  const person = await openBrowser(platform, { merchant: 'grocer' }, rolesOfPeople.retailer[0])
  const body = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`${'поле'.repeat(10)}${index}`, 1]))
  const { headers } = await person.call('POST', '/cashbacks/for-merchant', { body })
  const header = headers.get('perkline-error-rules') ?? ''
  assert.match(header, /^[\x20-\x7e]{1000,4096}$/)
  assert.match(JSON.parse(header).at(-1).field, /^поле/)
})

test('a success has no code, and neither has an error that is not in the list', async () => {
  assert.equal((await bank.operators()).headers.get(header), null)
  const socket = await openRaw(platform.url)
  socket.write(requestText('GET', '/', { 'x-long': 'x'.repeat(20_000) }))
  const { status, headers } = await readRaw(socket)
  assert.deepEqual([status, headers[header]], [431, undefined])
  socket.destroy()
})
