/** Invitations: sent, listed, accepted, withdrawn, expired (contract/people.md, "Invitations and links"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { inviteAndJoin, logInAs, newLogin, openPerson, type Person, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

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
    // The answer does not show whether the other person is disabled.
    await platform.call('POST', `/admin/users/${login}/disable`, { token: platform.config.operatorKey })
    assert.deepEqual((await accept({ token, password })).body, taken.body)
    const joined = await accept({ token, password, login: `${login}-2` })
    assert.deepEqual([joined.status, joined.body], [201, { typeAccount: 'bank', login: `${login}-2` }])
  })

  test('one link tells of ten taken logins an hour; the invited person goes on afterwards, and others at once', async () => {
    const { login: takenLogin } = await openPerson(platform, { bank: 'beta' }, 'VIEWER')
    const invite = async () => {
      const { body } = await admin.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
      return tokenOfLink(body.link)
    }
    const [token, other] = [await invite(), await invite()]
    for (let index = 0; index < 12; index++) {
      const refused = await accept({ token, password: 'short', login: takenLogin })
      assert.equal(refused.status, 400, 'a refused password is no conflict')
    }
    const ask = () => accept({ token, password, login: takenLogin })
    const answers = await Promise.all(Array.from({ length: 15 }, ask))
    assert.equal(answers.filter(({ status }) => status === 409).length, 10)
    const over = await ask()
    assert.deepEqual([over.status, over.body.code], [429, 'too-many'])
    const retryAfter = Number(over.headers.get('retry-after'))
    assert.ok(retryAfter > 3_500 && retryAfter <= 3_600, `${retryAfter} s`)
    const free = newLogin()
    const early = await accept({ token, password, login: free })
    assert.equal(early.status, 429, 'otherwise the answer would still show which logins are taken')
    assert.equal((await accept({ token: other, password, login: takenLogin })).status, 409)
    assert.equal((await accept({ token: other, password, login: newLogin() })).status, 201)

    // Here each process has its own counters, so the link works at another process, as it does here after an hour.
    const sibling = await platform.sibling()
    try {
      const body = { token, password, login: free }
      assert.equal((await sibling.call('POST', '/portal/invitations/accept', { body })).status, 201)
    } finally {
      await sibling.close()
    }
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

  test('an invited person is listed, and every change of the person says that the invitation is to be withdrawn', async () => {
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

  test('at most 1,000 of an account wait', async () => {
    const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
    const invite = () => manager.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    assert.equal((await invite()).status, 201)
    const { database } = platform.platform
    const ofGamma = `bank_id = (select bank_id from banks where code = 'gamma')`
    await database.execute(
      `insert into invitations (invitation_id, user_id, bank_id, login, role, invited_by, token_hash, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), bank_id, 'many-' || n, role, invited_by, sha256(n::text::bytea), created_at, expires_at
       from invitations, generate_series(1, 999) n where ${ofGamma}`,
    )
    const over = await invite()
    assert.deepEqual([over.status, over.body.code], [409, 'limit-reached'])
    await database.execute(`delete from invitations where ${ofGamma} and login like 'many-%'`)
    assert.equal((await invite()).status, 201)
  })

  test('an account has at most 5,000 people', async () => {
    const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
    const invite = () => manager.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
    assert.equal((await invite()).status, 201)
    const { database } = platform.platform
    await database.execute(
      `insert into portal_users (user_id, bank_id, login, role, password_hash, created_at)
       select gen_random_uuid(), bank_id, 'colleague-' || n, 'VIEWER', 'x', now() from banks, generate_series(1, 4990) n where code = 'gamma'`,
    )
    const answers = []
    for (let n = 0; n < 10; n++) answers.push(await invite())
    const over = answers.at(-1) ?? assert.fail()
    assert.deepEqual([over.status, over.body.code], [409, 'limit-reached'])
    assert.equal(answers[0]?.status, 201)
    await database.execute(`delete from portal_users where login like 'colleague-%'`)
    assert.equal((await invite()).status, 201)
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

  test('not accepted while the account of whoever sent it is suspended', async () => {
    const suspended = testDirectory
      .replace('{ code: gamma,', '{ code: gamma, status: suspended,')
      .replace('{ code: voltshop,', '{ code: voltshop, status: suspended,')
    for (const [owner, manages, role] of [
      [{ bank: 'gamma' }, 'ADMIN', 'VIEWER'],
      [{ merchant: 'voltshop' }, 'admin_user', 'viewer'],
    ] as const) {
      const manager = await openPerson(platform, owner, manages)
      const colleague = await join(manager, role)
      const invited = await manager.call('POST', '/portal/invitations', { login: newLogin(), role })
      const reset = await manager.call('POST', `/portal/users/${colleague.userId}/reset-password`)
      await platform.applyDirectory(suspended)
      for (const { body } of [invited, reset]) {
        const refused = await accept({ token: tokenOfLink(body.link), password })
        assert.deepEqual([refused.status, refused.body.code], [400, 'invalid'])
      }
      await platform.applyDirectory(testDirectory)
      for (const { body } of [invited, reset])
        assert.equal((await accept({ token: tokenOfLink(body.link), password })).status, 201)
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
    const turning = '\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff'
    const ignored =
      '\u034f\u115f\u1160\u17b4\u180b\u200c\u200d\u2800\u3164\ufe00\ufe0f\uffa0\u{1d173}\u{e0041}\u{e0100}'
    for (const odd of `${turning}${ignored}\ue000\ufff9\u{f0000}`) {
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
    // Versions before 0.3 accepted two logins that look alike. The upgrade gives a key only to the older login.
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

  test('the same Idempotency-Key does not show one person’s link or secret to another', async () => {
    const colleague = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const issued = await admin.call('POST', '/portal/credentials', { label: 'own', role: 'ADMIN' })
    assert.equal(issued.status, 201, issued.text)
    const operations: [string, object?][] = [
      ['/portal/invitations', { login: newLogin(), role: 'VIEWER' }],
      ['/portal/credentials', { label: 'shown once', role: 'ADMIN' }],
      [`/portal/credentials/${issued.body.clientId}/rotate`, {}],
      [`/portal/users/${person.userId}/reset-password`],
    ]
    for (const [path, body] of operations) {
      const headers = { 'idempotency-key': 'shown-once' }
      const first = await admin.call('POST', path, body, headers)
      assert.ok(first.status < 300, first.text)
      const answer = await colleague.call('POST', path, body, headers)
      assert.deepEqual([answer.status, answer.body.code], [422, 'key-reused'], path)
    }
  })

  test('all links of an account tell of thirty taken logins an hour; other accounts go on', async () => {
    const { login: takenLogin } = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
    const invite = async (by: Person) => {
      const { body } = await by.call('POST', '/portal/invitations', { login: newLogin(), role: 'VIEWER' })
      return tokenOfLink(body.link)
    }
    const statuses: number[] = []
    for (let link = 0; link < 4; link++) {
      const token = await invite(manager)
      for (let time = 0; time < 9; time++) statuses.push((await accept({ token, password, login: takenLogin })).status)
    }
    assert.deepEqual(statuses, [...Array(30).fill(409), ...Array(6).fill(429)])
    const other = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    assert.equal((await accept({ token: await invite(other), password, login: takenLogin })).status, 409)
  })
})

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
