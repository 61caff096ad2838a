/** POST /auth/login (contract/access.md, "Tokens"). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { claimAttempt, findAttempts, noteFailure } from '../../../src/access/login-store.ts'
import { addUser, disableUser } from '../../../src/access/operations.ts'
import { openPerson, setUpTotp } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { addAccount } from '../../support/portal.ts'

const path = '/auth/login'
let platform: TestPlatform
let deps: { database: TestPlatform['platform']['database'] }
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  deps = { database: platform.platform.database }
  await addUser(deps, { owner: { bank: 'alpha' }, login: 'petro', role: 'ADMIN', password: 'новий пароль Петра 1' })
  await addUser(deps, { owner: { merchant: 'grocer' }, login: 'olena', role: 'editor', password: 'olena’s password' })
  await addUser(deps, { owner: 'platform', login: 'root', role: 'admin', password: 'the password of root' })
})
after(() => platform.close())

let addresses = 0
const newAddress = () => `198.51.${Math.floor(++addresses / 250)}.${1 + (addresses % 250)}`
const logIn = (body: unknown, address = newAddress()): Promise<Answer> =>
  platform.call('POST', path, { body, headers: { 'x-forwarded-for': address } })
const petro = { typeAccount: 'bank', login: 'petro', password: 'новий пароль Петра 1' }
const olena = { typeAccount: 'retailer', login: 'olena', password: 'olena’s password' }
const root = { typeAccount: 'platform', login: 'root', password: 'the password of root' }

function assertError(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text)
  assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'message', 'statusCode'])
  assert.equal(answer.body.statusCode, status)
}

suite('200', () => {
  test('right credentials give exactly the token response', async () => {
    for (const user of [petro, olena, root]) {
      const answer = await logIn(user)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(Object.keys(answer.body).sort(), ['access_token', 'expire'])
      assert.strictEqual(answer.body.expire, '7200')
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    }
  })

  test('the token says that a portal user logged in, with which role', async () => {
    const claimsOf = async (user: object) => {
      const { body } = await logIn(user)
      return JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
    }
    const [bank, merchant, staff] = [await claimsOf(petro), await claimsOf(olena), await claimsOf(root)]
    assert.deepEqual([bank.accountType, bank.role, bank.userType], ['bank', 'ADMIN', 'portal_user'])
    assert.deepEqual([merchant.accountType, merchant.role, merchant.userType], ['retailer', 'editor', 'portal_user'])
    assert.deepEqual([staff.accountType, staff.role, staff.accountId], ['platform', 'admin', null])
  })

  test('a bank’s user may use the eSIM API', async () => {
    const { body } = await logIn(petro)
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token: body.access_token })).status, 200)
  })
})

suite('401', () => {
  test('unknown login, wrong password, another kind of account: one and the same message, and WWW-Authenticate', async () => {
    // Petro first logs in from this address, so that it is known. The platform delays repeated failed attempts from an
    // unknown address.
    const home = newAddress()
    assert.equal((await logIn(petro, home)).status, 200)
    const answers = [
      await logIn({ ...petro, login: 'nobody' }, home),
      await logIn({ ...petro, password: 'wrong' }, home),
      await logIn({ ...petro, password: `${petro.password} ` }, home),
      await logIn({ ...petro, password: petro.password.toUpperCase() }, home),
      await logIn({ ...petro, typeAccount: 'retailer' }, home),
      await logIn({ ...petro, typeAccount: 'platform' }, home),
      await logIn({ ...petro, login: 'Petro' }, home),
      await logIn({ ...petro, login: ' petro' }, home),
      await logIn({ ...petro, password: olena.password }, home),
    ]
    for (const answer of answers) {
      assertError(answer, 401)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
    assert.equal(new Set(answers.map(({ body }) => body.message)).size, 1)
    assert.equal((await logIn(petro, home)).status, 200)
  })

  test('a disabled user, and a user of a suspended merchant', async () => {
    await addUser(deps, { owner: { bank: 'beta' }, login: 'gone', role: 'VIEWER', password: 'password of gone' })
    const gone = { typeAccount: 'bank', login: 'gone', password: 'password of gone' }
    assert.equal((await logIn(gone)).status, 200)
    await disableUser(deps, 'gone')
    assertError(await logIn(gone), 401)

    const voltshop = { owner: { merchant: 'voltshop' }, role: 'viewer' }
    await addUser(deps, { ...voltshop, login: 'volt', password: 'password of volt' })
    const volt = { typeAccount: 'retailer', login: 'volt', password: 'password of volt' }
    assert.equal((await logIn(volt)).status, 200)
    await platform.applyDirectory(testDirectory.replace('{ code: voltshop,', '{ code: voltshop, status: suspended,'))
    assertError(await logIn(volt), 401)
  })
})

suite('400', () => {
  test('a malformed body names every faulty field', async () => {
    const cases: [object, string[]][] = [
      [{}, ['login must be given', 'password must be given', 'typeAccount must be given']],
      [{ ...petro, typeAccount: 'Bank' }, ['typeAccount must be one of bank, retailer, platform']],
      [{ ...petro, typeAccount: null }, ['typeAccount must be one of bank, retailer, platform']],
      [{ ...petro, login: '' }, ['login must be longer than or equal to 1 character']],
      [{ ...petro, login: 'x'.repeat(129) }, ['login must be shorter than or equal to 128 characters']],
      [{ ...petro, password: 'x'.repeat(1025) }, ['password must be shorter than or equal to 1024 characters']],
      [{ ...petro, password: 7 }, ['password must be a string']],
      [{ ...petro, remember: true }, ['remember must be omitted']],
    ]
    for (const [body, message] of cases) {
      const answer = await logIn(body)
      assertError(answer, 400)
      assert.deepEqual([...answer.body.message].sort(), message)
    }
  })

  test('a body that is no object, or no JSON', async () => {
    for (const body of [null, [], 'text']) assertError(await logIn(body), 400)
    for (const raw of ['', '{', 'login=petro']) assertError(await platform.call('POST', path, { raw }), 400)
  })
})

test('415 and 413 in the cashback error body', async () => {
  assertError(await platform.call('POST', path, { raw: 'x', headers: { 'content-type': 'text/plain' } }), 415)
  assertError(await logIn({ ...petro, password: 'x'.repeat(66_000) }), 413)
})

suite('429', () => {
  test('after 5 wrong passwords for one login, from wherever, the next try waits; for others nothing changes', async () => {
    const user = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    const statuses: number[] = []
    for (let index = 0; index < 5; index++)
      statuses.push((await logIn({ ...user, password: `wrong ${index}` }, newAddress())).status)
    assert.deepEqual(statuses, Array(5).fill(401))
    const address = newAddress()
    const answer = await logIn(user, address)
    assertError(answer, 429)
    assert.ok(['1', '2'].includes(answer.headers.get('retry-after') ?? ''), `${answer.headers.get('retry-after')}`)
    assert.equal((await logIn(petro, address)).status, 200)
  })

  test('a login that nobody has waits like all others', async () => {
    const nobody = { ...petro, login: 'nobody-of-that-name', password: 'wrong' }
    const statuses: number[] = []
    for (let index = 0; index < 6; index++) statuses.push((await logIn(nobody, newAddress())).status)
    assert.deepEqual(statuses, [...Array(5).fill(401), 429])
  })

  test('an address from which the login succeeded before does not wait, whatever other addresses do', async () => {
    const user = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    const home = newAddress()
    assert.equal((await logIn(user, home)).status, 200)
    for (let index = 0; index < 7; index++) await logIn({ ...user, password: 'wrong' }, newAddress())
    assertError(await logIn(user, newAddress()), 429)
    assert.equal((await logIn(user, home)).status, 200)
    assert.equal((await logIn(user, newAddress())).status, 200, 'who got in starts anew')
  })

  test('waits end after an hour for every login, so that they do not show which logins exist', async () => {
    const refusedTwice = async (login: string) => {
      const first = await logIn({ ...petro, login, password: 'wrong' })
      return [first.status, (await logIn({ ...petro, login, password: 'wrong' })).status]
    }
    await addUser(deps, { owner: { bank: 'alpha' }, login: 'there', role: 'VIEWER', password: 'the password of there' })
    for (const login of ['there', 'not-there'])
      for (let failures = 0; failures < 5; failures++) await logIn({ ...petro, login, password: 'wrong' })
    await deps.database.execute(
      `update failed_logins set last_at = last_at - interval '2 hours', next_at = next_at - interval '2 hours'`,
    )
    assert.deepEqual(await refusedTwice('not-there'), [401, 401])
    assert.deepEqual(await refusedTwice('there'), [401, 401])
    const { body } = await logIn({ ...petro, login: 'there', password: 'the password of there' })
    const session = await platform.call('GET', '/portal/session', { token: body.access_token })
    assert.equal(session.body.failedLogins.count, 7, 'the person learns of all of them')
  })

  test('a wrong code neither brings waits back nor makes them longer', async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    await setUpTotp(person)
    const { typeAccount, login, password } = person
    const body = { typeAccount, login, password }
    const openSession = () =>
      platform.call('POST', '/portal/session', { body, headers: { 'x-forwarded-for': newAddress() } })
    for (let failures = 0; failures < 5; failures++) await logIn({ ...body, password: 'wrong' })
    const age = (minutes: number) =>
      deps.database.execute(
        'update failed_logins set last_at = last_at - make_interval(mins => $1), next_at = next_at - make_interval(mins => $1)',
        [minutes],
      )
    for (const minutes of [50, 20]) {
      await age(minutes)
      const { challenge } = (await openSession()).body
      const wrong = { challenge, method: 'totp', code: '000000' }
      assert.equal((await platform.call('POST', '/portal/session/verify', { body: wrong })).status, 401)
    }
    // Attempts are no longer delayed. Otherwise the second of these would get 429.
    for (let times = 0; times < 3; times++) assert.equal((await openSession()).status, 202)
    await logIn({ ...body, password: 'wrong' })
    assert.equal((await openSession()).status, 202, 'the count has begun anew')
    const { recoveryCodes } = (await person.call('POST', '/portal/mfa/recovery-codes')).body
    const entered = await logIn({ ...body, otp: recoveryCodes[0] })
    const session = await platform.call('GET', '/portal/session', { token: entered.body.access_token })
    assert.equal(session.body.failedLogins.count, 8, 'the person learns of all of them')
  })

  test('the wait doubles up to a minute, and only one of several simultaneous attempts is allowed', async () => {
    const login = 'waits-longer'
    const waits: number[] = []
    for (let failures = 0; failures < 12; failures++) {
      assert.equal(await claimAttempt(deps.database, login), 0)
      const claims = await Promise.all(Array.from({ length: 5 }, () => claimAttempt(deps.database, login)))
      if (failures > 4)
        assert.ok(
          claims.every(seconds => seconds > 0),
          `${failures}: ${claims}`,
        )
      await noteFailure(deps.database, login, false)
      waits.push(Math.round((await findAttempts(deps.database, login, '192.0.2.1')).waitSeconds))
      // Ends the waiting time, so that the next failure counts at once.
      await deps.database.execute('update failed_logins set next_at = now()')
    }
    assert.deepEqual(waits, [0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  suite('old data of logins is removed by a job, though nobody logs in any more', () => {
    /** Runs all jobs by moving the sandbox's clock. Logins use real time, not this clock. */
    async function runJobs() {
      assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1S' } })).status, 200)
      assert.equal((await platform.call('DELETE', '/sandbox/clock')).status, 200)
    }

    test('addresses of people 30 days after the last login from there', async () => {
      const user = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
      const [old, recent] = [newAddress(), newAddress()]
      for (const address of [old, recent]) assert.equal((await logIn(user, address)).status, 200)
      for (const [address, days] of [
        [old, 31],
        [recent, 29],
      ] as const)
        await deps.database.execute(
          'update login_addresses set last_at = now() - make_interval(days => $2) where address = $1',
          [address, days],
        )
      await runJobs()
      const kept = await deps.database.query<{ address: string }>(
        'select address from login_addresses where address = any($1)',
        [[old, recent]],
      )
      assert.deepEqual(kept, [{ address: recent }])
    })

    test('failures of logins that nobody has after an hour, more of them than one run removes', async () => {
      const user = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
      for (const login of ['long-ago', 'just-now', user.login])
        assertError(await logIn({ ...user, login, password: 'wrong' }), 401)
      const keyOf = (login: string) => createHash('sha256').update(login).digest()
      await deps.database.execute(
        `update failed_logins set last_at = now() - interval '61 minutes' where login_key = any($1)`,
        [['long-ago', user.login].map(keyOf)],
      )
      await deps.database.execute(
        `insert into failed_logins (login_key, is_known, failures, last_at, next_at)
         select sha256(n::text::bytea), false, 1, now() - interval '2 hours', now() from generate_series(1, 2500) n`,
      )
      await runJobs()
      const kept = await deps.database.query<{ key: Buffer }>(
        `select login_key as key from failed_logins where login_key = any($1) or not is_known and last_at < now() - interval '1 hour'`,
        [['long-ago', 'just-now', user.login].map(keyOf)],
      )
      const hex = (keys: Buffer[]) => keys.map(key => key.toString('hex')).sort()
      assert.deepEqual(hex(kept.map(({ key }) => key)), hex(['just-now', user.login].map(keyOf)))
    })
  })

  test('100 strangers in the queue do not delay a person at the address of an earlier login', async () => {
    const user = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    const home = newAddress()
    assert.equal((await logIn(user, home)).status, 200)
    let waiting = 0
    const strangers = Array.from({ length: 100 }, (_, index) => {
      waiting++
      return logIn({ ...petro, login: `guess-${index}`, password: 'wrong' }, newAddress()).finally(() => waiting--)
    })
    for (let index = 0; index < 3; index++) assert.equal((await logIn(user, home)).status, 200)
    assert.ok(waiting > 60, `${waiting} strangers still wait`)
    // The strangers all come from one network. Their queue does not delay a login from another network.
    assert.equal((await logIn(user, '203.0.113.7')).status, 200)
    assert.ok(waiting > 30, `${waiting} strangers still wait`)
    const statuses = new Set((await Promise.all(strangers)).map(({ status }) => status))
    // On a slow machine some strangers wait too long and get 503.
    assert.ok(
      [...statuses].every(status => status === 401 || status === 503),
      `${[...statuses]}`,
    )
  })

  test('after 50 bodies that are no attempt an address gets 429 for such ones, and others get in there', async () => {
    const address = newAddress()
    const ask = () => platform.call('POST', path, { raw: '{', headers: { 'x-forwarded-for': address } })
    for (let index = 0; index < 50; index++) assertError(await ask(), 400)
    assertError(await ask(), 429)
    assert.equal((await logIn(petro, address)).status, 200)
  })

  test('failed logins do not slow down the token endpoint at that address', async () => {
    const address = newAddress()
    for (let index = 0; index < 11; index++) await logIn({ ...olena, login: 'pk_x', password: 'wrong' }, address)
    const answer = await platform.call('POST', '/getToken/auth', {
      body: { clientId: 'pk_x', secret: 'x' },
      headers: { 'x-forwarded-for': address },
    })
    assert.equal(answer.status, 400)
  })

  test('many right logins at once all get in', async () => {
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 25 }, () => logIn(petro, address)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })
})

test('passwords are kept as argon2id hashes', async () => {
  const rows = await deps.database.query<{ hash: string }>('select password_hash as hash from portal_users')
  assert.ok(rows.length > 0)
  for (const { hash } of rows) assert.match(hash, /^\$argon2id\$/)
})
