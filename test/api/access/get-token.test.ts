/** POST /getToken/auth (contract/access.md, "Tokens"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCredential, revokeCredential, rotateCredential } from '../../../src/access/operations.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { startRedisServer } from '../../support/redis.ts'
import { requireProgram } from '../../support/require-program.ts'

const path = '/getToken/auth'
let platform: TestPlatform
let deps: { database: TestPlatform['platform']['database'] }
before(async () => {
  // Each test uses a different address, so that failed attempts of one do not slow down another.
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  deps = { database: platform.platform.database }
})
after(() => platform.close())

type Body = Record<string, unknown>
let addresses = 0
const newAddress = () => `198.51.${Math.floor(++addresses / 250)}.${1 + (addresses % 250)}`
const ask = (body: unknown, address = newAddress(), at = platform): Promise<Answer> =>
  at.call('POST', path, { body, headers: { 'x-forwarded-for': address } })
const issueFor = (bank: string) => issueCredential(deps, { partner: { bank }, role: 'ADMIN', label: 'test' })
const operatorsWith = (token: string) => platform.call('GET', '/esim/v1/operators', { token })

function assertText(answer: Answer, status: number): string {
  assert.equal(answer.status, status, answer.text)
  assert.deepEqual(Object.keys(answer.body), ['text'])
  assert.equal(typeof answer.body.text, 'string')
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  return answer.body.text
}

suite('200', () => {
  test('right credentials give exactly access_token and expire, the string "7200"', async () => {
    const answer = await ask(await issueFor('alpha'))
    assert.equal(answer.status, 200)
    assert.deepEqual(Object.keys(answer.body).sort(), ['access_token', 'expire'])
    assert.strictEqual(answer.body.expire, '7200')
    assert.match(answer.body.access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  })

  test('the token works, for a bank on the eSIM API', async () => {
    const { body } = await ask(await issueFor('alpha'))
    assert.equal((await operatorsWith(body.access_token)).status, 200)
  })

  test('a merchant gets a token as well', async () => {
    const credential = await issueCredential(deps, { partner: { merchant: 'grocer' }, role: 'gateway', label: '' })
    const { status, body } = await ask(credential)
    assert.equal(status, 200)
    assert.equal((await operatorsWith(body.access_token)).status, 403)
  })

  test('every call gives a fresh token with a full lifetime, and those before stay valid', async () => {
    const credential = await issueFor('alpha')
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(credential)))
    const tokens = answers.map(({ body }) => body.access_token as string)
    assert.equal(new Set(tokens).size, 20)
    for (const token of tokens) {
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      assert.equal(claims.exp - claims.iat, 7200)
      assert.ok(Math.abs(claims.iat - Date.now() / 1000) < 30)
      assert.equal((await operatorsWith(token)).status, 200)
    }
  })

  test('many right calls at once from one address are never throttled', async () => {
    const credential = await issueFor('alpha')
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 120 }, () => ask(credential, address)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })

  test('an authorization header and parameters of the media type do not matter', async () => {
    const answer = await platform.call('POST', path, {
      body: await issueFor('alpha'),
      headers: { authorization: 'Bearer nonsense', 'content-type': 'application/json; charset=utf-8' },
    })
    assert.equal(answer.status, 200)
  })
})

suite('400', () => {
  test('unknown clientId, wrong secret, revoked credential and suspended bank: one and the same text', async () => {
    const { clientId, secret } = await issueFor('alpha')
    const revoked = await issueFor('alpha')
    await revokeCredential(deps, revoked.clientId)
    const suspended = await issueFor('gamma')
    await platform.applyDirectory(testDirectory.replace('{ code: gamma,', '{ code: gamma, status: suspended,'))
    const texts = [
      assertText(await ask({ clientId: 'pk_unknown', secret }), 400),
      assertText(await ask({ clientId, secret: 'wrong' }), 400),
      assertText(await ask({ clientId, secret: `${secret} ` }), 400),
      assertText(await ask({ clientId, secret: secret.toUpperCase() }), 400),
      assertText(await ask({ clientId: clientId.toUpperCase(), secret }), 400),
      assertText(await ask({ clientId: ` ${clientId}`, secret }), 400),
      assertText(await ask(revoked), 400),
      assertText(await ask(suspended), 400),
    ]
    assert.equal(new Set(texts).size, 1, texts.join(' | '))
    await platform.applyDirectory(testDirectory.replace('{ code: gamma,', '{ code: gamma, status: active,'))
    assert.equal((await ask(suspended)).status, 200, 'active again')
  })

  test('one secret does not work with another clientId', async () => {
    const [one, other] = [await issueFor('alpha'), await issueFor('alpha')]
    assertText(await ask({ clientId: one.clientId, secret: other.secret }), 400)
  })

  test('a malformed body names its fields', async () => {
    const named: [Body, RegExp][] = [
      [{}, /clientId must be given.*secret must be given/],
      [{ clientId: 'a' }, /^secret must be given$/],
      [{ secret: 'a' }, /^clientId must be given$/],
      [{ clientId: 1, secret: 'a' }, /^clientId must be a string$/],
      [{ clientId: 'a', secret: null }, /^secret must be a string$/],
      [{ clientId: '', secret: 'a' }, /^clientId must be longer/],
      [{ clientId: 'a', secret: 'x'.repeat(2_000) }, /^secret must be shorter/],
      [{ clientId: 'x'.repeat(2_000), secret: 'a' }, /^clientId must be shorter/],
      [{ clientId: ['a'], secret: { a: 1 } }, /clientId must be a string.*secret must be a string/],
      [{ clientId: 'a', secret: 'a', scope: 'all' }, /^scope must be omitted$/],
      [{ client_id: 'a', client_secret: 'a' }, /client_id must be omitted/],
    ]
    for (const [body, text] of named) assert.match(assertText(await ask(body), 400), text, JSON.stringify(body))
  })

  test('a body that is no object, or no JSON', async () => {
    for (const body of [null, [], 'text', 5]) assertText(await ask(body), 400)
    for (const raw of ['', '{', 'clientId=a&secret=b', '{"clientId":"a","clientId":"b","secret":"c"}'])
      assertText(await platform.call('POST', path, { raw, headers: { 'x-forwarded-for': newAddress() } }), 400)
  })

  test('an answer never repeats a secret', async () => {
    for (const body of [
      { clientId: 'pk_unknown', secret: 'hunter2hunter2' },
      { clientId: 'hunter2hunter2', secret: 1 },
      { clientId: 5, secret: 'hunter2hunter2' },
    ])
      assert.ok(!(await ask(body)).text.includes('hunter2'))
  })
})

suite('other media types and sizes', () => {
  test('415 for a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    assertText(await platform.call('POST', path, { raw: 'clientId=a&secret=b', headers }), 415)
  })

  test('413 for a body over 64 KiB', async () => {
    assertText(await ask({ clientId: 'a', secret: 'x'.repeat(66_000) }), 413)
  })
})

suite('429', () => {
  test('after 10 failures for one clientId from one address, for wrong secrets, for a minute', async () => {
    const credential = await issueFor('alpha')
    const address = newAddress()
    for (let index = 0; index < 10; index++)
      assertText(await ask({ ...credential, secret: `wrong ${index}` }, address), 400)
    const answer = await ask({ ...credential, secret: 'wrong' }, address)
    assertText(answer, 429)
    const seconds = answer.headers.get('retry-after') ?? ''
    assert.match(seconds, /^\d+$/)
    assert.ok(Number(seconds) >= 1 && Number(seconds) <= 60, seconds)
  })

  test('a right secret is always taken, also at an address that is throttled', async () => {
    const [credential, other] = [await issueFor('alpha'), await issueFor('beta')]
    const address = newAddress()
    for (let index = 0; index < 60; index++) await ask({ ...credential, secret: `wrong ${index}` }, address)
    assertText(await ask({ ...other, secret: 'wrong' }, address), 429)
    for (const right of [credential, other]) assert.equal((await ask(right, address)).status, 200)
  })

  test('an unknown clientId is throttled as a known one is', async () => {
    const address = newAddress()
    const statuses: number[] = []
    for (let index = 0; index < 12; index++)
      statuses.push((await ask({ clientId: 'pk_unknown', secret: 'wrong' }, address)).status)
    assert.deepEqual(statuses, [...Array(10).fill(400), 429, 429])
  })

  test('of 40 wrong guesses at once no more than 10 are told that they are wrong', async () => {
    const { clientId } = await issueFor('alpha')
    const address = newAddress()
    const guesses = Array.from({ length: 40 }, (_, index) => ask({ clientId, secret: `guess ${index}` }, address))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 400).length, 10)
    assert.equal(statuses.filter(status => status === 429).length, 30)
  })

  test('after 50 failures from one address, for whatever clientIds', async () => {
    const address = newAddress()
    const statuses: number[] = []
    for (let index = 0; index < 55; index++)
      statuses.push((await ask({ clientId: `pk_${index}`, secret: 'wrong' }, address)).status)
    assert.deepEqual(statuses, [...Array(50).fill(400), ...Array(5).fill(429)])
  })

  test('malformed bodies count by themselves: after 50 from one address they are 429', async () => {
    const credential = await issueFor('alpha')
    const address = newAddress()
    for (let index = 0; index < 50; index++) assertText(await ask({ clientId: credential.clientId }, address), 400)
    assertText(await ask({ clientId: credential.clientId }, address), 429)
    for (let index = 0; index < 12; index++) assert.equal((await ask(credential, address)).status, 200)
    assertText(await ask({ ...credential, secret: 'wrong' }, address), 400)
  })

  test('an address that the caller makes up itself is not believed', async () => {
    const { clientId } = await issueFor('alpha')
    const address = newAddress()
    const statuses: number[] = []
    for (let index = 0; index < 12; index++) {
      const answer = await ask({ clientId, secret: 'wrong' }, `203.0.113.${index}, ${address}`)
      statuses.push(answer.status)
    }
    assert.deepEqual(statuses.slice(10), [429, 429])
  })

  test('without TRUSTED_PROXIES nobody’s X-Forwarded-For is believed', async t => {
    const direct = await platform.sibling({ TRUSTED_PROXIES: '' })
    t.after(() => direct.close())
    const statuses: number[] = []
    for (let index = 0; index < 12; index++)
      statuses.push((await ask({ clientId: 'pk_unknown', secret: 'wrong' }, newAddress(), direct)).status)
    assert.deepEqual(statuses.slice(10), [429, 429])
  })

  test('with REDIS_URL failures are counted over all processes, and without the store each counts by itself', async t => {
    if (!requireProgram(t, 'redis-server')) return
    const redis = await startRedisServer()
    t.after(() => redis.close())
    const settings = { REDIS_URL: redis.url, LOG_LEVEL: 'silent' }
    const processes = [await platform.sibling(settings), await platform.sibling(settings)]
    t.after(() => Promise.all(processes.map(sibling => sibling.close())))
    const guess = async (address: string, index: number) =>
      (await ask({ clientId: 'pk_unknown', secret: 'wrong' }, address, processes[index % 2])).status

    const isShared = async () => {
      const address = newAddress()
      for (let index = 0; index < 10; index++) await guess(address, index)
      return (await guess(address, 0)) === 429 && (await guess(address, 1)) === 429
    }
    // Wait until both processes are connected to Redis and share their counts.
    for (let attempt = 0; !(await isShared()); attempt++) {
      assert.ok(attempt < 50)
      await sleep(20)
    }
    await redis.stop()
    const address = newAddress()
    const statuses: number[] = []
    for (let index = 0; index < 24; index++) statuses.push(await guess(address, index))
    assert.deepEqual(statuses, [...Array(20).fill(400), ...Array(4).fill(429)])
  })
})

suite('rotation and revocation', () => {
  test('after a rotation both secrets work until the overlap ends', async () => {
    const old = await issueFor('alpha')
    const { secret, previousValidUntil } = await rotateCredential(deps, { clientId: old.clientId, overlapMs: 60_000 })
    assert.ok(Math.abs(previousValidUntil.getTime() - Date.now() - 60_000) < 10_000)
    assert.notEqual(secret, old.secret)
    assert.equal((await ask({ ...old, secret })).status, 200)
    assert.equal((await ask(old)).status, 200)
  })

  test('once the overlap is over only the new secret works', async () => {
    const old = await issueFor('alpha')
    const { secret } = await rotateCredential(deps, { clientId: old.clientId, overlapMs: 0 })
    assertText(await ask(old), 400)
    assert.equal((await ask({ ...old, secret })).status, 200)
  })

  test('a second rotation ends the secret before the one before', async () => {
    const old = await issueFor('alpha')
    const first = await rotateCredential(deps, { clientId: old.clientId, overlapMs: 60_000 })
    const second = await rotateCredential(deps, { clientId: old.clientId, overlapMs: 60_000 })
    assertText(await ask(old), 400)
    assert.equal((await ask({ ...old, secret: first.secret })).status, 200)
    assert.equal((await ask({ ...old, secret: second.secret })).status, 200)
  })

  test('a rotation forgets secrets whose tokens have expired long ago, and no others', async () => {
    const { database } = platform.platform
    const { clientId } = await issueFor('alpha')
    const rotate = () => rotateCredential(deps, { clientId, overlapMs: 0 })
    const ended = async () => {
      const rows = await database.query<{ hours: number }>(
        `select round(extract(epoch from now() - ends_at) / 3600)::int as hours from ended_secrets
         where client_id = $1 order by ends_at desc`,
        [clientId],
      )
      return rows.map(({ hours }) => hours)
    }
    await rotate()
    await database.execute(`update ended_secrets set ends_at = now() - interval '3 hours' where client_id = $1`, [
      clientId,
    ])
    assert.deepEqual(await ended(), [3])
    await rotate()
    assert.deepEqual(await ended(), [0])
    await database.execute(`update ended_secrets set ends_at = now() - interval '1 hour' where client_id = $1`, [
      clientId,
    ])
    await rotate()
    assert.deepEqual(await ended(), [0, 1])
  })

  test('a token from before a rotation goes on while its secret does', async () => {
    const credential = await issueFor('alpha')
    const { body } = await ask(credential)
    await rotateCredential(deps, { clientId: credential.clientId, overlapMs: 60_000 })
    assert.equal((await operatorsWith(body.access_token)).status, 200)
  })

  test('a revoked credential gets no token, with the new secret or the one before', async () => {
    const old = await issueFor('alpha')
    const { secret } = await rotateCredential(deps, { clientId: old.clientId, overlapMs: 60_000 })
    await revokeCredential(deps, old.clientId)
    assertText(await ask(old), 400)
    assertText(await ask({ ...old, secret }), 400)
    await assert.rejects(rotateCredential(deps, { clientId: old.clientId, overlapMs: 0 }), { code: 'not-found' })
  })

  test('the sandbox clock does not end an overlap', async () => {
    const old = await issueFor('alpha')
    await rotateCredential(deps, { clientId: old.clientId, overlapMs: 60_000 })
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'P1D' } })
    assert.equal((await ask(old)).status, 200)
    await platform.call('DELETE', '/sandbox/clock')
  })
})

test('secrets are stored only as a hash', async () => {
  const { clientId, secret } = await issueFor('alpha')
  const { secret: next } = await rotateCredential(deps, { clientId, overlapMs: 60_000 })
  const [row] = await deps.database.query<{ all: string }>(
    `select c::text || encode(secret_hash, 'escape') || encode(previous_secret_hash, 'escape') as all
     from credentials c where client_id = $1`,
    [clientId],
  )
  for (const text of [secret, next]) {
    assert.ok(!row?.all.includes(text))
    assert.ok(!row?.all.includes(Buffer.from(text).toString('hex')))
  }
  // 256 random bits.
  assert.equal(Buffer.from(secret, 'base64url').length, 32)
})
