/** The audit log's entries about logins and failed logins (contract/audit-log.md, "Entries", "Refusals"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRefusalSums, recordLostRefusals } from '../../../src/access/refusal-sums.ts'
import { tellUnfinishedLogins } from '../../../src/access/unfinished-logins.ts'
import { platformUserToken, readEntries } from '../../support/audit-log.ts'
import { openPerson, type Person, setUpTotp } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { browserWith, cookieOf } from '../../support/portal.ts'

let platform: TestPlatform
let auditor: string
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  auditor = await platformUserToken(platform)
})
after(() => platform.close())

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
const told = (entries: any[]) => entries.map(({ action, via, object }) => [action, via, object.type])

/** Does something in another process and stops it, because a process writes its counts when it stops. */
async function inProcess(work: (there: TestPlatform) => Promise<void>): Promise<void> {
  const there = await platform.sibling({ TRUSTED_PROXIES: '127.0.0.1' })
  await work(there)
  await there.close()
}

test('each login and logout is an entry of the person’s account', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const entered = await platform.call('POST', '/portal/session', { body: accountOf(person) })
  const browser = browserWith(platform, cookieOf(entered))
  for (let times = 0; times < 2; times++) await browser.call('DELETE', '/portal/session')
  const { body } = await platform.call('POST', '/auth/login', { body: accountOf(person) })
  const entries = await readEntries(platform, body.access_token, `&actor=${person.userId}`)
  assert.deepEqual(told(entries).slice(-3), [
    ['login.done', 'portal', 'session'],
    ['logout', 'portal', 'session'],
    ['login.done', 'api', 'session'],
  ])
  const [login, logout] = entries.slice(-3)
  assert.equal(login.requestId, entered.headers.get('x-request-id'))
  assert.deepEqual([login.change, login.address], [{ method: [null, 'password'] }, '127.0.0.1'])
  assert.equal(logout.object.id, login.object.id)
})

test('a recovery code that was used is told beside the login', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
  const {
    recoveryCodes: [code = ''],
  } = await setUpTotp(person)
  const logIn = (otp: string) => platform.call('POST', '/auth/login', { body: { ...accountOf(person), otp } })
  const entered = await logIn(code)
  assert.equal(entered.status, 200, entered.text)
  assert.equal((await logIn(code)).status, 401)
  const entries = await readEntries(platform, auditor, `&actor=${person.userId}`)
  assert.deepEqual(told(entries).slice(-2), [
    ['mfa.recovery_used', 'api', 'user'],
    ['login.done', 'api', 'session'],
  ])
  assert.deepEqual(entries.at(-1).change, { method: [null, 'recovery-code'] })
})

test('refused logins are summed up: known ones in their account, all others in one entry, without what was typed', async () => {
  const person = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
  const gateway = { bank: 'gamma', role: 'ADMIN', label: 'Core' }
  const operator = { token: platform.config.operatorKey }
  const { body: issued } = await platform.call('POST', '/admin/credentials', { ...operator, body: gateway })
  await inProcess(async there => {
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.1']) {
      const body = { ...accountOf(person), password: 'typed-by-mistake' }
      assert.equal((await there.call('POST', '/auth/login', { body, headers: from(address) })).status, 401)
    }
    for (const login of ['typed-nobody-1', 'typed-nobody-2']) {
      const body = { ...accountOf(person), login }
      assert.equal((await there.call('POST', '/portal/session', { body, headers: from('203.0.113.9') })).status, 401)
    }
    const body = { clientId: issued.clientId, secret: 'typed-secret' }
    assert.equal((await there.call('POST', '/getToken/auth', { body })).status, 400)
  })
  const entries = await readEntries(platform, auditor, '&action=login.refused')
  const { since, ...change } = entries.find(({ object }) => object.type === 'user').change
  assert.deepEqual(change, { tries: [null, 3], wrongPasswords: [null, 3], addresses: [null, 2] })
  assert.ok(Date.parse(since[1]) <= Date.now())
  assert.deepEqual(
    entries
      .map(({ account, actor, object, outcome, address, change: { tries } }) => [
        account.type,
        actor.type,
        object,
        outcome,
        address,
        tries[1],
      ])
      .toSorted(),
    [
      ['bank', 'unknown', { type: 'credential', id: issued.clientId }, 'refused', '127.0.0.1', 1],
      ['merchant', 'unknown', { type: 'user', id: person.userId }, 'refused', null, 3],
      ['platform', 'unknown', { type: 'login', id: null }, 'refused', '203.0.113.9', 2],
    ],
  )
  assert.ok(!JSON.stringify(entries).includes('typed'))
})

