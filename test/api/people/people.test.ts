/** People manage the people of their account (contract/people.md). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { callerWith, logInAs, openPerson, type Person, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const password = 'correct horse battery staple'
let platform: TestPlatform
let admin: Person
before(async () => {
  platform = await startPlatform()
  admin = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

const accept = (body: object) => platform.call('POST', '/portal/invitations/accept', { body })
let logins = 0
const newLogin = () => `invited-${++logins}`

/** Invites a person, who accepts. */
async function join(manager: Person, role: string, query = ''): Promise<Person> {
  const login = newLogin()
  const invited = await manager.call('POST', `/portal/invitations${query}`, { login, role })
  assert.equal(invited.status, 201, invited.text)
  const joined = await accept({ token: tokenOfLink(invited.body.link), password })
  assert.equal(joined.status, 201, joined.text)
  assert.equal(joined.headers.get('set-cookie'), null)
  return logInAs(platform, { typeAccount: joined.body.typeAccount, login, password })
}

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

suite('invitations', () => {
  test('listed as a person, accepted once, active', async () => {
    const login = newLogin()
    const invited = await admin.call('POST', '/portal/invitations', { login, role: 'EDITOR' })
    assert.deepEqual(Object.keys(invited.body).sort(), ['expiresAt', 'invitationId', 'link'])
    const hours = (Date.parse(invited.body.expiresAt) - Date.now()) / 3_600_000
    assert.ok(hours > 71.9 && hours <= 72)
    assert.match(invited.body.link, new RegExp(`^${platform.config.publicUrl}/app/join#[\\w-]{43}$`))
    const listed = async () =>
      (await admin.call('GET', '/portal/users')).body.data.find((one: { login: string }) => one.login === login)
    assert.deepEqual([(await listed()).status, (await listed()).lastSeenAt], ['invited', null])

    const token = tokenOfLink(invited.body.link)
    assert.equal((await accept({ token, password: 'short' })).status, 400)
    assert.equal((await accept({ token, password })).status, 201)
    assert.equal((await listed()).status, 'active')
    const again = await accept({ token, password })
    const wrong = await accept({ token: 'a'.repeat(43), password })
    assert.deepEqual([again.status, again.body.code], [400, 'invalid'])
    for (const odd of ['', 'a', 'a'.repeat(257), 'a'.repeat(20_000), `${token} `])
      assert.deepEqual((await accept({ token: odd, password })).body, wrong.body, `${odd.length} characters`)
    const { body } = await admin.call('GET', '/portal/invitations')
    assert.ok(!body.data.some((one: { login: string }) => one.login === login))
  })

  test('a login that is taken elsewhere shows when the invitation is accepted, and the person takes another', async () => {
    const elsewhere = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
    const { login } = elsewhere
    const invited = await admin.call('POST', '/portal/invitations', { login, role: 'VIEWER' })
    assert.equal(invited.status, 201)
    const token = tokenOfLink(invited.body.link)
    const taken = await accept({ token, password })
    assert.deepEqual([taken.status, taken.body.code], [409, 'conflict'])
    assert.equal(taken.body.rules[0].rule, 'login-taken')
    // Whether that person is disabled is nothing to the one who comes.
    await platform.call('POST', `/admin/users/${login}/disable`, { token: platform.config.operatorKey })
    assert.deepEqual((await accept({ token, password })).body, taken.body)
    const joined = await accept({ token, password, login: `${login}-2` })
    assert.deepEqual([joined.status, joined.body], [201, { typeAccount: 'bank', login: `${login}-2` }])
  })

  test('it names the person as the list of people does, before and after the link is taken', async () => {
    const login = newLogin()
    const { body } = await admin.call('POST', '/portal/invitations', { login, role: 'VIEWER' })
    const listed = (await admin.call('GET', '/portal/invitations')).body.data as Record<string, string>[]
    const invited = listed.find(({ invitationId }) => invitationId === body.invitationId)
    const person = async () =>
      ((await admin.call('GET', '/portal/users')).body.data as Record<string, string>[]).find(
        one => one.userId === invited?.userId,
      )
    assert.deepEqual([(await person())?.login, (await person())?.status], [login, 'invited'])
    assert.equal((await accept({ token: tokenOfLink(body.link), password })).status, 201)
    assert.deepEqual([(await person())?.login, (await person())?.status], [login, 'active'])
  })

  test('its entry and the entry of its person name each other', async () => {
    const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    assert.equal((await accept({ token: tokenOfLink(body.link), password })).status, 201)
    const [made] = await readEntries(platform, admin.token, `&object=invitation:${body.invitationId}`)
    const [, userId] = made.change.user
    assert.deepEqual(made.change, { role: [null, 'VIEWER'], user: [null, userId] })
    const [accepted] = await readEntries(platform, admin.token, `&object=user:${userId}`)
    assert.deepEqual([accepted.action, accepted.actor.id], ['invitation.accepted', userId])
    assert.deepEqual(accepted.change, { role: [null, 'VIEWER'], invitation: [null, body.invitationId] })
  })

  test('whoever waits behind an invitation is listed, and every change says that the invitation is to be withdrawn', async () => {
    const login = newLogin()
    const { body } = await admin.call('POST', '/portal/invitations', { login, role: 'VIEWER' })
    const { data } = (await admin.call('GET', '/portal/users')).body
    const { userId } = data.find((one: { login: string }) => one.login === login)
    const change = (by: Person) => [
      by.call('PATCH', `/portal/users/${userId}`, { role: 'EDITOR' }),
      by.call('POST', `/portal/users/${userId}/reset-password`),
      by.call('POST', `/portal/users/${userId}/reset-mfa`),
      by.call('DELETE', `/portal/users/${userId}`),
    ]
    for (const answer of await Promise.all(change(admin))) {
      assert.deepEqual([answer.status, answer.body.code], [409, 'conflict'], answer.text)
      assert.match(answer.body.message, /invitation/)
    }
    const other = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    for (const { status } of await Promise.all(change(other))) assert.equal(status, 404)
    assert.equal((await admin.call('DELETE', `/portal/invitations/${body.invitationId}`)).status, 204)
    for (const { status } of await Promise.all(change(admin))) assert.equal(status, 404)
  })

  test('one login is invited to an account once at a time, however it is written, also by eight at once', async () => {
    const login = newLogin()
    const invite = (as: string) => admin.call('POST', '/portal/invitations', { login: as, role: 'VIEWER' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => invite(login)))
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(made.length, 1)
    for (const again of [...answers.filter(({ status }) => status !== 201), await invite(login.toUpperCase())]) {
      assert.deepEqual([again.status, again.body.code], [409, 'conflict'])
      assert.equal(again.body.rules[0].rule, 'login-invited')
    }
    const other = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    assert.equal((await other.call('POST', '/portal/invitations', { login, role: 'VIEWER' })).status, 201)
    const path = `/portal/invitations/${made[0]?.body.invitationId}`
    assert.equal((await admin.call('DELETE', path)).status, 204)
    assert.equal((await invite(login)).status, 201)
  })

  test('withdrawn: its link works no more', async () => {
    const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    const other = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    const path = `/portal/invitations/${body.invitationId}`
    assert.equal((await other.call('DELETE', path)).status, 404)
    assert.equal((await admin.call('DELETE', path)).status, 204)
    assert.equal((await admin.call('DELETE', path)).status, 404)
    assert.equal((await accept({ token: tokenOfLink(body.link), password })).status, 400)
  })

  test('withdrawn with the access of whoever sent it: disabled, demoted, disabled by the operator', async () => {
    const { operatorKey } = platform.config
    const ends: ((manager: Person) => Promise<{ status: number }>)[] = [
      ({ userId }) => admin.call('PATCH', `/portal/users/${userId}`, { disabled: true }),
      ({ userId }) => admin.call('PATCH', `/portal/users/${userId}`, { role: 'VIEWER' }),
      ({ login }) => platform.call('POST', `/admin/users/${login}/disable`, { token: operatorKey }),
    ]
    for (const end of ends) {
      const manager = await join(admin, 'ADMIN')
      const colleague = await join(admin, 'VIEWER')
      const invited = await manager.call('POST', '/portal/invitations', { login: newLogin(), role: 'ADMIN' })
      const reset = await manager.call('POST', `/portal/users/${colleague.userId}/reset-password`)
      const other = await join(admin, 'VIEWER')
      const kept = await admin.call('POST', `/portal/users/${other.userId}/reset-password`)
      assert.equal((await end(manager)).status, 200)
      for (const { body } of [invited, reset]) {
        const refused = await accept({ token: tokenOfLink(body.link), password })
        assert.deepEqual([refused.status, refused.body.code], [400, 'invalid'])
      }
      const { body } = await admin.call('GET', '/portal/invitations')
      assert.ok(!body.data.some((one: { invitationId: string }) => one.invitationId === invited.body.invitationId))
      const told = await readEntries(platform, admin.token, `&object=invitation:${invited.body.invitationId}`)
      assert.deepEqual(
        told.map(({ action }) => action),
        ['invitation.made', 'invitation.withdrawn'],
      )
      assert.equal((await accept({ token: tokenOfLink(kept.body.link), password })).status, 201)
    }
  })

  test('invitations and the end of their manager’s access at once leave no link behind', async () => {
    for (let round = 0; round < 5; round++) {
      const manager = await join(admin, 'ADMIN')
      const invite = () => manager.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
      const [, ...invited] = await Promise.all([
        admin.call('PATCH', `/portal/users/${manager.userId}`, { disabled: true }),
        ...Array.from({ length: 8 }, invite),
      ])
      for (const { status, body } of invited) {
        assert.ok([201, 401].includes(status), `${status}`)
        if (status === 201) assert.equal((await accept({ token: tokenOfLink(body.link), password })).status, 400)
      }
    }
  })

  test('a login that looks like a taken one is taken: in another case, in full width', async () => {
    const taken = await join(admin, 'VIEWER')
    const alike = [taken.login.toUpperCase(), taken.login.replace('invited', 'ｉｎｖｉｔｅｄ')]
    for (const login of alike) {
      const invited = await admin.call('POST', '/portal/invitations', { login, role: 'VIEWER' })
      assert.deepEqual([invited.status, invited.body.code], [409, 'conflict'])
      const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
      assert.equal((await accept({ token: tokenOfLink(body.link), password, login })).status, 409)
    }
    const cyrillic = await admin.call('POST', '/portal/invitations', { login: 'Їжак', role: 'VIEWER' })
    assert.equal((await accept({ token: tokenOfLink(cyrillic.body.link), password })).status, 201)
    const other = await admin.call('POST', '/portal/invitations', { login: 'їжак', role: 'VIEWER' })
    assert.equal(other.status, 409)
  })

  test('a login has no character that cannot be seen or turns the text', async () => {
    const { operatorKey } = platform.config
    const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    const token = tokenOfLink(body.link)
    for (const odd of '\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff') {
      const login = `in${odd}visible`
      const added = { bank: 'alpha', login, role: 'VIEWER', password }
      for (const answer of [
        await admin.call('POST', '/portal/invitations', { login, role: 'VIEWER' }),
        await accept({ token, password, login }),
        await platform.call('POST', '/admin/users', { token: operatorKey, body: added }),
      ]) {
        assert.deepEqual([answer.status, answer.body.code], [400, 'invalid'], JSON.stringify(odd))
        assert.match(answer.text, /login must be/)
      }
    }
  })

  test('a link of any kind is refused after its time, and tells nothing', async () => {
    const { body: invited } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    const person = await join(admin, 'VIEWER')
    const { body: reset } = await admin.call('POST', `/portal/users/${person.userId}/reset-password`)
    const { database } = platform.platform
    for (const table of ['invitations', 'password_resets'])
      await database.execute(`update ${table} set expires_at = now() - interval '1 second'`)
    const wrong = await accept({ token: 'a'.repeat(43), password })
    for (const { link } of [invited, reset]) {
      const late = await accept({ token: tokenOfLink(link), password })
      assert.deepEqual([late.status, late.body], [400, wrong.body])
    }
    await logInAs(platform, accountOf(person))
  })

  test('logins that looked alike before are both kept and both get in', async () => {
    const [one, two] = [await join(admin, 'VIEWER'), await join(admin, 'VIEWER')]
    const alike = one.login.toUpperCase()
    // As before 0.3: the older login alone has the key.
    await platform.platform.database.execute(
      'update portal_users set login = $2, login_key = null where user_id = $1',
      [two.userId, alike],
    )
    for (const login of [one.login, alike]) await logInAs(platform, { ...accountOf(one), login })
  })

  test('one link accepted 20 times at once: one person', async () => {
    const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    const token = tokenOfLink(body.link)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => accept({ token, password, login: `racer-${index}` })),
    )
    assert.deepEqual(
      answers
        .map(({ status }) => status)
        .sort()
        .slice(0, 2),
      [201, 400],
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  })

  test('the same Idempotency-Key: one invitation', async () => {
    const body = { login: newLogin(), role: 'VIEWER' }
    const headers = { 'idempotency-key': 'invite-once' }
    const first = await admin.call('POST', '/portal/invitations', body, headers)
    const again = await admin.call('POST', '/portal/invitations', body, headers)
    assert.equal(first.text, again.text)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
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
      ['letmeindragonmonkey12', /commonest passwords/],
      ['!!!passwordqwerty2024', /commonest passwords/],
      ['perklinealphaperkline', /commonest passwords/],
      ['Alpha Bank 0123456789', /commonest passwords/],
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

  test('a label is one line', async () => {
    const { operatorKey } = platform.config
    const invisible = [...'\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff'].map(
      one => `a${one}b`,
    )
    for (const label of ['two\nlines', 'bell\u0007', 'del\u007f', 'next\u0085', 'separated\u2028', ...invisible]) {
      const own = await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label })
      const body = { bank: 'alpha', role: 'EDITOR', label }
      const operators = await platform.call('POST', '/admin/credentials', { token: operatorKey, body })
      for (const { status, text } of [own, operators]) {
        assert.equal(status, 400, text)
        assert.match(text, /label must be one line/)
      }
    }
    const plain = await admin.call('POST', '/portal/credentials', { role: 'EDITOR', label: 'Каса №1 👩‍💻 می‌شود' })
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
