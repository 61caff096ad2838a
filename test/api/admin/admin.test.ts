/** The operator's interface below `/admin`, as `perkline`'s commands call it. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import process from 'node:process'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../../samples/make-profiles.ts'
import { openUpload } from '../../../src/http/upload/upload.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

type Answer = { status: number; text: string; body: any; headers: Headers }

async function admin(
  method: string,
  path: string,
  options: { body?: unknown; csv?: string | AsyncIterable<Uint8Array>; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { body, csv } = options
  const response = await fetch(`${platform.url}/admin${path}`, {
    method,
    headers: {
      authorization: `Bearer ${platform.config.operatorKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(csv !== undefined && { 'content-type': 'text/csv' }),
      ...options.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(csv !== undefined && { body: csv as string, duplex: 'half' as const }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, text, headers: response.headers, body: isJson ? JSON.parse(text) : undefined }
}

const lineValues = ({ text }: Answer) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

const error = (statusCode: number, name: string, message: unknown) => ({
  statusCode,
  message,
  error: name,
  code: codes[statusCode],
})
const codes: Record<number, string> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
}
const files: string[][] = Array.from({ length: 6 }, (_, seed) => [...profileLines({ count: 20, seed: 9100 + seed })])
const csvOf = (index: number) => (files[index] ?? []).join('')
const importPath = '/profiles?operator=kyivstar&tariff=eu-10gb'
const stockOf = async (tariffCode: string) =>
  (await admin('GET', '/stock')).body.find((count: { tariffCode: string }) => count.tariffCode === tariffCode)

describe('access', () => {
  const paths: [method: string, path: string][] = [
    ['POST', '/directory'],
    ['GET', '/credentials'],
    ['GET', '/users'],
    ['POST', importPath],
    ['GET', '/stock'],
    ['GET', '/audit'],
    ['POST', '/keys/rotate'],
  ]
  for (const [method, path] of paths)
    test(`401 on ${method} ${path.split('?')[0]} without the operator's key`, async () => {
      for (const key of ['', 'Bearer', `Bearer ${'0'.repeat(64)}`, 'Basic YTpi']) {
        const answer = await admin(method, path, { headers: { authorization: key } })
        const [challenge, message] = key.includes('0')
          ? ['Bearer error="invalid_token"', 'This is not the operator’s key, and no valid token of a platform user']
          : ['Bearer', 'The operator’s key is needed, or the token of a platform user']
        assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, challenge])
        assert.deepEqual(answer.body, error(401, 'Unauthorized', message))
      }
    })

  test('a refused request leaves no timer behind that would end its connection', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
    await admin('GET', '/stock', { headers: { authorization: '' } })
    const before = timers()
    for (let count = 0; count < 20; count++) await admin('GET', '/stock', { headers: { authorization: '' } })
    assert.ok(timers() < before + 10, `${before} timers became ${timers()}`)
  })

  test('403 for a partner’s token', async () => {
    for (const token of [await platform.bankToken(), await platform.merchantToken()]) {
      const answer = await admin('GET', '/stock', { headers: { authorization: `Bearer ${token}` } })
      assert.deepEqual(
        [answer.status, answer.body],
        [403, error(403, 'Forbidden', 'This operation is for the platform’s operator')],
      )
    }
  })
})

describe('POST /admin/directory', () => {
  test('200: it is in force with the next request; a dry run is not', async () => {
    const directory = testDirectory.replace('name: Europe 10 GB', 'name: Renamed')
    const dry = await admin('POST', '/directory?dryRun=true', { body: { directory, files: {} } })
    assert.deepEqual([dry.status, dry.body.created, dry.body.updated], [200, 0, 1])
    const token = await platform.bankToken()
    const nameNow = async () =>
      (await platform.call('GET', '/esim/v1/operators/kyivstar/tariffs', { token })).body[0].name
    assert.equal(await nameNow(), 'Europe 10 GB')
    assert.deepEqual((await admin('POST', '/directory', { body: { directory } })).body, dry.body)
    assert.equal(await nameNow(), 'Renamed')
    await platform.applyDirectory(testDirectory)
  })

  test('a suspended bank is out with the next request', async () => {
    const token = await platform.bankToken('gamma')
    const statusNow = async () => (await platform.call('GET', '/esim/v1/operators', { token })).status
    assert.equal(await statusNow(), 200)
    const suspended = testDirectory.replace('code: gamma,', 'code: gamma, status: suspended,')
    assert.equal((await admin('POST', '/directory', { body: { directory: suspended } })).body.updated, 1)
    assert.equal(await statusNow(), 401)
    await platform.applyDirectory(testDirectory)
    assert.equal(await statusNow(), 200)
  })

  test('400: every fault with path and line', async () => {
    const { status, body } = await admin('POST', '/directory', { body: { directory: 'banks:\n  - { code: a b }\n' } })
    assert.equal(status, 400)
    assert.match(body.message[0], /^banks\[0\]\.code \(line 2\): must be /)
    assert.equal(body.message.length, 1)
  })

  test('400: a body that is not as described', async () => {
    const { status, body } = await admin('POST', '/directory', { body: { files: { a: 1 }, more: 1 } })
    assert.equal(status, 400)
    assert.deepEqual(body.message.sort(), [
      'directory must be given',
      'files.a must be a string',
      'more must be omitted',
    ])
  })
})

describe('credentials', () => {
  const tokenFor = async (given: { clientId: string; secret: string }) =>
    platform.call('POST', '/getToken/auth', { body: { clientId: given.clientId, secret: given.secret } })

  test('issued, listed without its secret, rotated with an overlap, revoked at once', async () => {
    const issued = await admin('POST', '/credentials', { body: { bank: 'alpha', role: 'VIEWER', label: 'main' } })
    assert.deepEqual([issued.status, Object.keys(issued.body)], [201, ['clientId', 'secret']])
    const { clientId } = issued.body
    const listed = await admin('GET', '/credentials')
    const { createdAt, ...entry } = listed.body.find((one: { clientId: string }) => one.clientId === clientId)
    assert.deepEqual(entry, {
      clientId,
      bank: 'alpha',
      merchant: null,
      role: 'VIEWER',
      label: 'main',
      previousValidUntil: null,
      revokedAt: null,
    })
    assert.equal(new Date(createdAt).toISOString(), createdAt)
    assert.ok(!listed.text.includes(issued.body.secret))

    const rotated = await admin('POST', `/credentials/${clientId}/rotate`)
    assert.equal(rotated.status, 200)
    const hours = (Date.parse(rotated.body.previousValidUntil) - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours <= 24)
    const { access_token: token } = (await tokenFor(issued.body)).body
    assert.equal((await tokenFor(rotated.body)).status, 200)

    const again = await admin('POST', `/credentials/${clientId}/rotate`, { body: { overlap: 'PT0S' } })
    assert.equal((await tokenFor(rotated.body)).status, 400)
    assert.equal((await tokenFor(again.body)).status, 200)

    assert.deepEqual((await admin('POST', `/credentials/${clientId}/revoke`)).body, { clientId })
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 401)
    assert.equal((await tokenFor(again.body)).status, 400)
    assert.equal((await admin('POST', `/credentials/${clientId}/rotate`)).status, 404)
  })

  const refused: [body: object, status: number][] = [
    [{ bank: 'alpha' }, 400],
    [{ bank: 'alpha', role: 'gateway' }, 400],
    [{ bank: 'alpha', merchant: 'grocer', role: 'ADMIN' }, 400],
    [{ merchant: 'grocer', role: 'ADMIN' }, 400],
    [{}, 400],
    [{ merchant: 'grocer', label: 'x'.repeat(201) }, 400],
    [{ merchant: 'grocer', extra: 1 }, 400],
    [{ merchant: 'nobody' }, 404],
  ]
  for (const [body, status] of refused)
    test(`${status}: ${JSON.stringify(body).slice(0, 60)}`, async () => {
      assert.equal((await admin('POST', '/credentials', { body })).status, status)
    })

  for (const overlap of ['24h', 'PT', '', 'P2Y', -1])
    test(`400: an overlap of ${JSON.stringify(overlap)}`, async () => {
      const { body: issued } = await admin('POST', '/credentials', { body: { merchant: 'grocer' } })
      const { status, body } = await admin('POST', `/credentials/${issued.clientId}/rotate`, { body: { overlap } })
      assert.equal(status, 400)
      assert.match(body.message[0], /^overlap must be/)
    })
})

describe('users', () => {
  const password = 'a long password'
  const logIn = (typeAccount: string, login: string) =>
    platform.call('POST', '/auth/login', { body: { typeAccount, login, password } })

  test('added, listed without the password, disabled at once', async () => {
    const owners: [owner: object, shown: object, typeAccount: string, role: string][] = [
      [{ bank: 'alpha' }, { bank: 'alpha', merchant: null }, 'bank', 'ADMIN'],
      [{ merchant: 'grocer' }, { bank: null, merchant: 'grocer' }, 'retailer', 'admin_user'],
      [{ platform: true }, { bank: null, merchant: null }, 'platform', 'viewer'],
    ]
    for (const [owner, shown, typeAccount, role] of owners) {
      const login = `olena of ${typeAccount}`
      const added = await admin('POST', '/users', { body: { ...owner, login, role, password } })
      assert.deepEqual([added.status, Object.keys(added.body)], [201, ['userId']])
      assert.equal((await logIn(typeAccount, login)).status, 200)
      const list = await admin('GET', '/users')
      const { createdAt, ...entry } = list.body.find((user: { login: string }) => user.login === login)
      assert.deepEqual(entry, { userId: added.body.userId, login, role, ...shown, disabledAt: null })
      assert.ok(!list.text.includes('argon2') && createdAt)
      assert.equal((await admin('POST', '/users', { body: { ...owner, login, role, password } })).status, 409)
      assert.deepEqual((await admin('POST', `/users/${encodeURIComponent(login)}/disable`)).body, { login })
      assert.equal((await logIn(typeAccount, login)).status, 401)
    }
    assert.equal((await admin('POST', '/users/nobody/disable')).status, 404)
  })

  const good = { bank: 'alpha', login: 'petro', role: 'ADMIN', password }
  const refused: [what: string, body: object, status: number][] = [
    ['a short password', { ...good, password: '1234567' }, 400],
    ['a long password', { ...good, password: 'x'.repeat(257) }, 400],
    ['a role of another kind of account', { ...good, role: 'admin_user' }, 400],
    ['no account', { ...good, bank: undefined }, 400],
    ['two accounts', { ...good, platform: true }, 400],
    ['an empty login', { ...good, login: '' }, 400],
    ['a login of two lines', { ...good, login: 'a\nb' }, 400],
    ['a blank login', { ...good, login: ' ' }, 400],
    ['a login that looks like another one', { ...good, login: 'olena\u00a0' }, 400],
    ['an unknown bank', { ...good, bank: 'nobody' }, 404],
  ]
  for (const [what, body, status] of refused)
    test(`${status}: ${what}`, async () => {
      assert.equal((await admin('POST', '/users', { body })).status, status)
    })
})

describe('POST /admin/profiles', () => {
  test('200: the counts are the last line', async () => {
    const answer = await admin('POST', importPath, { csv: csvOf(0) })
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/x-ndjson; charset=utf-8'])
    assert.deepEqual(lineValues(answer), [{ result: { imported: 20, duplicates: 0, rejected: 0 } }])
    const again = await admin('POST', `${importPath}&skipInvalid=true`, { csv: csvOf(0) })
    const duplicateLines = Array.from({ length: 20 }, (_, n) => ({ lineNumber: n + 2, otherActivationCode: false }))
    assert.deepEqual(lineValues(again), [{ result: { imported: 0, duplicates: 20, duplicateLines, rejected: 0 } }])
  })

  test('200 with skipInvalid: the faulty lines come before', async () => {
    const answer = await admin('POST', `${importPath}&skipInvalid=true`, { csv: `${csvOf(1)}x,1\n` })
    assert.deepEqual(lineValues(answer), [
      {
        reject: {
          lineNumber: 22,
          column: 'line',
          rule: 'column-count',
          reason: 'must have four columns, as the header has',
        },
      },
      { result: { imported: 20, duplicates: 0, rejected: 1 } },
    ])
  })

  test('400: one bad line, and nothing is imported', async () => {
    const { free } = await stockOf('eu-10gb')
    const answer = await admin('POST', importPath, { csv: `${csvOf(2)}x,1\n` })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.message, [
      'line 22: must have four columns, as the header has',
      '1 error in all: nothing was imported',
    ])
    assert.equal((await stockOf('eu-10gb')).free, free)
  })

  test('400: no header, also for a client that sends all of a long file before it listens', async () => {
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
    const part = `${'x'.repeat(59)}\n`.repeat(1_000)
    socket.write(
      `POST /admin${importPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${platform.config.operatorKey}\r\n` +
        `content-type: text/csv\r\ncontent-length: ${part.length * 100}\r\n\r\n`,
    )
    for (let count = 0; count < 100; count++) await new Promise(resolve => socket.write(part, resolve))
    const [answer] = await new Promise<Buffer[]>(resolve => socket.once('data', data => resolve([data])))
    assert.match(String(answer), /^HTTP\/1\.1 400 [\s\S]*line 1 must be the header/)
    // After the error, the connection still accepts another request.
    socket.write(`GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [next] = await new Promise<Buffer[]>(resolve => socket.once('data', data => resolve([data])))
    assert.match(String(next), /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  test('400: no body', async () => {
    const answer = await admin('POST', importPath)
    assert.deepEqual(
      [answer.status, answer.body?.message],
      [400, 'the file is empty; line 1 must be the header iccid,msisdn,pin1,activationCode (in any order)'],
    )
  })

  test('404: an unknown operator or tariff', async () => {
    for (const path of ['/profiles?operator=kyivstar&tariff=none', '/profiles?operator=none&tariff=eu-10gb'])
      assert.equal((await admin('POST', path, { csv: csvOf(3) })).status, 404)
  })

  test('415: anything but CSV, and CSV elsewhere', async () => {
    const json = await admin('POST', importPath, { body: { a: 1 } })
    assert.deepEqual([json.status, json.body.message], [415, 'The body must be text/csv'])
    assert.equal((await admin('POST', '/profiles/withdraw', { csv: 'x' })).status, 415)
  })

  test('an upload that is cut off leaves nothing', async () => {
    const { free } = await stockOf('eu-10gb')
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
    socket.write(
      `POST /admin${importPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${platform.config.operatorKey}\r\n` +
        `content-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n${csvOf(4).length.toString(16)}\r\n${csvOf(4)}\r\n`,
    )
    const copying = () =>
      platform.platform.database.query(
        `select from pg_stat_activity where datname = current_database() and query like 'copy staged%'`,
      )
    const until = async (count: number) => {
      for (let look = 0; (await copying()).length !== count; look++) {
        assert.ok(look < 1_000)
        await sleep(5)
      }
    }
    await until(1)
    socket.destroy()
    await until(0)
    assert.equal((await stockOf('eu-10gb')).free, free)
    assert.deepEqual(lineValues(await admin('POST', importPath, { csv: csvOf(4) })), [
      { result: { imported: 20, duplicates: 0, rejected: 0 } },
    ])
  })
})

describe('an upload', () => {
  test('that comes too slowly is given up, and so is waiting for its end', async () => {
    const body = new PassThrough()
    body.write('begun')
    const upload = openUpload(body, { rate: { bytes: 1024, spanMs: 10 } })
    await assert.rejects(
      async () => {
        for await (const _ of upload.source);
      },
      { statusCode: 408, message: /too slowly/ },
    )
    assert.equal(await upload.drain(), false)
    assert.ok(!body.destroyed)
  })

  test('has begun once its first 64 KiB are there, or all of it; only waiting for the sender counts', async () => {
    const rate = { bytes: 1024, spanMs: 40 }
    const [large, small] = [new PassThrough({ highWaterMark: 1024 * 1024 }), new PassThrough()]
    large.write(Buffer.alloc(64 * 1024))
    small.end('all')
    const [first, second] = [openUpload(large, { rate }), openUpload(small, { rate })]
    await Promise.all([first.begun, second.begun])
    let size = 0
    large.end(Buffer.alloc(10_000))
    // Read the file only after a pause, like a slow reader.
    await sleep(100)
    for await (const chunk of first.source) size += (chunk as Buffer).length
    assert.equal(size, 64 * 1024 + 10_000)
    assert.equal(await text(second.source), 'all')
  })

  test('that nobody reads to its end can still be drained', async () => {
    const body = new PassThrough({ highWaterMark: 1024 * 1024 })
    body.write(Buffer.alloc(64 * 1024))
    const upload = openUpload(body)
    for await (const _ of upload.source) break
    assert.ok(!body.destroyed)
    body.end('more')
    assert.equal(await upload.drain(), true)
    assert.ok(body.readableEnded)
  })
})

describe('stock', () => {
  test('withdrawn profiles are counted and not sold', async () => {
    const path = importPath.replace('eu-10gb', 'empty')
    await admin('POST', path, { csv: csvOf(5) })
    const iccids = (files[5] ?? []).slice(1).map(line => line.split(',')[0])
    assert.deepEqual((await admin('POST', '/profiles/withdraw', { body: { iccids } })).body, {
      withdrawn: 20,
      notFree: 0,
      problems: [],
    })
    assert.deepEqual(await stockOf('empty'), {
      operatorCode: 'kyivstar',
      tariffCode: 'empty',
      free: 0,
      reserved: 0,
      sold: 0,
      withdrawn: 20,
    })
    const token = await platform.bankToken()
    const order = { operatorCode: 'kyivstar', tariffCode: 'empty', externalId: 'withdrawn' }
    assert.equal((await platform.call('POST', '/esim/v1/orders', { token, body: order })).status, 503)
  })

  for (const iccids of [[], Array.from({ length: 10_001 }, () => '1'), [1], 'x'])
    test(`400: withdraw ${JSON.stringify(iccids).slice(0, 20)}`, async () => {
      assert.equal((await admin('POST', '/profiles/withdraw', { body: { iccids } })).status, 400)
    })

  test('the audit proves the books', async () => {
    const { status, body } = await admin('GET', '/audit')
    assert.deepEqual([status, body.ok], [200, true])
    for (const check of body.checks) assert.deepEqual(Object.keys(check).slice(0, 4), ['code', 'name', 'ok', 'detail'])
  })

  test('sealing anew tells its progress and ends with the result', async () => {
    const values = lineValues(await admin('POST', '/keys/rotate'))
    assert.deepEqual(values.at(-1), { result: { resealed: 0 } })
    assert.deepEqual(values[0], { progress: { done: 80, total: 80 } })
  })
})