test('a refusal tells which proof was wrong, also to the person; by both ways it says how many came by the portal', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const shut = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const gateway = { bank: 'beta', role: 'ADMIN', label: 'Core' }
  const operator = { token: platform.config.operatorKey }
  const { body: issued } = await platform.call('POST', '/admin/credentials', { ...operator, body: gateway })
  const { recoveryCodes } = await setUpTotp(person)
  await platform.call('POST', `/admin/users/${shut.login}/disable`, operator)
  await inProcess(async there => {
    const wrong = { ...accountOf(person), password: 'typed-by-mistake' }
    for (const body of [wrong, { ...accountOf(person), otp: '000000' }])
      assert.equal((await there.call('POST', '/auth/login', { body })).status, 401)
    const { body } = await there.call('POST', '/portal/session', { body: accountOf(person) })
    for (let times = 0; times < 2; times++) {
      const code = { challenge: body.challenge, method: 'recovery-code', code: 'aaaaa-aaaaa' }
      assert.equal((await there.call('POST', '/portal/session/verify', { body: code })).status, 401)
    }
    assert.equal((await there.call('POST', '/portal/session', { body: accountOf(shut) })).status, 401)
    const secret = { clientId: issued.clientId, secret: 'typed-secret' }
    assert.equal((await there.call('POST', '/getToken/auth', { body: secret })).status, 400)
  })
  const sumOf = async (object: string) => {
    const [entry, ...others] = await readEntries(platform, auditor, `&action=login.refused&object=${object}`)
    assert.deepEqual(others, [])
    const { since, addresses, ...change } = entry.change
    return [entry.via, change]
  }
  assert.deepEqual(await sumOf(`user:${person.userId}`), [
    'api',
    { tries: [null, 4], wrongPasswords: [null, 1], wrongCodes: [null, 3], byPortal: [null, 2] },
  ])
  assert.deepEqual(await sumOf(`user:${shut.userId}`), ['portal', { tries: [null, 1], withoutAccess: [null, 1] }])
  const ofSystem = { tries: [null, 1], wrongSecrets: [null, 1] }
  assert.deepEqual(await sumOf(`credential:${issued.clientId}`), ['api', ofSystem])

  const { body: begun } = await platform.call('POST', '/portal/session', { body: accountOf(person) })
  const code = { challenge: begun.challenge, method: 'recovery-code', code: recoveryCodes[0] }
  const entered = await platform.call('POST', '/portal/session/verify', { body: code })
  assert.equal(entered.body.failedLogins.count, 4, 'codes behind a right password count, too')
})

