/**
 * Calls both APIs under the strictest policies: a required second factor does not affect systems, and an address list
 * applies either to people or to systems (contract/people.md, "Policy of an account").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { statusOf } from '../../support/campaign-moves.ts'
import {
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { bankAt } from '../../support/esim.ts'
import { callerWith, openPerson, type Person, setUpTotp } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { endedCampaign, line, move, reportOf, uploadBank } from '../../support/reconciliation.ts'

/** The part of a directory with mobile operators and tariffs. */
const esimOf = (directory: string): string => directory.slice(directory.indexOf('esim:\n'))

let platform: TestPlatform
let staff: Person
let merchant: Partner
let bank: Partner
let person: Person
before(async () => {
  platform = await startPlatform(
    { TRUSTED_PROXIES: '127.0.0.1' },
    { directory: `${campaignDirectory}${esimOf(testDirectory)}` },
  )
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

/** One read in each API, sent by the system of a partner. */
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

test('all policies at once: a campaign to its payment and sales go on for systems that the lists name', async () => {
  const here = ['127.0.0.0/8']
  await setPolicies('required', { people: here, systems: here })
  const sides = { platform, grocer: merchant, alpha: bank, beta: await openCampaignBank(platform, 'beta') }
  const campaign = await endedCampaign(sides, [bank, sides.beta])
  const { id } = campaign
  const took = async (moved: Promise<Answer>, status = 200) => {
    const answer = await moved
    assert.equal(answer.status, status, answer.text)
  }
  const parts: [Partner, string][] = [
    [bank, ids.alpha],
    [sides.beta, ids.beta],
  ]
  for (const [by, bankId] of parts) {
    await took(uploadBank(by, id, reportOf(line(campaign, 'one'), line(campaign, 'two'))), 201)
    for (const step of ['accept-report', 'settle']) await took(move(merchant, `${id}/banks/${bankId}/${step}`))
  }
  await took(move(merchant, `${id}/compensation-paid`))
  for (const [by] of parts) await took(move(by, `${id}/compensation-received`))
  assert.equal(await statusOf(merchant, id), 'compensationReceived')

  await platform.addStock('kyivstar', 'eu-10gb', 2)
  const shop = bankAt(platform, bank.token)
  for (const [name, end, status] of [
    ['sold', shop.confirm, 'confirmed'],
    ['left', shop.cancel, 'cancelled'],
  ] as const) {
    const reserved = await shop.reserve(name)
    assert.equal(reserved.status, 201, reserved.text)
    const done = await end(reserved.body.orderId)
    assert.deepEqual([done.status, done.body.status], [200, status], done.text)
  }
  // The bank's person has no second factor, so the right password gives a session that can only set one up.
  const asPerson = callerWith(platform, person.token)
  const refused = await asPerson('GET', '/cashbacks/for-bank')
  assert.deepEqual([refused.status, refused.headers.get('perkline-error-code')], [401, 'mfa-needed'])
})

test('a manager who asks for a factor without one is asked at once, sets it up, and goes on', async () => {
  await setPolicies('optional', nowhere)
  const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
  const policy = { mfa: 'required', sessionMinutes: 120, addresses: nowhere }
  assert.equal((await manager.call('PUT', '/portal/security-policy', policy)).status, 200)
  const refused = await manager.call('GET', '/portal/users')
  assert.deepEqual([refused.status, refused.body.code], [401, 'mfa-needed'])
  await setUpTotp(manager)
  assert.equal((await manager.call('GET', '/portal/users')).status, 200)
})

test('a list that shuts all systems out is taken as it is, and the manager takes it back in the portal', async () => {
  const manager = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
  const system = await openCampaignBank(platform, 'beta')
  const set = (systems: string[]) =>
    manager.call('PUT', '/portal/security-policy', {
      mfa: 'optional',
      sessionMinutes: 120,
      addresses: { people: [], systems },
    })
  assert.equal((await set(['198.51.100.0/24'])).status, 200)
  const refused = await system.call('GET', '/cashbacks/for-bank')
  assert.deepEqual([refused.status, refused.headers.get('perkline-error-code')], [403, 'address-not-allowed'])
  assert.equal((await set([])).status, 200)
  assert.equal((await system.call('GET', '/cashbacks/for-bank')).status, 200)
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
  // A list for systems does not apply to people, and a list for people does not apply to systems.
  const asPerson = callerWith(platform, person.token)
  const there = await asPerson('GET', '/cashbacks/for-bank', undefined, from('198.51.100.7'))
  assert.deepEqual([there.status, there.headers.get('perkline-error-code')], [403, 'address-not-allowed'])
  assert.equal((await asPerson('GET', '/cashbacks/for-bank', undefined, from('203.0.113.7'))).status, 200)
  assert.equal((await staff.call('GET', '/portal/users?bank=alpha')).status, 200, 'the platform has a list of its own')
  await setPolicies('off', nowhere)
  for (const { status, text } of await Promise.all(reads(from('203.0.113.7')))) assert.equal(status, 200, text)
})
