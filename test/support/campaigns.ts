/**
 * Shared by the tests of campaigns: a directory with known ids, partners' calls, and campaigns created by a merchant.
 */
import assert from 'node:assert/strict'
import { addUser } from '../../src/access/operations.ts'
import { errorCodes } from '../../src/errors.ts'
import type { Answer, CallOptions, TestPlatform } from './platform.ts'

/** The ids of the entries in `campaignDirectory`. */
export const ids = {
  alpha: 'a1a1a1a1-0000-4000-8000-000000000001',
  beta: 'b2b2b2b2-0000-4000-8000-000000000002',
  gamma: 'c3c3c3c3-0000-4000-8000-000000000003',
  /** A suspended bank. */
  closed: 'd4d4d4d4-0000-4000-8000-000000000004',
  grocer: 'e5e5e5e5-0000-4000-8000-000000000005',
  voltshop: 'f6f6f6f6-0000-4000-8000-000000000006',
  visa: '11111111-aaaa-4aaa-8aaa-111111111111',
  mastercard: '22222222-bbbb-4bbb-8bbb-222222222222',
  UA: '33333333-cccc-4ccc-8ccc-333333333333',
  PL: '44444444-dddd-4ddd-8ddd-444444444444',
} as const

/**
 * Three connected banks and a suspended one; two merchants, of which voltshop excludes beta; terminals of both
 * merchants.
 */
export const campaignDirectory = `
countries:
  - { id: ${ids.UA}, code: UA, name: Ukraine, currency: { code: UAH, name: Hryvnia, symbol: ₴, icon: "" } }
  - { id: ${ids.PL}, code: PL, name: Poland, currency: { code: PLN, name: Zloty, symbol: zł, icon: "https://pl.example/zl.svg" } }
paymentSystems:
  - { id: ${ids.visa}, code: visa, name: Visa }
  - { id: ${ids.mastercard}, code: mastercard, name: Mastercard }
banks:
  - { id: ${ids.alpha}, code: alpha, name: Alpha Bank, logoUrl: "https://alpha.example/logo.svg", apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }
  - { id: ${ids.beta}, code: beta, name: Бета Банк, logoUrl: "data:image/png;base64,aGk=", apiVersion: "1.1", esim: { deliveryMode: local, operators: all } }
  - { id: ${ids.gamma}, code: gamma, name: Gamma Bank, logoUrl: "https://gamma.example/logo.svg", apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }
  - { id: ${ids.closed}, code: closed, name: Closed Bank, logoUrl: "", apiVersion: "1.0", status: suspended, esim: { deliveryMode: local, operators: all } }
merchants:
  - id: ${ids.grocer}
    code: grocer
    name: Гросер
    nameEn: Grocer
    terminals:
      - { terminalId: T-0001, name: Shop 1, location: "Kyiv, Main St 1", paymentSystemMerchantId: M-77, paymentSystemMerchantName: GROCER }
      - { terminalId: T-0002, name: Shop 2 }
  - id: ${ids.voltshop}
    code: voltshop
    name: Вольт
    excludedBanks: [beta]
    terminals:
      - { terminalId: V-0001, name: Online }
`

/** Somebody who calls the API with one token: a partner's backend, or a person of a partner or of the platform. */
export type Partner = {
  token: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

export const partnerAt = (platform: Pick<TestPlatform, 'call'>, token: string): Partner => ({
  token,
  call: (method, path, options = {}) => platform.call(method, path, { token, ...options }),
})

export const openMerchant = async (platform: TestPlatform, merchant = 'grocer'): Promise<Partner> =>
  partnerAt(platform, await platform.merchantToken(merchant))

export const openCampaignBank = async (
  platform: TestPlatform,
  bank = 'alpha',
  role: 'ADMIN' | 'EDITOR' | 'VIEWER' = 'ADMIN',
): Promise<Partner> => partnerAt(platform, await platform.bankToken(bank, role))

let logins = 0

/** A person who has logged in to the portal with this role. */
export async function openUser(
  platform: TestPlatform,
  owner: { merchant: string } | { bank: string } | 'platform',
  role: string,
): Promise<Partner> {
  const login = `user-${++logins}`
  const password = 'a password of theirs'
  await addUser({ database: platform.platform.database }, { owner, login, role, password })
  const typeAccount = owner === 'platform' ? 'platform' : 'bank' in owner ? 'bank' : 'retailer'
  const answer = await platform.call('POST', '/auth/login', { body: { typeAccount, login, password } })
  assert.equal(answer.status, 200, answer.text)
  return partnerAt(platform, answer.body.access_token)
}

/**
 * Checks that an operation for merchants refuses callers without a token, banks, the platform's people and, if it changes
 * something, a `viewer`.
 *
 * @param given.isChange false: a `viewer` may call it, too
 * @param given.statusFor the status of the answer to callers that are allowed
 */
export async function assertMerchantsOnly(
  platform: TestPlatform,
  given: { isChange: boolean; statusFor: number; call(partner: Partner | null): Promise<Answer> },
): Promise<void> {
  assertRefused(await given.call(null), 401)
  assertRefused(await given.call(partnerAt(platform, 'no.token.atall')), 401)
  for (const role of ['ADMIN', 'EDITOR', 'VIEWER'] as const)
    assertRefused(await given.call(await openCampaignBank(platform, 'alpha', role)), 403)
  assertRefused(await given.call(await openUser(platform, 'platform', 'admin')), 403)
  assertRefused(await given.call(await openUser(platform, { bank: 'alpha' }, 'ADMIN')), 403)
  for (const role of ['admin_user', 'editor', 'viewer']) {
    const answer = await given.call(await openUser(platform, { merchant: 'grocer' }, role))
    if (role === 'viewer' && given.isChange) assertRefused(answer, 403)
    else assert.equal(answer.status, given.statusFor, `${role}: ${answer.text}`)
  }
}

const dayMs = 86_400_000

/** The instant this many days from now by the platform's clock. */
export const inDays = (platform: TestPlatform, days: number): string =>
  new Date(platform.platform.deps.campaigns.clock.now().getTime() + days * dayMs).toISOString()

/**
 * A valid form that invites alpha, with a period from 10 to 40 days from now. `overrides` adds or replaces fields;
 * undefined removes one.
 */
export function campaignForm(platform: TestPlatform, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    participantsIds: [ids.alpha],
    name: 'Осінь',
    dateFrom: inDays(platform, 10),
    dateTo: inDays(platform, 40),
    minAmount: 100,
    maxAmount: 5000,
    percentage: 5,
    countryCode: 'UA',
    terminalsPlatform: true,
    paymentSystemsId: [ids.visa],
    merchantCompensationPercentage: 60,
    ...overrides,
  }
}

