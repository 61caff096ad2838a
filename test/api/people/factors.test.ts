/** Second factors (contract/people.md, "Second factors"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockEndedTokens } from '../../../src/access/ended-token-store.ts'
import { readEntries } from '../../support/audit-log.ts'
import { until } from '../../support/esim.ts'
import { callerWith, codeOf, logInAs, openPerson, type Person, setUpTotp } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { browserWith, cookieOf } from '../../support/portal.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
})
after(() => platform.close())

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`
const at = (address: string) => ({ 'x-forwarded-for': address })
const openSession = (person: Person, headers = {}): Promise<Answer> =>
  platform.call('POST', '/portal/session', { body: accountOf(person), headers })
const verify = (body: object, headers = {}): Promise<Answer> =>
  platform.call('POST', '/portal/session/verify', { body, headers })
const logIn = (person: Person, otp?: string): Promise<Answer> =>
  platform.call('POST', '/auth/login', { body: { ...accountOf(person), ...(otp && { otp }) } })

suite('an authenticator app', () => {
  test('its first code while the same session ends does not deadlock', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = (await person.call('POST', '/portal/mfa/totp')).body
    const { database } = platform.platform
    // This transaction does what a logout does: it takes the lock of ended tokens, and then deletes the session.
    const confirmed = await database.transaction(async transaction => {
      await lockEndedTokens(transaction)
      const confirming = person.call('POST', '/portal/mfa/totp/confirm', { code: codeOf(secret) })
      await until('the confirmation waits for the lock', async () => {
        const [row] = await database.query<{ waits: boolean }>(
          `select exists (select from pg_locks where locktype = 'advisory' and not granted) as waits`,
        )
        return row?.waits === true
      })
      await transaction.execute(`set local lock_timeout = '300ms'`)
      await transaction.execute('delete from sessions where user_id = $1', [person.userId])
      return { confirming }
    })
    assert.equal((await confirmed.confirming).status, 200)
  })

  test('its codes may have the space that the app shows', async () => {
    const spaced = (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)}`
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = (await person.call('POST', '/portal/mfa/totp')).body
    const confirmed = await person.call('POST', '/portal/mfa/totp/confirm', { code: spaced(codeOf(secret, -1)) })
    assert.equal(confirmed.status, 200, confirmed.text)
    const { challenge } = (await openSession(person)).body
    assert.equal((await verify({ challenge, method: 'totp', code: spaced(codeOf(secret)) })).status, 200)
    assert.equal((await logIn(person, spaced(codeOf(secret, 1)))).status, 200)
  })

  test('set up with a code, asked for by both logins, removed', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    assert.deepEqual((await person.call('GET', '/portal/mfa')).body, { totp: null, recoveryCodes: { left: 0 } })
    const begun = await person.call('POST', '/portal/mfa/totp')
    assert.match(begun.body.uri, /^otpauth:\/\/totp\/Perkline:/)
    assert.match(begun.body.qr, /^data:image\/png;base64,/)
    assert.equal((await openSession(person)).status, 200, 'not asked for before a code was seen')
    const { secret } = begun.body
    const wrong = await person.call('POST', '/portal/mfa/totp/confirm', { code: '000000' })
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid'])
    const confirmed = await person.call('POST', '/portal/mfa/totp/confirm', { code: codeOf(secret, -1) })
    assert.equal(confirmed.status, 200, confirmed.text)
    assert.equal(new Set(confirmed.body.recoveryCodes).size, 10)
    const { body } = await person.call('GET', '/portal/mfa')
    assert.ok(body.totp.confirmedAt)
    assert.equal(body.recoveryCodes.left, 10)
    assert.equal((await person.call('POST', '/portal/mfa/totp')).status, 409)

    const challenged = await openSession(person)
    assert.equal(challenged.status, 202)
    assert.deepEqual(Object.keys(challenged.body).sort(), ['challenge', 'expiresAt', 'methods'])
    assert.deepEqual(challenged.body.methods, ['totp', 'recovery-code'])
    assert.equal(challenged.headers.get('set-cookie'), null)
    const { challenge } = challenged.body
    const refused = await verify({ challenge, method: 'totp', code: '000000' })
    assert.deepEqual([refused.status, refused.body.code], [401, 'unauthenticated'])
    const code = codeOf(secret)
    const entered = await verify({ challenge, method: 'totp', code })
    assert.equal(entered.status, 200, entered.text)
    const browser = browserWith(platform, cookieOf(entered))
    assert.equal((await browser.call('GET', '/portal/session')).body.login, person.login)
    assert.equal((await verify({ challenge, method: 'totp', code: codeOf(secret, 1) })).status, 401, 'one use')

    const needed = await logIn(person)
    assert.deepEqual([needed.status, needed.headers.get('perkline-error-code')], [401, 'mfa-needed'])
    assert.deepEqual(Object.keys(needed.body).sort(), ['error', 'message', 'statusCode'])
    const wrongCode = await logIn(person, code)
    assert.deepEqual([wrongCode.status, wrongCode.headers.get('perkline-error-code')], [401, 'unauthenticated'])
    const again = await logInAs(platform, person, codeOf(secret, 1))
    const sessions = (await again.call('GET', '/portal/sessions')).body.data
    assert.deepEqual([...new Set(sessions.map((one: { method: string }) => one.method))].sort(), ['password', 'totp'])

    assert.equal((await again.call('DELETE', '/portal/mfa/totp')).status, 204)
    assert.equal((await openSession(person)).status, 200)
    assert.deepEqual((await again.call('GET', '/portal/mfa')).body, { totp: null, recoveryCodes: { left: 0 } })
  })

  test('one code used by 50 callers at once: one success; steps further away are refused', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = await setUpTotp(person)
    for (const steps of [-2, 2]) assert.equal((await logIn(person, codeOf(secret, steps))).status, 401)
    const challenges = await Promise.all(Array.from({ length: 50 }, () => openSession(person)))
    const code = codeOf(secret)
    const answers = await Promise.all(
      challenges.map(({ body }) => verify({ challenge: body.challenge, method: 'totp', code }, at(newAddress()))),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.ok(answers.every(({ status }) => [200, 401].includes(status)))
  })

  test('recovery codes: each once, told by mail; new ones end the old', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { recoveryCodes } = await setUpTotp(person)
    const [first = '', second = ''] = recoveryCodes
    assert.match(first, /^[0-9a-z]{5}-[0-9a-z]{5}$/)
    assert.equal((await logIn(person, first.toUpperCase().replace('-', ' '))).status, 200)
    assert.equal((await logIn(person, first)).status, 401)
    assert.equal((await person.call('GET', '/portal/mfa')).body.recoveryCodes.left, 9)
    const renewed = await person.call('POST', '/portal/mfa/recovery-codes')
    assert.deepEqual([renewed.status, renewed.body.recoveryCodes.length], [201, 10])
    assert.equal((await logIn(person, second)).status, 401)
    const challenged = await openSession(person)
    const code = renewed.body.recoveryCodes[0]
    const entered = await verify({ challenge: challenged.body.challenge, method: 'recovery-code', code })
    assert.equal(entered.status, 200)
  })

  test('a recovery code stays valid when its use is refused for another reason, and nobody is told of a use', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { recoveryCodes } = await setUpTotp(person)
    const { database } = platform.platform
    const left = async () => {
      const [row] = await database.query<{ left: number }>(
        'select count(*)::int as left from recovery_codes where user_id = $1',
        [person.userId],
      )
      return row?.left
    }
    // Both changes happen after the platform has read the person, but before it uses the code.
    const whileLocked = async (attempt: () => Promise<Answer>, change: string): Promise<Answer> => {
      const begun = Promise.withResolvers<Promise<Answer>>()
      await database.transaction(async transaction => {
        await transaction.execute('select from portal_users where user_id = $1 for update', [person.userId])
        begun.resolve(attempt())
        for (let waiting = 0; waiting === 0; await sleep(20)) {
          const [row] = await database.query<{ count: number }>(
            `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
          waiting = row?.count ?? 0
        }
        await transaction.execute(change, [person.userId])
      })
      return begun.promise
    }
    const proof = { method: 'recovery-code', code: recoveryCodes[0] }
    const proven = await whileLocked(
      () => person.call('POST', '/portal/session/verify', proof),
      `update sessions set expires_at = now() - interval '1 second' where user_id = $1`,
    )
    assert.deepEqual([proven.status, await left()], [401, 10])
    const { challenge } = (await openSession(person)).body
    const entered = await whileLocked(
      () => verify({ challenge, ...proof }),
      `update portal_users set role = 'VIEWER' where user_id = $1`,
    )
    assert.deepEqual([entered.status, await left()], [401, 10])
    assert.equal((await verify({ challenge, ...proof })).status, 200, 'the challenge stays valid, too')
    assert.equal(await left(), 9)
    const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const used = `&action=mfa.recovery_used&object=user:${person.userId}`
    assert.equal((await readEntries(platform, manager.token, used)).length, 1)
  })

  test('guesses at the same moment learn no more than one after the other', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = await setUpTotp(person)
    const home = at(newAddress())
    const challenges = await Promise.all(Array.from({ length: 8 }, () => openSession(person, home)))
    const guess = ({ body }: (typeof challenges)[number]) =>
      verify({ challenge: body.challenge, method: 'totp', code: '000000' }, home)
    const answers = await Promise.all([...challenges, ...challenges, ...challenges, ...challenges].map(guess))
    const wrong = answers.filter(({ status }) => status === 401)
    assert.ok(wrong.length <= 10, `${wrong.length} guesses were looked at`)
    assert.ok(answers.every(({ status }) => status === 401 || status === 429))
    const right = await verify({ challenge: challenges[0]?.body.challenge, method: 'totp', code: codeOf(secret) }, home)
    assert.equal(right.status, 429)
  })

  test('a challenge takes five tries; ten wrong codes close an address for the person', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = await setUpTotp(person)
    const home = at(newAddress())
    const tries = async () => {
      const { challenge } = (await openSession(person, home)).body
      for (let index = 0; index < 5; index++)
        assert.equal((await verify({ challenge, method: 'totp', code: '000000' }, home)).status, 401)
      return challenge
    }
    const challenge = await tries()
    const late = await verify({ challenge, method: 'totp', code: codeOf(secret) }, home)
    assert.equal(late.status, 401)
    await tries()
    const { body } = await openSession(person, home)
    const closed = await verify({ challenge: body.challenge, method: 'totp', code: codeOf(secret) }, home)
    assert.deepEqual([closed.status, closed.body.code], [429, 'too-many'])
    assert.ok(Number(closed.headers.get('retry-after')) > 800)
    const elsewhere = at(newAddress())
    const fresh = await openSession(person, elsewhere)
    const code = codeOf(secret)
    assert.equal((await verify({ challenge: fresh.body.challenge, method: 'totp', code }, elsewhere)).status, 200)
  })

  test('a challenge lasts for 5 minutes of real time, however the sandbox clock stands', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = await setUpTotp(person)
    const home = at(newAddress())
    const { database } = platform.platform
    const open = async () => {
      const { body } = await openSession(person, home)
      const seconds = (Date.parse(body.expiresAt) - Date.now()) / 1000
      assert.ok(seconds > 290 && seconds <= 301, `${seconds} s`)
      return body.challenge
    }
    const answer = (challenge: string, steps: number) =>
      verify({ challenge, method: 'totp', code: codeOf(secret, steps) }, home)
    const late = await open()
    await database.execute(`update login_challenges set expires_at = expires_at - interval '5 minutes'`)
    const refused = await answer(late, 0)
    assert.deepEqual([refused.status, refused.body.code], [401, 'unauthenticated'])
    assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1H' } })).status, 200)
    try {
      assert.equal((await answer(await open(), 1)).status, 200)
    } finally {
      await platform.call('DELETE', '/sandbox/clock')
    }
  })

  test('guesses from many addresses: after 100 in a day only where the person got in before', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'EDITOR')
    const { secret } = await setUpTotp(person)
    for (let stranger = 0; stranger < 10; stranger++) {
      const there = at(newAddress())
      const challenges = await Promise.all([openSession(person, there), openSession(person, there)])
      const guesses = challenges.flatMap(({ body }) =>
        Array(5).fill({ challenge: body.challenge, method: 'totp', code: '000000' }),
      )
      const answers = await Promise.all(guesses.map(guess => verify(guess, there)))
      assert.ok(
        answers.every(({ status }) => status === 401),
        answers.map(({ status }) => status).join(' '),
      )
    }
    const there = at(newAddress())
    const code = codeOf(secret)
    const { challenge } = (await openSession(person, there)).body
    const closed = await verify({ challenge, method: 'totp', code }, there)
    assert.deepEqual([closed.status, closed.body.code], [429, 'too-many'])
    assert.ok(Number(closed.headers.get('retry-after')) > 80_000)
    const home = await openSession(person, {})
    assert.equal((await verify({ challenge: home.body.challenge, method: 'totp', code }, {})).status, 200)
  })

  test('a manager takes a lost one away; the sessions end', async () => {
    const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    await setUpTotp(person)
    const { data } = (await manager.call('GET', '/portal/users')).body
    const listed = data.find((one: { userId: string }) => one.userId === person.userId)
    assert.deepEqual(listed.mfa, ['totp', 'recovery-code'])
    assert.equal((await manager.call('POST', `/portal/users/${person.userId}/reset-mfa`)).status, 204)
    assert.equal((await person.call('GET', '/portal/session')).status, 401)
    assert.equal((await logIn(person)).status, 200)
  })
})

suite('a fresh factor', () => {
  const age = (person: Person) =>
    platform.platform.database.execute(
      `update sessions set factor_at = now() - interval '16 minutes' where user_id = $1`,
      [person.userId],
    )

  test('the password, where there is no second factor; then the operation works', async () => {
    const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const [colleague, disabled] = [
      await openPerson(platform, { bank: 'alpha' }, 'VIEWER'),
      await openPerson(platform, { bank: 'alpha' }, 'VIEWER'),
    ]
    const change = (person: Person, to: object) => manager.call('PATCH', `/portal/users/${person.userId}`, to)
    assert.equal((await change(disabled, { disabled: true })).status, 200)
    await age(manager)
    const invitation = { login: 'fresh-1', role: 'VIEWER' }
    const operations: [string, string, unknown?][] = [
      ['POST', '/portal/invitations', invitation],
      ['POST', '/portal/mfa/totp'],
      ['POST', '/portal/mfa/totp/confirm', { code: '123456' }],
      ['DELETE', '/portal/mfa/totp'],
      ['POST', '/portal/mfa/recovery-codes'],
      [
        'PUT',
        '/portal/security-policy',
        { mfa: 'optional', sessionMinutes: 120, addresses: { people: [], systems: [] } },
      ],
      ['POST', '/portal/credentials', { role: 'VIEWER' }],
      ['POST', '/portal/credentials/pk_x/rotate'],
      ['PATCH', `/portal/users/${colleague.userId}`, { role: 'EDITOR' }],
      ['PATCH', `/portal/users/${colleague.userId}`, { email: 'new@alpha.example' }],
      ['PATCH', `/portal/users/${disabled.userId}`, { disabled: false }],
      ['POST', '/partner/v1/webhook-endpoints', { url: 'https://hooks.alpha.example/', types: ['*'] }],
      ['POST', `/partner/v1/webhook-endpoints/${manager.userId}/rotate-secret`, {}],
      ['PATCH', `/partner/v1/webhook-endpoints/${manager.userId}`, { url: 'https://elsewhere.example/' }],
    ]
    for (const [method, path, body] of operations) {
      const answer = await manager.call(method, path, body)
      assert.deepEqual([answer.status, answer.body.code], [401, 'mfa-needed'], `${method} ${path}`)
    }
    assert.equal((await manager.call('GET', '/portal/users')).status, 200)
    const stillDisabled = await logIn(disabled)
    assert.equal(stillDisabled.status, 401)
    // Access that looks unsafe can be taken away at once.
    assert.equal((await change(disabled, { disabled: true })).status, 200)
    assert.equal((await change(colleague, { disabled: true })).status, 200)
    const wrong = await manager.call('POST', '/portal/session/verify', { method: 'password', code: 'wrong' })
    assert.equal(wrong.status, 401)
    const proven = await manager.call('POST', '/portal/session/verify', { method: 'password', code: manager.password })
    assert.equal(proven.status, 200, proven.text)
    assert.equal((await manager.call('POST', '/portal/invitations', invitation)).status, 201)
    assert.equal((await change(disabled, { disabled: false })).status, 200)
    assert.equal((await logIn(disabled)).status, 200)
  })

  test('setting up a second factor ends the sessions that have proven only the password', async () => {
    const owner = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const thief = callerWith(platform, (await logIn(owner)).body.access_token)
    assert.equal((await thief('POST', '/portal/invitations', { login: 'by-thief-1', role: 'VIEWER' })).status, 201)
    await setUpTotp(owner)
    const operations: [string, string, unknown?][] = [
      ['POST', '/portal/mfa/recovery-codes'],
      ['DELETE', '/portal/mfa/totp'],
      ['POST', '/portal/invitations', { login: 'by-thief-2', role: 'VIEWER' }],
      ['POST', '/portal/credentials', { role: 'ADMIN' }],
    ]
    for (const [method, path, body] of operations) {
      const answer = await thief(method, path, body)
      assert.equal(answer.status, 401, `${method} ${path}`)
    }
    const proof = { method: 'password', code: owner.password }
    assert.equal((await thief('POST', '/portal/session/verify', proof)).status, 401)
    while ((await thief('GET', '/portal/users')).status !== 401) await sleep(20)
    assert.equal((await owner.call('POST', '/portal/credentials', { role: 'ADMIN' })).status, 201)
  })

  test('the platform’s own people prove one at the operator’s interface, too; the operator’s key does not', async () => {
    const staff = await openPerson(platform, 'platform', 'admin')
    const operations: [string, unknown][] = [
      ['/admin/credentials', { bank: 'alpha', role: 'VIEWER', label: 'Core' }],
      ['/admin/users', { bank: 'alpha', role: 'VIEWER', login: 'added-by-staff', password: staff.password.repeat(2) }],
      ['/admin/security-policy/addresses-off', { bank: 'alpha' }],
    ]
    const { clientId } = (await staff.call('POST', '/admin/credentials', operations[0]?.[1])).body
    operations.push([`/admin/credentials/${clientId}/rotate`, {}])
    operations.push([`/admin/webhook-endpoints/${staff.userId}/rotate-secret`, {}])
    await age(staff)
    for (const [path, body] of operations) {
      const answer = await staff.call('POST', path, body)
      assert.deepEqual([answer.status, answer.body.code], [401, 'mfa-needed'], path)
    }
    const withKey = callerWith(platform, platform.config.operatorKey)
    assert.equal((await withKey('POST', '/admin/credentials', operations[0]?.[1])).status, 201)
    assert.equal((await staff.call('POST', `/admin/credentials/${clientId}/revoke`)).status, 200)
    const proof = { method: 'password', code: staff.password }
    assert.equal((await staff.call('POST', '/portal/session/verify', proof)).status, 200)
    assert.equal((await staff.call('POST', '/admin/credentials', operations[0]?.[1])).status, 201)
  })

  test('the second factor, where there is one: the password is not enough', async () => {
    const manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const { secret } = await setUpTotp(manager)
    await age(manager)
    assert.equal((await manager.call('DELETE', '/portal/mfa/totp')).status, 401)
    const byPassword = { method: 'password', code: manager.password }
    assert.equal((await manager.call('POST', '/portal/session/verify', byPassword)).status, 400)
    const byCode = { method: 'totp', code: codeOf(secret) }
    assert.equal((await manager.call('POST', '/portal/session/verify', byCode)).status, 200)
    assert.equal((await manager.call('POST', '/portal/session/verify', byCode)).status, 401)
    assert.equal((await manager.call('DELETE', '/portal/mfa/totp')).status, 204)
  })
})

test('a key that two people of an account use brings none the other’s codes', async () => {
  const [one, other] = [
    await openPerson(platform, { bank: 'beta' }, 'VIEWER'),
    await openPerson(platform, { bank: 'beta' }, 'VIEWER'),
  ]
  for (const person of [one, other]) await setUpTotp(person)
  const renew = (person: Person) =>
    person.call('POST', '/portal/mfa/recovery-codes', undefined, { 'idempotency-key': 'same' })
  const renewed = await renew(one)
  assert.equal(renewed.status, 201, renewed.text)
  assert.equal((await renew(one)).text, renewed.text)
  const refused = await renew(other)
  assert.deepEqual([refused.status, refused.body.code], [422, 'key-reused'])
})
