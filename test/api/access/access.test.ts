/** Which tokens the APIs accept, and how soon a caller loses access (contract/access.md). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addUser, disableUser, issueCredential, revokeCredential } from '../../../src/access/operations.ts'
import { createTokens } from '../../../src/access/tokens.ts'
import type { Caller } from '../../../src/caller.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { makeTokenKeys, tokensOf } from '../../support/token-keys.ts'

/** The time limit that the contract promises. */
const lostWithinMs = 10_000

let platform: TestPlatform
let sibling: TestPlatform
let deps: { database: TestPlatform['platform']['database'] }
before(async () => {
  platform = await startPlatform()
  sibling = await platform.sibling()
  deps = { database: platform.platform.database }
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const get = (token: string, at = platform) => at.call('GET', '/esim/v1/operators', { token })
const withHeader = (authorization: string): Promise<Answer> =>
  platform.call('GET', '/esim/v1/operators', { headers: { authorization } })

async function credentialAndToken(partner: { bank: string } | { merchant: string } = { bank: 'alpha' }) {
  const role = 'bank' in partner ? 'ADMIN' : 'gateway'
  const credential = await issueCredential(deps, { partner, role, label: 'test' })
  const { body } = await platform.call('POST', '/getToken/auth', { body: credential })
  return { ...credential, token: body.access_token as string }
}

async function userToken(login: string, owner: { bank: string } | { merchant: string } | 'platform', role: string) {
  const password = `the password of ${login}`
  await addUser(deps, { owner, login, role, password })
  const typeAccount = owner === 'platform' ? 'platform' : 'bank' in owner ? 'bank' : 'retailer'
  const { body } = await platform.call('POST', '/auth/login', { body: { typeAccount, login, password } })
  return body.access_token as string
}

/**
 * Issues two tokens: one a little less and one a little more than 7200 s ago. A key signs no token that is issued
 * before `signs_from`, so this moves `signs_from` into the past meanwhile.
 */
async function signedBefore(caller: Caller) {
  const before = await platform.platform.database.query<{ signsFrom: Date }>(
    'select signs_from as "signsFrom" from token_keys',
  )
  await platform.platform.database.execute(`update token_keys set signs_from = signs_from - interval '3 hours'`)
  try {
    const issue = async (ago: number) => (await tokensOf(platform, () => Date.now() - ago)).issue(caller).token
    return { nearlyExpired: await issue(7_190_000), expired: await issue(7_206_000) }
  } finally {
    await platform.platform.database.execute('update token_keys set signs_from = $1', [before[0]?.signsFrom])
  }
}

/** Waits until both processes refuse a token with 401. Fails if this takes longer than the contract allows. */
async function assertLost(token: string): Promise<void> {
  const startedMs = performance.now()
  for (const at of [platform, sibling])
    while ((await get(token, at)).status !== 401) {
      assert.ok(performance.now() - startedMs < lostWithinMs, 'access is not lost within 10 seconds')
      await sleep(20)
    }
}

suite('401', () => {
  test('without a token, and with what is none, saying WWW-Authenticate: Bearer', async () => {
    for (const answer of [await platform.call('GET', '/esim/v1/operators'), await withHeader('Bearer nonsense')]) {
      assert.equal(answer.status, 401)
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer(?: error="invalid_token")?$/)
      assert.deepEqual(Object.keys(answer.body).sort(), [
        'error',
        'message',
        'method',
        'path',
        'statusCode',
        'timestamp',
      ])
    }
  })

  test('for the token of another platform, and for an expired one', async () => {
    const { token } = await credentialAndToken()
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const bank = { type: 'bank', bankId: claims.accountId, role: 'ADMIN' } as const
    const caller = { ...bank, userType: 'gateway_user', subject: claims.sub } as const
    const at = async (ms: number) => (await tokensOf(platform, () => Date.now() + ms)).issue(caller).token
    assert.equal((await get(await at(0))).status, 200)
    // A token whose time of issue is in the future is refused.
    assert.equal((await get(await at(120_000))).status, 401)
    const foreign = createTokens(await makeTokenKeys(platform.config.masterKeys)).issue(caller).token
    assert.equal((await get(foreign)).status, 401)
    const { expired, nearlyExpired } = await signedBefore(caller)
    assert.equal((await get(nearlyExpired)).status, 200)
    assert.equal((await get(expired)).status, 401)
  })

  test('comes before 400, 403, 404 and the state', async () => {
    for (const [method, path, body] of [
      ['POST', '/esim/v1/orders', { nonsense: true }],
      ['GET', '/esim/v1/orders/no-uuid', undefined],
      ['GET', '/esim/v1/operators/nobody/tariffs', undefined],
      ['POST', '/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11/confirm', {}],
    ] as const)
      assert.equal((await platform.call(method, path, { body })).status, 401, path)
    const broken = await platform.call('POST', '/esim/v1/orders', { raw: '{' })
    assert.equal(broken.status, 401)
    const text = await platform.call('POST', '/esim/v1/orders', { raw: 'x', headers: { 'content-type': 'text/plain' } })
    assert.equal(text.status, 401)
  })
})

test('the name of the scheme is read in any case', async () => {
  const { token } = await credentialAndToken()
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
    assert.equal((await withHeader(`${scheme} ${token}`)).status, 200, scheme)
  assert.equal((await withHeader(`Bearer   ${token}`)).status, 200, 'several spaces')
  for (const wrong of [`Basic ${token}`, `Bearer${token}`, `Bearers ${token}`, token, `Bearer=${token}`])
    assert.equal((await withHeader(wrong)).status, 401, wrong.slice(0, 12))
})

test('a token in the query or a cookie is none', async () => {
  const { token } = await credentialAndToken()
  assert.equal((await platform.call('GET', `/esim/v1/operators?access_token=${token}`)).status, 401)
  const cookie = { cookie: `access_token=${token}` }
  assert.equal((await platform.call('GET', '/esim/v1/operators', { headers: cookie })).status, 401)
})

suite('403', () => {
  test('for a merchant and for the platform’s staff on the eSIM API, before 400 and 404', async () => {
    const tokens = [
      (await credentialAndToken({ merchant: 'grocer' })).token,
      await userToken('merchant-user', { merchant: 'grocer' }, 'admin_user'),
      await userToken('staff', 'platform', 'admin'),
    ]
    for (const token of tokens)
      for (const [method, path, body] of [
        ['GET', '/esim/v1/operators', undefined],
        ['POST', '/esim/v1/orders', { nonsense: true }],
        ['GET', '/esim/v1/orders/no-uuid', undefined],
        ['GET', '/esim/v1/operators/nobody/tariffs', undefined],
      ] as const) {
        const answer = await platform.call(method, path, { token, body })
        assert.equal(answer.status, 403, `${method} ${path}`)
        assert.equal(answer.body.error, 'Forbidden')
      }
  })

  test('not for any role of a bank: the eSIM API asks only for a bank', async () => {
    for (const role of ['ADMIN', 'EDITOR', 'VIEWER'] as const) {
      assert.equal((await get(await platform.bankToken('alpha', role))).status, 200)
      assert.equal((await get(await userToken(`bank-${role}`, { bank: 'alpha' }, role))).status, 200)
    }
  })
})

test('the operator’s key is no token of a bank, and a bank’s token no operator’s key', async () => {
  const { token } = await credentialAndToken()
  const { operatorKey } = platform.config
  const stock = async (given: string) => (await platform.call('GET', '/admin/stock', { token: given })).status
  assert.equal((await get(operatorKey)).status, 401)
  for (const wrong of ['', 'x', operatorKey.slice(0, -1), `${operatorKey}x`]) assert.equal(await stock(wrong), 401)
  assert.equal(await stock(token), 403)
  assert.equal(await stock(operatorKey), 200)
  assert.equal(await stock(await userToken('staff-2', 'platform', 'admin')), 200)
})

suite('access is lost within 10 seconds in every process, live tokens included', () => {
  test('a revoked credential; another one of the same bank goes on', async () => {
    const [revoked, other] = [await credentialAndToken(), await credentialAndToken()]
    for (const at of [platform, sibling]) assert.equal((await get(revoked.token, at)).status, 200)
    await revokeCredential(deps, revoked.clientId)
    await assertLost(revoked.token)
    for (const at of [platform, sibling]) assert.equal((await get(other.token, at)).status, 200)
  })

  test('a disabled user; a colleague goes on', async () => {
    const disabled = await userToken('leaves', { bank: 'alpha' }, 'ADMIN')
    const colleague = await userToken('stays', { bank: 'alpha' }, 'ADMIN')
    for (const at of [platform, sibling]) assert.equal((await get(disabled, at)).status, 200)
    await disableUser(deps, 'leaves')
    await assertLost(disabled)
    for (const at of [platform, sibling]) assert.equal((await get(colleague, at)).status, 200)
  })

  test('a suspended bank, all its credentials and users; active again, it is let in again', async () => {
    const { token, clientId, secret } = await credentialAndToken({ bank: 'beta' })
    const user = await userToken('beta-user', { bank: 'beta' }, 'VIEWER')
    const other = await credentialAndToken({ bank: 'alpha' })
    const apply = (status: string) =>
      platform.call('POST', '/admin/directory', {
        token: platform.config.operatorKey,
        body: { directory: testDirectory.replace('{ code: beta,', `{ code: beta, status: ${status},`), files: {} },
      })
    assert.equal((await apply('suspended')).status, 200)
    await assertLost(token)
    await assertLost(user)
    for (const at of [platform, sibling]) {
      assert.equal((await get(other.token, at)).status, 200)
      assert.equal((await at.call('POST', '/getToken/auth', { body: { clientId, secret } })).status, 400)
    }
    assert.equal((await apply('active')).status, 200)
    for (const at of [platform, sibling]) while ((await get(token, at)).status !== 200) await sleep(20)
  })

  test('even when the notification goes missing', async () => {
    const { token, clientId } = await credentialAndToken()
    assert.equal((await get(token, sibling)).status, 200)
    await deps.database.execute('update credentials set revoked_at = now() where client_id = $1', [clientId])
    await assertLost(token)
  })
})
