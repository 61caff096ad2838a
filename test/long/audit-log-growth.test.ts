/** How fast one account can make the audit log grow (contract/audit-log.md, "Entries"; limits.md, "Requests"). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { eventTypes } from '../../src/events/catalogue.ts'
import { assertChained, chained, platformUserToken, readEntries } from '../support/audit-log.ts'
import { campaignDirectory, campaignForm, ids } from '../support/campaigns.ts'
import { openPerson, type Person } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const banks = Array.from({ length: 120 }, (_, index) => ({ id: randomUUID(), code: `many-${index}` }))
const bankLines = banks.map(({ id, code }) => `  - { id: ${id}, code: ${code}, name: ${code} }\n`).join('')
const directory = campaignDirectory.replace(/^banks:\n/m, `banks:\n${bankLines}`)

let platform: TestPlatform
let auditor: string
let manager: Person
let merchant: string
before(async () => {
  platform = await startPlatform({ API_RATE_LIMIT: '0' }, { directory })
  auditor = await platformUserToken(platform)
  manager = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
  merchant = await platform.merchantToken()
})
after(() => platform.close())

/** The changes of the entries that a request leaves. */
async function changesOf(work: () => Promise<{ status: number; text: string }>): Promise<any[]> {
  const before = (await readEntries(platform, auditor)).length
  const { status, text } = await work()
  assert.ok(status < 300, text)
  return (await readEntries(platform, auditor)).slice(before).map(({ change }) => change)
}

const everywhere = ['0.0.0.0/0', '::/0']
/** 98 different networks with the longest texts that a network can have. */
const networks = (from: number): string[] =>
  Array.from(
    { length: 98 },
    (_, index) => `2001:db8:aaaa:bbbb:cccc:dddd:eeee:${(0x1000 + from + index).toString(16)}/128`,
  )
const policyOf = (people: string[], systems: string[], rest = {}) => ({
  mfa: 'optional',
  sessionMinutes: 120,
  addresses: { people, systems },
  ...rest,
})
const setPolicy = (body: object, { call } = manager) => call('PUT', '/portal/security-policy', body)
const endpoints = '/partner/v1/webhook-endpoints'

test('a policy’s entry has the addresses that were added and removed, and only the numbers of many', async () => {
  assert.deepEqual(await changesOf(() => setPolicy(policyOf(everywhere, []))), [
    { 'addresses.people': [null, { added: everywhere, removed: [] }] },
  ])
  const others = [...everywhere, '2001:db8::/32']
  const next = policyOf(others, ['192.0.2.0/24'], { sessionMinutes: 60 })
  assert.deepEqual(await changesOf(() => setPolicy(next)), [
    {
      sessionMinutes: [120, 60],
      'addresses.people': [null, { added: ['2001:db8::/32'], removed: [] }],
      'addresses.systems': [null, { added: ['192.0.2.0/24'], removed: [] }],
    },
  ])
  const many = policyOf([...everywhere, ...networks(0)], [...everywhere, ...networks(0)])
  assert.deepEqual(await changesOf(() => setPolicy(many)), [
    {
      sessionMinutes: [60, 120],
      'addresses.people': [null, { added: 98, removed: 1 }],
      'addresses.systems': [null, { added: 100, removed: 1 }],
    },
  ])
  const [off] = await changesOf(() => setPolicy(policyOf([], [])))
  assert.deepEqual(off['addresses.people'], [null, { added: 0, removed: 100 }])
})

test('an endpoint’s entry has the types that were added and removed; a type that is sent twice is stored once', async () => {
  const [first, second, third] = eventTypes.map(({ type }) => type)
  const url = 'http://127.0.0.1:9/hook'
  const twice = { url, eventTypes: [first, second, first] }
  const made = await platform.call('POST', endpoints, { token: merchant, body: twice })
  assert.deepEqual([made.status, made.body.eventTypes], [201, [first, second]], made.text)
  const path = `${endpoints}/${made.body.endpointId}`
  const change = (body: object) => () => platform.call('PATCH', path, { token: merchant, body })
  assert.deepEqual(await changesOf(change({ eventTypes: [third, second, third] })), [
    { eventTypes: [null, { added: [third], removed: [first] }] },
  ])
  assert.deepEqual((await platform.call('GET', path, { token: merchant })).body.eventTypes, [third, second])
  assert.deepEqual(await changesOf(change({ eventTypes: null })), [{ eventTypes: [[third, second], null] }])
  const all = [...eventTypes.map(({ type }) => type), 'order.*', 'campaign.*', 'reconciliation.*']
  assert.deepEqual(await changesOf(change({ eventTypes: all, description: 'A' })), [
    { eventTypes: [null, all.length], description: [null, 'A'] },
  ])
  assert.equal((await platform.call('DELETE', path, { token: merchant })).status, 204)
})

