/** POST /auth/login (behaviour.md, section 2). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { addUser, disableUser } from '../src/access/operations.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from './support/platform.ts'

const path = '/auth/login'
let platform: TestPlatform
let deps: { database: TestPlatform['platform']['database'] }
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  deps = { database: platform.platform.database }
  await addUser(deps, { owner: { bank: 'alpha' }, login: 'petro', role: 'ADMIN', password: 'пароль Петра 1' })
  await addUser(deps, { owner: { merchant: 'grocer' }, login: 'olena', role: 'editor', password: 'olena’s password' })
  await addUser(deps, { owner: 'platform', login: 'root', role: 'admin', password: 'the password of root' })
})
after(() => platform.close())

let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`
const logIn = (body: unknown, address = newAddress()): Promise<Answer> =>
  platform.call('POST', path, { body, headers: { 'x-forwarded-for': address } })
const petro = { typeAccount: 'bank', login: 'petro', password: 'пароль Петра 1' }
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
    const answers = [
      await logIn({ ...petro, login: 'nobody' }),
      await logIn({ ...petro, password: 'wrong' }),
      await logIn({ ...petro, password: `${petro.password} ` }),
      await logIn({ ...petro, password: petro.password.toUpperCase() }),
      await logIn({ ...petro, typeAccount: 'retailer' }),
      await logIn({ ...petro, typeAccount: 'platform' }),
      await logIn({ ...petro, login: 'Petro' }),
      await logIn({ ...petro, login: ' petro' }),
      await logIn({ ...petro, password: olena.password }),
    ]
    for (const answer of answers) {
      assertError(answer, 401)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
    assert.equal(new Set(answers.map(({ body }) => body.message)).size, 1)
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
      [{ ...petro, password: 'x'.repeat(257) }, ['password must be shorter than or equal to 256 characters']],
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
  test('after 10 failures for one login from one address; elsewhere, and for others there, nothing changes', async () => {
    const address = newAddress()
    const statuses: number[] = []
    for (let index = 0; index < 10; index++)
      statuses.push((await logIn({ ...olena, password: `wrong ${index}` }, address)).status)
    assert.deepEqual(statuses, Array(10).fill(401))
    const answer = await logIn(olena, address)
    assertError(answer, 429)
    assert.ok(Number(answer.headers.get('retry-after')) >= 1 && Number(answer.headers.get('retry-after')) <= 60)
    assert.equal((await logIn(olena)).status, 200)
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
