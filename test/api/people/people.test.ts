/** People manage the people of their account (contract/people.md). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import {
  callerWith,
  inviteAndJoin,
  logInAs,
  newLogin,
  openPerson,
  type Person,
  tokenOfLink,
} from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

const password = 'correct horse battery staple'
let platform: TestPlatform
let admin: Person
before(async () => {
  platform = await startPlatform()
  admin = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

const accept = (body: object) => platform.call('POST', '/portal/invitations/accept', { body })
const join = (manager: Person, role: string, query = '') => inviteAndJoin(platform, manager, { role, query, password })

suite('who manages whom', () => {
  test('systems, viewers and editors manage nobody', async () => {
    const callers = [
      callerWith(platform, await platform.bankToken()),
      callerWith(platform, await platform.merchantToken()),
      (await openPerson(platform, { bank: 'alpha' }, 'EDITOR')).call,
      (await openPerson(platform, { bank: 'alpha' }, 'VIEWER')).call,
      (await openPerson(platform, { merchant: 'grocer' }, 'editor')).call,
      (await openPerson(platform, 'platform', 'viewer')).call,
    ]
    for (const call of callers) {
      for (const [method, path] of [
        ['GET', '/portal/users'],
        ['GET', '/portal/invitations'],
        ['GET', '/portal/credentials'],
        ['GET', '/portal/security-policy'],
      ] as const) {
        const answer = await call(method, path)
        assert.equal(answer.status, 403, `${path} ${answer.text}`)
        assert.equal(answer.body.code, 'forbidden')
      }
      assert.equal((await call('POST', '/portal/invitations', { login: 'x', role: 'EDITOR' })).status, 403)
    }
  })

  test('a system has no sessions, password or second factors', async () => {
    const call = callerWith(platform, await platform.bankToken())
    for (const path of ['/portal/sessions', '/portal/mfa']) assert.equal((await call('GET', path)).status, 403)
    const passwords = { current: 'x', password }
    assert.equal((await call('POST', '/portal/password', passwords)).status, 403)
    assert.equal((await call('POST', '/portal/mfa/totp')).status, 403)
  })

  test('another account’s person is not there', async () => {
    const other = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
    const answers = [
      await admin.call('PATCH', `/portal/users/${other.userId}`, { disabled: true }),
      await admin.call('POST', `/portal/users/${other.userId}/reset-password`),
      await admin.call('POST', `/portal/users/${other.userId}/reset-mfa`),
    ]
    for (const answer of answers) assert.equal(answer.status, 404, answer.text)
    assert.equal((await admin.call('GET', '/portal/users?bank=beta')).status, 403)
  })

  test('the platform’s admin manages every account', async () => {
    const staff = await openPerson(platform, 'platform', 'admin')
    const person = await join(staff, 'EDITOR', '?bank=beta')
    const { body } = await staff.call('GET', '/portal/users?bank=beta')
    assert.ok(body.data.some((one: { login: string }) => one.login === person.login))
    assert.equal((await staff.call('PATCH', `/portal/users/${person.userId}`, { role: 'VIEWER' })).status, 200)
    const own = await staff.call('GET', '/portal/users')
    assert.ok(own.body.data.some((one: { login: string }) => one.login === staff.login))
    assert.equal((await staff.call('GET', '/portal/users?bank=nobody')).status, 404)
    assert.equal((await staff.call('GET', '/portal/users?bank=alpha&merchant=grocer')).status, 400)
  })

  test('the same at the operator’s interface, where only the key shuts out the last manager', async () => {
    const staff = await openPerson(platform, 'platform', 'admin')
    const manager = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    for (const { login } of [staff, manager])
      assert.equal((await staff.call('POST', `/admin/users/${login}/disable`)).status, 409, login)
    assert.equal((await staff.call('POST', '/admin/users/nobody-there/disable')).status, 404)
    const { operatorKey } = platform.config
    const answer = await platform.call('POST', `/admin/users/${manager.login}/disable`, { token: operatorKey })
    assert.equal(answer.status, 200, answer.text)
  })

  test('the own role and access, and the last active manager, stay', async () => {
    const manager = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    const own = `/portal/users/${manager.userId}`
    for (const change of [{ role: 'viewer' }, { disabled: true }])
      assert.equal((await manager.call('PATCH', own, change)).status, 409)
    for (const what of ['reset-password', 'reset-mfa'])
      assert.equal((await manager.call('POST', `${own}/${what}`)).status, 409)
    const staff = await openPerson(platform, 'platform', 'admin')
    for (const change of [{ role: 'viewer' }, { disabled: true }]) {
      const answer = await staff.call('PATCH', own, change)
      assert.deepEqual([answer.status, answer.body.code], [409, 'conflict'])
    }
    await join(staff, 'admin_user', '?merchant=voltshop')
    assert.equal((await staff.call('PATCH', own, { role: 'viewer' })).status, 200)
  })

  test('a role never exceeds the account’s kind', async () => {
    for (const role of ['admin_user', 'admin', 'gateway', ''])
      assert.equal((await admin.call('POST', '/portal/invitations', { login: newLogin(), role })).status, 400, role)
    const person = await join(admin, 'VIEWER')
    assert.equal((await admin.call('PATCH', `/portal/users/${person.userId}`, { role: 'admin' })).status, 400)
  })
})

suite('changes', () => {
  test('after a change of role, and after a disabling, tokens end; enabled again, a new login works', async () => {
    const sibling = await platform.sibling()
    try {
      const person = await join(admin, 'VIEWER')
      const path = `/portal/users/${person.userId}`
      const changed = await admin.call('PATCH', path, { role: 'EDITOR', email: 'p@alpha.example' })
      assert.deepEqual([changed.body.role, changed.body.email], ['EDITOR', 'p@alpha.example'])
      assert.equal((await person.call('GET', '/portal/session')).status, 401)
      await until(async () => (await sibling.call('GET', '/portal/session', { token: person.token })).status === 401)
      const again = await logInAs(platform, person)
      assert.equal((await admin.call('PATCH', path, { disabled: true })).body.status, 'disabled')
      assert.equal((await again.call('GET', '/portal/session')).status, 401)
      assert.equal((await platform.call('POST', '/auth/login', { body: accountOf(person) })).status, 401)
      assert.equal((await admin.call('PATCH', path, { disabled: false })).body.status, 'active')
      assert.equal((await again.call('GET', '/portal/session')).status, 401)
      assert.equal((await platform.call('POST', '/auth/login', { body: accountOf(person) })).status, 200)
    } finally {
      await sibling.close()
    }
  })

  test('two managers disable each other at once: one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const one = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
      const other = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
      const answers = await Promise.all([
        one.call('PATCH', `/portal/users/${other.userId}`, { disabled: true }),
        other.call('PATCH', `/portal/users/${one.userId}`, { disabled: true }),
      ])
      const statuses = answers.map(({ status }) => status).sort()
      assert.equal(statuses[0], 200)
      assert.notEqual(statuses[1], 200)
      await platform.platform.database.execute(`update portal_users set disabled_at = now() where role = 'ADMIN' and bank_id =
        (select bank_id from banks where code = 'gamma')`)
    }
  })

  test('a link to a new password: for 24 hours, once; sessions end', async () => {
    const person = await join(admin, 'VIEWER')
    const reset = await admin.call('POST', `/portal/users/${person.userId}/reset-password`)
    assert.equal(reset.status, 200, reset.text)
    const hours = (Date.parse(reset.body.expiresAt) - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours <= 24)
    const again = await admin.call('POST', `/portal/users/${person.userId}/reset-password`)
    const token = tokenOfLink(again.body.link)
    const older = await accept({ token: tokenOfLink(reset.body.link), password })
    assert.deepEqual([older.status, older.body.code], [400, 'invalid'], 'the newer link has ended it')
    assert.equal((await person.call('GET', '/portal/session')).status, 200)
    const fresh = 'another long pass phrase'
    assert.equal((await accept({ token, password: fresh })).status, 201)
    assert.equal((await accept({ token, password: fresh })).status, 400)
    assert.equal((await person.call('GET', '/portal/session')).status, 401)
    assert.equal((await platform.call('POST', '/auth/login', { body: accountOf(person) })).status, 401)
    await logInAs(platform, { ...accountOf(person), password: fresh })
  })
})

suite('passwords', () => {
  test('what is refused, and why', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const cases: [string, RegExp][] = [
      ['x'.repeat(14), /password must be longer than or equal to 15 characters/],
      ['x'.repeat(257), /password must be shorter than or equal to 256 characters/],
      ['aaaaaaaaaaaaaaaa', /one character or one word repeated/],
      ['passwordpassword', /one character or one word repeated/],
      ['abcdefghijklmnopq', /follow each other/],
      ['123456789012345678', /follow each other/],
      ['qwertyuiopasdfgh', /follow each other/],
      ['абвгґдеєжзиіїйк', /follow each other/],
      ['ЬЩШЧЦХФУТСРПОНМЛКЙ', /follow each other/],
      ['вгдеёжзийклмноп', /follow each other/],
      // Down and up the columns of a keyboard, and along two of its rows at once.
      ['1qaz2wsx3edc4rfv', /follow each other/],
      ['ZAQ1xsw2cde3vfr4', /follow each other/],
      ['1qazxsw23edcvfr4', /follow each other/],
      ['qazwsxedcrfvtgb', /follow each other/],
      ['q1w2e3r4t5y6u7i8', /follow each other/],
      ['p0o9i8u7y6t5r4e3', /follow each other/],
      ['йфяцычувскамепи', /follow each other/],
      ['!QAZ@WSX#EDC$RFV', /follow each other/],
      ['mju76yhnbgt54rfv', /follow each other/],
      ['0okm9ijn8uhb7ygv', /follow each other/],
      ['qwaszxerdfcvtyghbn', /follow each other/],
      ['1й2ц3у4к5е6н7г8ш', /follow each other/],
      // Each character repeated.
      ['111222333444555', /follow each other/],
      ['122333444455555', /follow each other/],
      ['aabbccddeeffgghh', /follow each other/],
      ['qqwweerrttyyuuii', /follow each other/],
      ['letmeindragonmonkey12', /commonest passwords/],
      ['!!!passwordqwerty2024', /commonest passwords/],
      ['perklinealphaperkline', /commonest passwords/],
      ['Alpha Bank 0123456789', /commonest passwords/],
      // Spaces between words do not make a password harder to guess.
      ['a a a a a a a a a', /one character or one word repeated/],
      ['Password Password', /one character or one word repeated/],
      ['qwerty uiop asdfgh', /follow each other/],
      ['dragon monkey football', /commonest passwords/],
      ['Perkline Alpha Bank', /commonest passwords/],
    ]
    for (const [given, message] of cases) {
      const answer = await person.call('POST', '/portal/password', { current: person.password, password: given })
      assert.equal(answer.status, 400, given)
      assert.match(String(answer.body.message), message)
      assert.ok(!answer.text.includes(given))
    }
  })

  test('any text of 15 to 256 characters is taken and gets in, whatever its alphabet', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    let current = person.password
    const long = Array.from({ length: 128 }, (_, index) => String.fromCodePoint(0x4e00 + 7 * index)).join('')
    for (const next of ['п’ятнадцять симв', 'all lower letters', `${long}${long.split('').reverse().join('')}`]) {
      const changed = await person.call('POST', '/portal/password', { current, password: next })
      assert.equal(changed.status, 204, changed.text)
      current = next
      await logInAs(platform, { ...accountOf(person), password: next })
    }
  })

  test('changed: other sessions end, the own one goes on', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const other = await logInAs(platform, person)
    const body = { current: person.password, password: 'ﬁne words of my own' }
    const wrong = await person.call('POST', '/portal/password', { ...body, current: 'not it' })
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid'])
    assert.equal((await person.call('POST', '/portal/password', body)).status, 204)
    assert.equal((await person.call('GET', '/portal/session')).status, 200)
    assert.equal((await other.call('GET', '/portal/session')).status, 401)
    // A ligature and its two letters are the same text (NFKC).
    await logInAs(platform, { ...accountOf(person), password: 'fine words of my own' })
  })

  test('the length counts after normalisation: one of 256 characters gets in with its accents typed apart, too', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const composed = 'їжак-йогурт-ґанок-'.repeat(14).slice(0, 250).concat('кінець')
    const apart = composed.normalize('NFD')
    assert.deepEqual([[...composed].length, [...apart].length > 256], [256, true])
    const { call } = person
    const changed = await call('POST', '/portal/password', { current: person.password, password: apart })
    assert.equal(changed.status, 204, changed.text)
    for (const typed of [composed, apart]) {
      const account = { ...accountOf(person), password: typed }
      await logInAs(platform, account)
      assert.equal((await platform.call('POST', '/portal/session', { body: account })).status, 200)
      const proof = { method: 'password', code: typed }
      assert.equal((await call('POST', '/portal/session/verify', proof)).status, 200)
    }
    const again = await call('POST', '/portal/password', { current: apart, password: `${apart}й` })
    assert.match(String(again.body.message), /password must be shorter than or equal to 256 characters/)
    const body = { bank: 'alpha', login: newLogin(), role: 'VIEWER', password: apart }
    assert.equal((await callerWith(platform, platform.config.operatorKey)('POST', '/admin/users', body)).status, 201)
    const { body: invited } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    assert.equal((await accept({ token: tokenOfLink(invited.link), password: apart })).status, 201)
  })

  test('users add: the same rules', async () => {
    const body = { bank: 'alpha', login: newLogin(), role: 'VIEWER', password: 'short' }
    const operator = callerWith(platform, platform.config.operatorKey)
    assert.equal((await operator('POST', '/admin/users', body)).status, 400)
    assert.equal((await operator('POST', '/admin/users', { ...body, password, email: 'x@y.example' })).status, 201)
    const { data } = (await admin.call('GET', '/portal/users')).body
    assert.equal(data.find((one: { login: string }) => one.login === body.login).email, 'x@y.example')
  })
})

suite('sessions', () => {
  test('listed with where and how, ended one by one, and all others', async () => {
    const person = await openPerson(platform, { merchant: 'grocer' }, 'viewer')
    const second = await logInAs(platform, person)
    const third = await logInAs(platform, person)
    const { body } = await person.call('GET', '/portal/sessions')
    assert.equal(body.data.length, 3)
    const [newest] = body.data
    assert.deepEqual(Object.keys(newest).sort(), [
      'address',
      'createdAt',
      'current',
      'lastSeenAt',
      'method',
      'sessionId',
      'userAgent',
    ])
    assert.deepEqual([newest.method, newest.address], ['password', '127.0.0.1'])
    assert.equal(body.data.filter((one: { current: boolean }) => one.current).length, 1)
    const idOf = async (one: Person) =>
      (await one.call('GET', '/portal/sessions')).body.data.find((session: { current: boolean }) => session.current)
        .sessionId
    assert.equal((await person.call('DELETE', `/portal/sessions/${await idOf(second)}`)).status, 204)
    assert.equal((await second.call('GET', '/portal/session')).status, 401)
    const foreign = await openPerson(platform, { merchant: 'grocer' }, 'viewer')
    assert.equal((await person.call('DELETE', `/portal/sessions/${await idOf(foreign)}`)).status, 404)
    assert.equal((await person.call('DELETE', '/portal/sessions')).status, 204)
    assert.equal((await third.call('GET', '/portal/session')).status, 401)
    assert.equal((await person.call('GET', '/portal/session')).status, 200)
    assert.equal((await foreign.call('GET', '/portal/session')).status, 200)
  })

  test('a person with very many sees the newest 200, and always the own', async () => {
    const person = await openPerson(platform, { merchant: 'grocer' }, 'viewer')
    await platform.platform.database.execute(
      `insert into sessions (session_id, user_id, created_at, last_seen_at, expires_at, factor_at, address, user_agent, method)
       select gen_random_uuid(), user_id, created_at + n * interval '1 second', last_seen_at, expires_at, factor_at, address, user_agent, method
       from sessions, generate_series(1, 300) as n where user_id = $1`,
      [person.userId],
    )
    const { data } = (await person.call('GET', '/portal/sessions')).body
    assert.equal(data.length, 200)
    const times = data.map(({ createdAt }: { createdAt: string }) => createdAt)
    assert.deepEqual(times, times.toSorted().reverse())
    assert.ok(data.at(-1).current)
    assert.equal((await person.call('DELETE', '/portal/sessions')).status, 204)
    assert.equal((await person.call('GET', '/portal/sessions')).body.data.length, 1)
  })
})

suite('an id in capitals is the same id', () => {
  const capitals = (id: string) => id.toUpperCase()

  test('of a session, also in its entry', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const second = await logInAs(platform, person)
    const { data } = (await person.call('GET', '/portal/sessions')).body
    const { sessionId } = data.find((one: { current: boolean }) => !one.current)
    assert.equal((await person.call('DELETE', `/portal/sessions/${capitals(sessionId)}`)).status, 204)
    assert.equal((await second.call('GET', '/portal/session')).status, 401)
    const entries = await readEntries(platform, person.token, `&object=session:${sessionId}`)
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['login.done', 'session.ended'],
    )
  })

  test('of oneself, whom nobody disables, changes or resets', async () => {
    const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const own = `/portal/users/${capitals(manager.userId)}`
    for (const change of [{ role: 'VIEWER' }, { disabled: true }])
      assert.equal((await manager.call('PATCH', own, change)).status, 409)
    for (const what of ['reset-password', 'reset-mfa'])
      assert.equal((await manager.call('POST', `${own}/${what}`)).status, 409, what)
  })
})

suite('own credentials', () => {
  test('issued, used, rotated and revoked; another account’s are not there', async () => {
    const issued = await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label: 'core' })
    assert.equal(issued.status, 201, issued.text)
    const token = await platform.call('POST', '/getToken/auth', { body: issued.body })
    assert.equal(token.status, 200)
    const system = callerWith(platform, token.body.access_token)
    assert.equal((await system('GET', '/retailers')).status, 200)
    const { clientId } = issued.body
    const listed = (await admin.call('GET', '/portal/credentials')).body.find(
      (one: { clientId: string }) => one.clientId === clientId,
    )
    assert.deepEqual([listed.label, listed.role, listed.issuedBy], ['core', 'EDITOR', admin.login])
    assert.ok(listed.lastUsedAt)
    const path = `/portal/credentials/${clientId}`
    const other = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    assert.equal((await other.call('POST', `${path}/rotate`)).status, 404)
    assert.equal((await other.call('POST', `${path}/revoke`)).status, 404)
    const rotated = await admin.call('POST', `${path}/rotate`, { overlap: 'PT1H' })
    assert.deepEqual(Object.keys(rotated.body).sort(), ['clientId', 'previousValidUntil', 'secret'])
    assert.deepEqual((await admin.call('POST', `${path}/revoke`)).body, { clientId })
    assert.equal((await system('GET', '/retailers')).status, 401)
    assert.equal((await admin.call('POST', '/portal/credentials', { label: 'none' })).status, 400)
    const merchant = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
    assert.equal((await merchant.call('POST', '/portal/credentials', { label: 'shop' })).status, 201)
  })

  test('managers issue at most 1,000 that are not revoked; the operator may issue more', async () => {
    const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
    const issue = () => manager.call('POST', '/portal/credentials', { role: 'VIEWER', label: 'one of many' })
    const { clientId } = (await issue()).body
    const { database } = platform.platform
    const ofGamma = `bank_id = (select bank_id from banks where code = 'gamma') and revoked_at is null`
    await database.execute(
      `insert into credentials (client_id, bank_id, role, label, secret_hash, created_at)
       select 'many-' || n, bank_id, role, label, sha256(n::text::bytea), created_at
       from credentials, generate_series(1, 1000 - (select count(*)::int from credentials where ${ofGamma})) n
       where client_id = '${clientId}'`,
    )
    const over = await issue()
    assert.deepEqual([over.status, over.body.code], [409, 'limit-reached'])
    const body = { bank: 'gamma', role: 'VIEWER', label: 'by the operator' }
    const byOperator = await platform.call('POST', '/admin/credentials', { token: platform.config.operatorKey, body })
    assert.equal(byOperator.status, 201, byOperator.text)
    await database.execute(`update credentials set revoked_at = now() where client_id like 'many-%'`)
    assert.equal((await issue()).status, 201)
  })

  test('managers issue and rotate up to the limit of changes an hour; revoking, other accounts and the operator go on', async () => {
    const counted = await startPlatform()
    try {
      const manager = await openPerson(counted, { merchant: 'grocer' }, 'admin_user')
      const issue = (by = manager, headers = {}) => by.call('POST', '/portal/credentials', { label: 'one' }, headers)
      const once = { 'idempotency-key': 'issue-once' }
      const { clientId } = (await issue(manager, once)).body
      const path = `/portal/credentials/${clientId}`
      for (let made = 1; made < 300; made++) {
        const { status, text } = made % 2 === 0 ? await issue() : await manager.call('POST', `${path}/rotate`)
        assert.equal(status, made % 2 === 0 ? 201 : 200, text)
      }
      for (const over of [await issue(), await manager.call('POST', `${path}/rotate`)]) {
        assert.deepEqual([over.status, over.body.code], [429, 'too-many'], over.text)
        assert.ok(Number(over.headers.get('retry-after')) > 3_000)
      }
      assert.equal((await issue(manager, once)).status, 201, 'a repeated request makes none')
      assert.equal((await manager.call('POST', `${path}/revoke`)).status, 200)
      assert.equal((await issue(await openPerson(counted, { merchant: 'voltshop' }, 'admin_user'))).status, 201)
      const byOperator = await counted.call('POST', '/admin/credentials', {
        token: counted.config.operatorKey,
        body: { merchant: 'grocer', label: 'by the operator' },
      })
      assert.equal(byOperator.status, 201, byOperator.text)
    } finally {
      await counted.close()
    }
  })

  test('all live ones are listed, and the newest 200 of those that were revoked within 90 days', async () => {
    const { database } = platform.platform
    const { operatorKey } = platform.config
    const manager = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    // `day-1` to `day-100` were revoked that many days ago (less an hour), and 150 more (`day-0`, `day--1`, ...) now.
    await database.execute(
      `insert into credentials (client_id, merchant_id, role, label, secret_hash, created_at, revoked_at)
       select 'day-' || n, merchant_id, 'gateway', 'old', sha256(n::text::bytea), now() - interval '1 year',
         now() - make_interval(days => greatest(n, 0)) + interval '1 hour'
       from merchants, generate_series(-149, 100) n where code = 'voltshop'`,
    )
    await database.execute(
      `insert into credentials (client_id, merchant_id, role, label, secret_hash, created_at)
       select 'live-' || n, merchant_id, 'gateway', 'live', sha256(n::text::bytea), now() - interval '2 years'
       from merchants, generate_series(1, 300) n where code = 'voltshop'`,
    )
    const atOperators = (query: string) => platform.call('GET', `/admin/credentials${query}`, { token: operatorKey })
    const lists = {
      'the manager': () => manager.call('GET', '/portal/credentials'),
      'the operator': () => atOperators('?merchant=voltshop'),
    }
    type Listed = { clientId: string; revokedAt: string | null }
    const idsFor = async (read: () => Promise<Answer>): Promise<Set<string>> =>
      new Set((await read()).body.map(({ clientId }: Listed) => clientId))
    for (const [who, read] of Object.entries(lists)) {
      const ids = await idsFor(read)
      const countOf = (kind: string) => [...ids].filter(id => id.startsWith(kind)).length
      assert.equal(countOf('live-'), 300, who)
      assert.ok(countOf('day-') <= 200 && countOf('day-') > 190, `${who}: ${countOf('day-')}`)
      assert.ok(ids.has('day-20') && !ids.has('day-60'), who)
    }
    const ofAll: Listed[] = (await atOperators('')).body
    assert.equal(ofAll.filter(({ clientId }) => clientId.startsWith('live-')).length, 300)
    assert.equal(ofAll.filter(({ revokedAt }) => revokedAt !== null).length, 200, 'of all partners together')
    await database.execute(`delete from credentials where client_id ~ '^day--'`)
    for (const [who, read] of Object.entries(lists)) {
      const ids = await idsFor(read)
      assert.deepEqual([ids.has('day-90'), ids.has('day-91')], [true, false], who)
    }
  })

  test('a label is one line', async () => {
    const { operatorKey } = platform.config
    const invisible = [
      ...'\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff',
      ...'\u034f\u115f\u1160\u17b4\u180b\u180f\u2800\u3164\ue000\ufe00\ufe0e\uffa0\ufff9\ufffb',
      ...'\u{1bca0}\u{1d173}\u{e0001}\u{e0041}\u{e0100}\u{f0000}\u{10fffd}',
    ].map(one => `a${one}b`)
    for (const label of ['two\nlines', 'bell\u0007', 'del\u007f', 'next\u0085', 'separated\u2028', ...invisible]) {
      const own = await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label })
      const body = { bank: 'alpha', role: 'EDITOR', label }
      const operators = await platform.call('POST', '/admin/credentials', { token: operatorKey, body })
      for (const { status, text } of [own, operators]) {
        assert.equal(status, 400, text)
        assert.match(text, /label must be one line/)
      }
    }
    const plain = await admin.call('POST', '/portal/credentials', {
      role: 'EDITOR',
      label: 'Каса №1 👩‍💻 ❤\ufe0f می‌شود क्‍ष',
    })
    assert.equal(plain.status, 201, plain.text)
  })
})

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 10_000
  while (!(await isSo())) {
    assert.ok(Date.now() < endsAt, 'not within 10 s')
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