test('a right password without the code is told, unless the code comes', async () => {
  const person = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
  const { recoveryCodes } = await setUpTotp(person)
  const { database } = platform.platform
  const at = (address: string) => ({ 'x-forwarded-for': address })
  const verify = (challenge: string, code: string | undefined) =>
    platform.call('POST', '/portal/session/verify', {
      body: { challenge, method: 'recovery-code', code },
      headers: at('192.0.2.40'),
    })
  const byApi = (headers: Record<string, string>, otp?: string) =>
    platform.call('POST', '/auth/login', { body: { ...accountOf(person), ...(otp && { otp }) }, headers })
  const open = () => platform.call('POST', '/portal/session', { body: accountOf(person), headers: at('192.0.2.40') })
  const entriesAfterTime = async () => {
    await database.execute(`update login_challenges set expires_at = expires_at - interval '5 minutes'`)
    const sums = createRefusalSums(database, assert.ifError)
    const lines: unknown[] = []
    const observeFailure = (failure: unknown) => lines.push(failure)
    await Promise.all([1, 2].map(() => tellUnfinishedLogins({ database, refusalSums: sums, observeFailure })))
    await sums.close()
    const entries = await readEntries(platform, auditor, `&action=login.refused&object=user:${person.userId}`)
    return { lines, entries }
  }

  const [home, thief] = [at('192.0.2.41'), at('192.0.2.42')]
  assert.equal((await byApi(home)).headers.get('perkline-error-code'), 'mfa-needed')
  assert.equal((await byApi(home, recoveryCodes[0])).status, 200)
  // The page that asks for the code was reloaded once.
  assert.equal((await open()).status, 202)
  const begun = await open()
  assert.equal((await verify(begun.body.challenge, recoveryCodes[1])).status, 200)
  assert.deepEqual(await entriesAfterTime(), { lines: [], entries: [] }, 'a login in two steps is no failure')

  for (let times = 0; times < 2; times++) assert.equal((await byApi(thief)).status, 401)
  assert.equal((await open()).status, 202)
  assert.equal((await byApi(home, recoveryCodes[2])).status, 200, 'this finishes no login of another address')
  const { lines, entries } = await entriesAfterTime()
  const { since, ...change } = entries[0].change
  assert.deepEqual(
    [entries.length, entries[0].actor.type, change],
    [1, 'unknown', { tries: [null, 3], withoutCode: [null, 3], byPortal: [null, 1], addresses: [null, 2] }],
  )
  const missing = (address: string) => ({ by: 'code', outcome: 'missing', address })
  assert.deepEqual(
    new Set(lines.map(line => JSON.stringify(line))),
    new Set([missing('192.0.2.42'), missing('192.0.2.40')].map(line => JSON.stringify(line))),
  )
  const entered = await byApi(home, recoveryCodes[3])
  const session = await platform.call('GET', '/portal/session', { token: entered.body.access_token })
  assert.equal(session.body.failedLogins.count, 3)
})

test('one address is told in one way, however the proxy writes it', async () => {
  const person = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
  const logIn = (at: TestPlatform, password: string, address: string) =>
    at.call('POST', '/auth/login', {
      body: { ...accountOf(person), password },
      headers: { 'x-forwarded-for': address },
    })
  const written = ['192.0.2.7', '192.0.2.7:1001', '192.0.2.7:1002', '::ffff:192.0.2.7']
  await inProcess(async there => {
    for (const address of written) assert.equal((await logIn(there, 'wrong', address)).status, 401)
  })
  const [refused] = await readEntries(platform, auditor, `&action=login.refused&object=user:${person.userId}`)
  const { tries, addresses } = refused.change
  assert.deepEqual([tries[1], addresses[1]], [4, 1])
  for (const address of written) assert.equal((await logIn(platform, person.password, address)).status, 200)
  const entries = await readEntries(platform, auditor, `&action=login.done&actor=${person.userId}`)
  assert.deepEqual([...new Set(entries.slice(-4).map(({ address }) => address))], ['192.0.2.7'])
})

test('an address that an account does not admit is told with whom it refused', async () => {
  const person = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
  const policy = { mfa: 'optional', sessionMinutes: 120, addresses: { people: ['127.0.0.1'], systems: [] } }
  const set = await person.call('PUT', '/portal/security-policy', policy)
  assert.equal(set.status, 200, set.text)
  const { body } = await platform.call('POST', '/auth/login', { body: accountOf(person) })
  await inProcess(async there => {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (let times = 0; times < 3; times++)
      assert.equal((await there.call('GET', '/portal/session', { token: body.access_token, headers })).status, 403)
    const login = await there.call('POST', '/auth/login', { body: accountOf(person), headers })
    assert.equal(login.status, 401)
  })
  const [entry, ...others] = await readEntries(platform, body.access_token, '&action=address.refused')
  assert.deepEqual(others, [])
  assert.deepEqual([entry.actor.id, entry.object.id, entry.address], [person.userId, person.userId, '203.0.113.7'])
  assert.deepEqual([entry.outcome, entry.change.tries], ['refused', [null, 4]])
})