test('no request makes an entry of more than about 2 KB, however long its values are', async () => {
  const done = async (method: string, path: string, token: string, body?: object) => {
    const answer = await platform.call(method, path, { token, ...(body && { body }) })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const wide = (length: number, last = 0) => `${'\u{20000}'.repeat(length - 1)}${String.fromCodePoint(0x20001 + last)}`
  await setPolicy(policyOf([...everywhere, ...networks(0)], [...everywhere, ...networks(100)]))
  await setPolicy(policyOf([...everywhere, ...networks(200)], [...everywhere, ...networks(300)]))
  await setPolicy(policyOf([], []))

  const all = eventTypes.map(({ type }) => type)
  const form = { url: 'http://127.0.0.1:9/hook', eventTypes: all.slice(0, 25), description: wide(255) }
  const { endpointId } = await done('POST', endpoints, merchant, form)
  const change = { eventTypes: all.slice(25), description: wide(255, 1), order: 'serial' }
  await done('PATCH', `${endpoints}/${endpointId}`, merchant, change)
  await done('DELETE', `${endpoints}/${endpointId}`, merchant)

  const lists = (last: number) => ({
    name: wide(27, last),
    participationTerms: wide(1_024, last),
    description: wide(666, last),
    sku: Array.from({ length: 100 }, (_, index) => wide(128, last + index)),
    categoryId: Array.from({ length: 7 }, (_, index) => wide(128, last + index)),
    merchantCategoryCode: Array.from({ length: 100 }, (_, index) => String(1_000 + index + last)),
    paymentSystemsId: last === 0 ? [ids.visa] : [ids.visa, ids.mastercard],
    maxBudget: 9_999_999_999.99 - last,
  })
  const invited = [ids.alpha, ...banks.map(({ id }) => id)]
  const campaign = campaignForm(platform, { ...lists(0), participantsIds: invited, allProducts: false })
  const { id } = await done('POST', '/cashbacks/for-merchant', merchant, campaign)
  const edit = { ...lists(300), participantsIds: invited.slice(0, 25), maxAmount: 4_999.99 }
  await done('PATCH', `/cashbacks/for-merchant/${id}`, merchant, edit)
  const alpha = await platform.bankToken('alpha')
  await done('POST', `/cashbacks/${id}/confirm`, alpha)
  await done('POST', `/cashbacks/for-merchant/${id}/confirm`, merchant)

  await done('POST', '/portal/credentials', manager.token, { label: wide(200) })
  for (const letter of ['a', 'b']) {
    const domains = Array.from({ length: 20 }, (_, index) => `${letter.repeat(50)}-${index}.example`).join(', ')
    const texts = `nameEn: ${letter.repeat(200)}\n    description: ${letter.repeat(2_000)}\n    domain: [${domains}]`
    const changed = directory.replace('nameEn: Grocer', texts)
    await done('POST', '/admin/directory', platform.config.operatorKey, { directory: changed })
  }

  await chained(platform)
  const rows = await platform.platform.database.query<{ entry: string }>('select entry from audit_log order by seq')
  const entries = rows.map(({ entry }) => ({ bytes: Buffer.byteLength(entry), ...JSON.parse(entry) }))
  const large = entries.filter(
    ({ bytes, change }) => bytes > 2_600 || Buffer.byteLength(JSON.stringify(change)) > 2_048,
  )
  assert.deepEqual(
    large.map(({ action, bytes }) => [action, bytes]),
    [],
  )
  const edited = entries.find(({ action }) => action === 'campaign.edited')
  assert.deepEqual(Object.keys(edited.change).toSorted(), Object.keys(edit).toSorted(), 'every changed field is named')
  assert.deepEqual(
    [edited.change.sku, edited.change.maxAmount],
    [
      [100, 100],
      [5000, 4999.99],
    ],
  )
  assert.match(edited.change.participationTerms[1], /^\u{20000}+…$/u)
  const made = entries.find(({ action }) => action === 'campaign.create')
  const named = Object.keys(made.change).filter(name => name.startsWith('participation.'))
  assert.ok(named.length > 10, JSON.stringify(made.change))
  assert.deepEqual(made.change.others, [null, invited.length - named.length])
  await assertChained(platform)
})

test('an account’s systems change its settings up to 300 times an hour; people and the platform count apart', async () => {
  const owner = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const token = await platform.bankToken('alpha')
  const call = (method: string, path: string, body?: object) =>
    platform.call(method, `${endpoints}${path}`, { token, ...(body && { body }) })
  const describe = (endpointId: string, n: number) => call('PATCH', `/${endpointId}`, { description: `${n}` })
  const { endpointId } = (await call('POST', '', { url: 'http://127.0.0.1:9/hook' })).body
  assert.equal((await call('POST', `/${endpointId}/rotate-secret`)).status, 200)
  for (let n = 0; n < 296; n++) {
    assert.equal((await describe(endpointId, n)).status, 200)
    if (n % 10 === 0) assert.equal((await describe(endpointId, n)).status, 200, 'changes nothing')
  }
  const last = await Promise.all(Array.from({ length: 12 }, (_, n) => describe(endpointId, 1_000 + n)))
  assert.equal(last.filter(({ status }) => status === 200).length, 2, 'the last two of 300')
  const refused = [
    ...last.filter(({ status }) => status !== 200),
    await describe(endpointId, 2_000),
    await call('POST', `/${endpointId}/rotate-secret`),
    await call('POST', '', { url: 'http://127.0.0.1:9/other' }),
  ]
  for (const { status, headers, body } of refused) {
    assert.deepEqual([status, body.code], [429, 'too-many'])
    const seconds = Number(headers.get('retry-after'))
    assert.ok(seconds > 3_000 && seconds <= 3_600, `${seconds}`)
  }
  assert.equal((await call('POST', `/${endpointId}/disable`)).status, 200, 'is no change of this kind')
  assert.equal((await call('DELETE', `/${endpointId}`)).status, 204, 'neither is this')
  const policy = policyOf([], [], { sessionMinutes: 99 })
  assert.equal((await setPolicy(policy, owner)).status, 200, 'the account’s people are counted apart')
  assert.equal((await setPolicy(policy)).status, 200, 'of another account')
  const staff = await openPerson(platform, 'platform', 'admin')
  const ofAlpha = await staff.call(
    'PUT',
    '/portal/security-policy?bank=alpha',
    policyOf([], [], { sessionMinutes: 98 }),
  )
  assert.equal(ofAlpha.status, 200, 'the platform’s people are counted apart from the account’s own')
})

test('an account’s managers invite up to the limit of changes an hour; withdrawing and disabling go on', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const owner = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
  const invite = () => owner.call('POST', '/portal/invitations', { login: 'newcomer', role: 'VIEWER' })
  const withdraw = (id: string) => owner.call('DELETE', `/portal/invitations/${id}`)
  const change = (body: object) => owner.call('PATCH', `/portal/users/${person.userId}`, body)
  for (let made = 1; made < 299; made++) {
    const { status, body } = await invite()
    assert.equal(status, 201)
    assert.equal((await withdraw(body.invitationId)).status, 204)
  }
  const { invitationId } = (await invite()).body
  assert.equal((await change({ role: 'EDITOR' })).status, 200)
  for (const refused of [
    await invite(),
    await change({ role: 'ADMIN' }),
    await owner.call('POST', `/portal/users/${person.userId}/reset-password`),
  ]) {
    assert.deepEqual([refused.status, refused.body.code], [429, 'too-many'], refused.text)
    assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  }
  assert.equal((await withdraw(invitationId)).status, 204)
  assert.equal((await change({ role: 'EDITOR' })).status, 200, 'changes nothing')
  assert.equal((await change({ disabled: true })).status, 200)
  assert.equal((await change({ disabled: false })).status, 429)
  const byOperator = await openPerson(platform, 'platform', 'admin')
  const ofBeta = { login: 'newcomer', role: 'VIEWER' }
  assert.equal((await byOperator.call('POST', '/portal/invitations?bank=beta', ofBeta)).status, 201)
})