/** The merchant that `createCampaign` uses by default: one token for a whole test file. */
const merchants = new WeakMap<TestPlatform, Promise<Partner>>()

/**
 * Makes a campaign as its merchant. The platform must have been started with `campaignDirectory`.
 *
 * @param overrides fields of the form
 * @param merchant default: grocer
 * @returns the campaign's id
 */
export async function createCampaign(
  platform: TestPlatform,
  overrides: Record<string, unknown> = {},
  merchant?: Partner,
): Promise<string> {
  let author = merchant
  if (!author) {
    const opened = merchants.get(platform) ?? openMerchant(platform)
    merchants.set(platform, opened)
    author = await opened
  }
  const answer = await author.call('POST', '/cashbacks/for-merchant', { body: campaignForm(platform, overrides) })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}

/**
 * Makes a campaign as a bank, for grocer unless `retailerId` names another merchant.
 * @returns its id
 */
export async function createBankCampaign(
  platform: TestPlatform,
  bank: Partner,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const form = campaignForm(platform, { participantsIds: undefined, retailerId: ids.grocer, ...overrides })
  const answer = await bank.call('POST', '/portal/cashbacks', { body: form })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Checks an operation result of the cashback API: its values, and that it has no other fields. */
export function assertResult(answer: Answer, statusCode: number, expected: { id?: string; status: string }): void {
  assert.equal(answer.status, statusCode, answer.text)
  assert.deepEqual(Object.keys(answer.body).sort(), ['createdAt', 'id', 'message', 'status', 'updatedAt'])
  assert.equal(answer.body.status, expected.status)
  if (expected.id !== undefined) assert.equal(answer.body.id, expected.id)
  assert.ok(answer.body.message.length > 0)
  for (const field of ['createdAt', 'updatedAt']) assert.match(answer.body[field], instant)
}

/**
 * Checks an error body of the cashback API, the portal's API or the operator's API. It must have no fields except those
 * that the contract names.
 * @param message the expected message: its whole text, the list of all its texts in any order, or a pattern
 */
export function assertRefused(answer: Answer, statusCode: number, message?: string | readonly string[] | RegExp): void {
  const reasons: Record<number, string> = {
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    405: 'Method Not Allowed',
    409: 'Conflict',
    412: 'Precondition Failed',
    413: 'Payload Too Large',
    415: 'Unsupported Media Type',
    422: 'Unprocessable Entity',
    429: 'Too Many Requests',
    503: 'Service Unavailable',
  }
  assert.equal(answer.status, statusCode, answer.text)
  const { message: said, code, problems: _, problemCount: __, rules, ...rest } = answer.body
  assert.deepEqual(rest, { statusCode, error: reasons[statusCode] })
  assert.ok(code !== undefined || rules === undefined, answer.text)
  // APIs whose contract allows it have the code in the body; the others have it in a header. No API has it in both.
  const codes = [code, answer.headers.get('perkline-error-code')].filter(one => one !== undefined && one !== null)
  assert.equal(codes.length, 1, answer.text)
  assert.ok(errorCodes.includes(codes[0]), codes[0])
  const texts: unknown[] = Array.isArray(said) ? said : [said]
  assert.ok(texts.length > 0 && texts.every(text => typeof text === 'string' && text !== ''), JSON.stringify(said))
  if (message instanceof RegExp) assert.match(texts.join('\n'), message)
  else if (Array.isArray(message)) assert.deepEqual(said.toSorted(), message.toSorted())
  else if (message !== undefined) assert.equal(said, message)
}