test('refusals that a killed process has counted are recorded by another one, once', async () => {
  const { database } = platform.platform
  const killed = createRefusalSums(database, fault => assert.fail(String(fault)))
  const caller = { type: 'platform', role: 'viewer', userType: 'portal_user', subject: 'killed-process' } as const
  for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.1'])
    killed.add({ action: 'login.refused', caller, trace: { via: 'api', requestId: 'x', address } })
  const told = async () =>
    (await readEntries(platform, auditor, '&action=login.refused&object=user:killed-process')).map(
      ({ change: { tries, addresses } }) => [tries[1], addresses[1]],
    )
  for (let tried = 0; tried < 80; tried++) {
    const [row] = await database.query<{ kept: number }>(
      `select count(*)::int as kept from refusal_counts where sum_key like '%killed-process'`,
    )
    if (row?.kept) break
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  assert.equal(await recordLostRefusals(database), false)
  assert.deepEqual(await told(), [], 'it may live')
  await database.execute(
    `update refusal_counts set counted_at = now() - interval '31 minutes' where sum_key like '%killed-process'`,
  )
  await Promise.all([recordLostRefusals(database), recordLostRefusals(database)])
  assert.deepEqual(await told(), [[3, 2]])
  await recordLostRefusals(database)
  assert.deepEqual(await told(), [[3, 2]])
})

test('counts that cannot be written are kept, and neither logins nor addresses fill the memory', async () => {
  const { database } = platform.platform
  let isAway = true
  const faults: unknown[] = []
  const sums = createRefusalSums(
    {
      ...database,
      transaction: work => (isAway ? Promise.reject(new Error('away')) : database.transaction(work)),
    },
    fault => faults.push(fault),
  )
  const action = 'login.refused'
  for (let n = 0; n < 1_100; n++)
    sums.add({
      action,
      caller: { type: 'platform', role: 'viewer', userType: 'portal_user', subject: `flood-${n}` },
      trace: { via: 'api', requestId: 'x', address: `2001:db8::${n.toString(16)}` },
    })
  await sums.flush()
  assert.equal(faults.length, 1)
  isAway = false
  await sums.close()
  const flood = (await readEntries(platform, auditor, `&action=${action}&account=00000000-0000-0000-0000-000000000000`))
    .map(({ object, change }) => ({ id: object.id, tries: change.tries[1], addresses: change.addresses[1] }))
    .filter(({ id, tries }) => id === null && tries > 2)
  assert.deepEqual(flood, [{ id: null, tries: 100, addresses: 100 }])
  await sums.close()
})

test('a wrong password or code within a session leaves the traces of a refused login, and makes no login wait', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
  const key = { 'idempotency-key': 'wrong-once' }
  await inProcess(async there => {
    const send = (method: string, path: string, body?: object, headers = {}) =>
      there.call(method, path, { token: person.token, headers, ...(body && { body }) })
    const verify = (method: string, code: string) => send('POST', '/portal/session/verify', { method, code })
    assert.equal((await verify('password', 'typed-in-session')).status, 401)
    const change = { current: 'typed-in-session', password: 'a new long passphrase of mine' }
    assert.equal((await send('POST', '/portal/password', change)).status, 400)
    assert.equal((await send('POST', '/portal/password', change, key)).status, 400)
    assert.equal((await verify('password', person.password)).status, 200)
    assert.equal((await send('POST', '/portal/mfa/totp')).status, 200)
    assert.equal((await send('POST', '/portal/mfa/totp/confirm', { code: '000000' })).status, 400)
  })
  const [entry, ...others] = await readEntries(platform, auditor, `&action=login.refused&object=user:${person.userId}`)
  assert.deepEqual(others, [])
  const { since, ...change } = entry.change
  assert.deepEqual(change, {
    tries: [null, 4],
    wrongPasswords: [null, 3],
    wrongCodes: [null, 1],
    addresses: [null, 1],
  })
  assert.deepEqual([entry.account.type, entry.actor.type, entry.outcome], ['bank', 'unknown', 'refused'])
  assert.ok(!JSON.stringify(entry).includes('typed'))
  const entered = await platform.call('POST', '/portal/session', { body: accountOf(person) })
  assert.equal(entered.status, 200, 'at once')
  assert.equal(entered.body.failedLogins.count, 4)
})