test('a person changes the language of mails up to 60 times an hour', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const choose = (n: number, { call } = person) => call('PUT', '/portal/language', { language: n % 2 ? 'en' : 'uk' })
  for (let n = 0; n < 60; n++) assert.equal((await choose(n)).status, 204)
  const refused = await choose(60)
  assert.deepEqual([refused.status, refused.body.code], [429, 'too-many'])
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  assert.equal((await choose(59)).status, 204, 'changes nothing')
  assert.equal((await choose(0, await openPerson(platform, { bank: 'beta' }, 'VIEWER'))).status, 204)
})

test('a person logs in up to 600 times an hour; wrong passwords and other people do not count', async () => {
  const counted = await startPlatform()
  try {
    const person = await openPerson(counted, { bank: 'alpha' }, 'VIEWER')
    const { typeAccount, login, password } = person
    const logIn = (path: string, wrong = '') =>
      counted.call('POST', path, { body: { typeAccount, login, password: password + wrong } })
    for (let n = 0; n < 5; n++) assert.equal((await logIn('/auth/login', 'x')).status, 401)
    for (let n = 1; n < 600; n += 50) {
      const answers = await Promise.all(
        Array.from({ length: Math.min(50, 600 - n) }, (_, of) => logIn(of % 2 ? '/auth/login' : '/portal/session')),
      )
      assert.ok(answers.every(({ status }) => status === 200))
    }
    for (const path of ['/auth/login', '/portal/session']) {
      const refused = await logIn(path)
      assert.equal(refused.status, 429, refused.text)
      assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
    }
    await openPerson(counted, { bank: 'alpha' }, 'VIEWER')
    const [row] = await counted.platform.database.query<{ count: number }>(
      'select count(*)::int as count from sessions where user_id = $1',
      [person.userId],
    )
    assert.equal(row?.count, 600)
  } finally {
    await counted.close()
  }
})
