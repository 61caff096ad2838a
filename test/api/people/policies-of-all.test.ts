/**
 * Both contracts under the strictest policies: a person's second factor concerns no system, and address lists concern exactly those
 * whom they name (contract/people.md, "Policy of an account").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  campaignDirectory,
  createCampaign,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { bankAt } from '../../support/esim.ts'
import { callerWith, openPerson, type Person } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let staff: Person
let merchant: Partner
let bank: Partner
let person: Person
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' }, { directory: campaignDirectory })
  staff = await openPerson(platform, 'platform', 'admin')
  merchant = await openMerchant(platform)
  bank = await openCampaignBank(platform)
  person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

const everyAccount = ['bank=alpha', 'bank=beta', 'merchant=grocer']
const setPolicies = async (mfa: string, addresses: { people: string[]; systems: string[] }) => {
  for (const query of everyAccount) {
    const body = { mfa, sessionMinutes: 15, addresses, force: true }
    const set = await staff.call('PUT', `/portal/security-policy?${query}`, body)
    assert.equal(set.status, 200, set.text)
  }
}
const nowhere = { people: [], systems: [] }
const listed = { people: ['203.0.113.0/24'], systems: ['198.51.100.0/24'] }
const from = (address: string) => ({ 'x-forwarded-for': address })

/** What a system of each kind does in each contract. */
const reads = (headers: Record<string, string>) =>
  [
    [merchant, '/cashbacks/for-merchant'],
    [bank, '/cashbacks/for-bank'],
    [bank, '/esim/v1/operators'],
  ].map(([partner, path]) => (partner as Partner).call('GET', path as string, { headers }))

test('MFA required everywhere: systems work as ever, in a whole campaign and in sales', async () => {
  await setPolicies('required', nowhere)
  const campaign = await createCampaign(platform, {}, merchant)
  const confirmed = await bank.call('POST', `/cashbacks/${campaign}/confirm`)
  assert.equal(confirmed.status, 201, confirmed.text)
  for (const { status, text } of await Promise.all(reads({}))) assert.equal(status, 200, text)
  const tokens = [await platform.bankToken(), await platform.merchantToken()]
  assert.equal(new Set(tokens).size, 2, 'tokens are issued as ever')
  const claims = JSON.parse(Buffer.from(tokens[0]?.split('.')[1] ?? '', 'base64url').toString())
  assert.equal(claims.exp - claims.iat, 7200, 'sessionMinutes is for people')
  assert.equal((await bankAt(platform, bank.token).operators()).status, 200)
})

test('address lists everywhere: each API refuses strangers in its own body, and admits whom the list names', async () => {
  await setPolicies('optional', listed)
  const outside = await Promise.all(reads(from('203.0.113.7')))
  for (const { status, headers, body } of outside) {
    assert.deepEqual([status, headers.get('perkline-error-code')], [403, 'address-not-allowed'])
    const ofEsim = 'timestamp' in body ? ['method', 'path', 'timestamp'] : []
    assert.deepEqual(Object.keys(body).sort(), ['error', 'message', 'statusCode', ...ofEsim].sort())
  }
  const partnerApi = await bank.call('GET', '/partner/v1/event-types', { headers: from('203.0.113.7') })
  assert.deepEqual([partnerApi.status, partnerApi.body.code], [403, 'address-not-allowed'])
  for (const { status, text } of await Promise.all(reads(from('198.51.100.7')))) assert.equal(status, 200, text)
  // A list for systems says nothing of people, and the other way round.
  const asPerson = callerWith(platform, person.token)
  const there = await asPerson('GET', '/cashbacks/for-bank', undefined, from('198.51.100.7'))
  assert.deepEqual([there.status, there.headers.get('perkline-error-code')], [403, 'address-not-allowed'])
  assert.equal((await asPerson('GET', '/cashbacks/for-bank', undefined, from('203.0.113.7'))).status, 200)
  assert.equal((await staff.call('GET', '/portal/users?bank=alpha')).status, 200, 'the platform has a list of its own')
  await setPolicies('off', nowhere)
  for (const { status, text } of await Promise.all(reads(from('203.0.113.7')))) assert.equal(status, 200, text)
})
