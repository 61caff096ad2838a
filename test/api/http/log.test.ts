/** The log (contract/operations.md, "Metrics and log"). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DomainError } from '../../../src/errors.ts'
import { createLogger, terminalStream } from '../../../src/log.ts'
import { createApp } from '../../../src/server/app.ts'
import { openPerson, setUpTotp } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, requestText, sendRaw } from '../../support/raw-http.ts'

let lines: string[] = []
const written = () => lines.map(line => JSON.parse(line) as Record<string, any>)

let platform: TestPlatform
before(async () => {
  const logger = createLogger('trace', { write: line => void lines.push(line) })
  platform = await startPlatform({}, { logger })
  await platform.addStock('kyivstar', 'eu-10gb', 5)
})
after(() => platform.close())
beforeEach(() => {
  lines = []
})

/** The log line of the request with this id, which is written after the answer. */
async function lineOf(requestId: string): Promise<Record<string, any>> {
  for (;;) {
    const line = written().find(found => found.requestId === requestId && found.msg === 'request')
    if (line) return line
    await new Promise(resolve => setImmediate(resolve))
  }
}

test('every line is one JSON object with level, time and message', async () => {
  await platform.call('GET', '/health/live', { headers: { 'x-request-id': 'lines' } })
  await lineOf('lines')
  assert.ok(lines.length > 0)
  for (const line of lines) assert.match(line, /^\{[^\n]*\}\n$/)
  for (const { level, time, msg, pid } of written()) {
    assert.ok(['trace', 'debug', 'info', 'warn', 'error', 'fatal'].includes(level), level)
    assert.equal(new Date(time).toISOString(), time)
    assert.equal(typeof msg, 'string')
    assert.equal(pid, process.pid)
  }
})

suite('a request', () => {
  test('is one line: id, method, route, status code and milliseconds', async () => {
    await platform.call('GET', '/health/live', { headers: { 'x-request-id': 'one-line' } })
    const { time, pid, level, ms, ...line } = await lineOf('one-line')
    assert.deepEqual(line, {
      requestId: 'one-line',
      method: 'GET',
      route: '/health/live',
      statusCode: 200,
      msg: 'request',
    })
    assert.equal(level, 'info')
    assert.equal(typeof ms, 'number')
    assert.equal(written().filter(({ requestId }) => requestId === 'one-line').length, 1)
  })

  test('tells who called, by kind and clientId or userId', async () => {
    const token = await platform.bankToken()
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    await platform.call('GET', '/esim/v1/operators', { token, headers: { 'x-request-id': 'who' } })
    const { caller, subject } = await lineOf('who')
    assert.deepEqual([caller, subject], ['bank', sub])
  })

  test('for a token, a login or a right password tells whose; one that proves a factor anew tells of whom, also when it is wrong', async () => {
    const issued = await platform.call('POST', '/admin/credentials', {
      token: platform.config.operatorKey,
      body: { bank: 'alpha', role: 'ADMIN' },
    })
    const person = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
    const { typeAccount, login, password } = person
    const account = { typeAccount, login, password }
    const whoOf = async (path: string, body: object, token?: string) => {
      const id = `who-${randomUUID()}`
      const { status } = await platform.call('POST', path, {
        body,
        token: token ?? null,
        headers: { 'x-request-id': id },
      })
      const { identity, subject } = await lineOf(id)
      return [status, identity, subject]
    }
    const { clientId, secret } = issued.body
    assert.deepEqual(await whoOf('/getToken/auth', { clientId, secret }), [200, 'bank', clientId])
    assert.deepEqual(await whoOf('/getToken/auth', { clientId, secret: 'wrong' }), [400, undefined, undefined])
    for (const path of ['/auth/login', '/portal/session'])
      assert.deepEqual(await whoOf(path, account), [200, 'retailer', person.userId])
    const proof = (code: string) => whoOf('/portal/session/verify', { method: 'password', code }, person.token)
    assert.deepEqual(await proof(password), [200, 'retailer', person.userId])
    assert.deepEqual(await proof('wrong'), [401, 'retailer', person.userId])
    await setUpTotp(person)
    assert.deepEqual(await whoOf('/auth/login', account), [401, 'retailer', person.userId])
    assert.deepEqual(await whoOf('/portal/session', account), [202, 'retailer', person.userId])
    assert.deepEqual(await whoOf('/auth/login', { ...account, password: 'wrong' }), [401, undefined, undefined])
  })

  test('that is refused is told with its code, and by the route and never the path', async () => {
    const token = await platform.bankToken()
    const cases: [string, string, number, string][] = [
      ['GET', '/esim/v1/operators', 401, '/esim/v1/operators'],
      ['GET', '/esim/v1/orders/hunter2', 400, '/esim/v1/orders/:orderId'],
      ['GET', '/esim/v1/hunter2', 404, 'unknown'],
      ['PUT', '/getToken/auth', 405, 'unknown'],
    ]
    for (const [method, path, statusCode, route] of cases) {
      const id = `refused-${statusCode}`
      const withToken = statusCode === 401 ? {} : { token }
      await platform.call(method, `${path}?q=hunter2`, { ...withToken, headers: { 'x-request-id': id } })
      const line = await lineOf(id)
      assert.deepEqual([line.statusCode, line.route], [statusCode, route])
    }
    assert.ok(!lines.join().includes('hunter2'))
  })
})

test('a fault of ours is told with the request’s id, which is all that the caller learns of it', async () => {
  const { database } = platform.platform
  const token = await platform.bankToken()
  await database.execute('alter table orders rename to orders_away')
  const answer = await platform.call('GET', '/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11', {
    token,
    headers: { 'x-request-id': 'our-fault' },
  })
  await database.execute('alter table orders_away rename to orders')
  assert.equal(answer.status, 500)
  assert.match(answer.body.message, /our-fault/)
  for (const internal of ['orders', 'relation', 'select', '42P01', 'src/', 'node:'])
    assert.ok(!answer.body.message.includes(internal), answer.body.message)
  const line = written().find(({ msg, requestId }) => msg === 'unexpected error' && requestId === 'our-fault')
  assert.equal(line?.level, 'error')
  assert.match(line?.err.message, /orders/)
  assert.match(line?.err.stack, /src\//)
})

test('a caller that leaves before it is answered is no fault of ours', async t => {
  const portalFolder = await mkdtemp(join(tmpdir(), 'perkline-left-'))
  await writeFile(join(portalFolder, 'script.js'), 'x'.repeat(100_000))
  const app = await createApp({ ...platform.platform.deps, portalFolder })
  t.after(async () => {
    await app.close()
    await rm(portalFolder, { recursive: true, force: true })
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  // Each client waits a little longer than the one before, so that some disconnect while the file is being opened.
  for (let turns = 0; turns < 60; turns++) {
    const socket = await openRaw(url)
    socket.write(requestText('GET', '/app/script.js', { 'x-request-id': `left-${turns}` }))
    for (let turn = 0; turn < turns / 3; turn++) await new Promise(resolve => setImmediate(resolve))
    socket.resetAndDestroy()
  }
  await sendRaw(url, requestText('GET', '/health/live', { connection: 'close' }))
  assert.deepEqual(
    written().filter(({ level, statusCode }) => level === 'error' || statusCode === 500),
    [],
  )
})

test('no secret that was used or guessed is anywhere in the log, even at the finest level', async () => {
  const { body: credential } = await platform.call('POST', '/admin/credentials', {
    token: platform.config.operatorKey,
    body: { bank: 'beta', role: 'ADMIN' },
  })
  const { body: tokens } = await platform.call('POST', '/getToken/auth', { body: credential })
  const token = tokens.access_token as string
  const reserve = (externalId: string) =>
    platform.call('POST', '/esim/v1/orders', {
      token,
      body: { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId },
    })
  const email = 'planted-customer@bank.example'
  const { body: order } = await reserve('planted-order')
  const confirm = `/esim/v1/orders/${order.orderId}/confirm`
  await platform.call('POST', confirm, { token, body: { customerEmail: 'planted-customer@@' } })
  const { body: confirmed, status } = await platform.call('POST', confirm, { token, body: { customerEmail: email } })
  assert.equal(status, 200)
  await platform.call('GET', `/esim/v1/orders/${order.orderId}/qr?format=base64`, { token })
  await platform.call('POST', '/getToken/auth', { body: { clientId: 'pk_x', secret: 'planted-secret' } })
  await platform.call('POST', '/getToken/auth', { raw: '{"clientId":"planted-secret"' })
  await platform.call('POST', '/auth/login', {
    body: { typeAccount: 'bank', login: 'planted-login', password: 'planted-password' },
  })
  await platform.call('GET', `/esim/v1/operators?access_token=${token}`, { token: `${token}x` })
  await platform.call('GET', `/esim/v1/${token}`, { token })
  await sendRaw(platform.url, requestText('GET', `/%zz${token}`, { authorization: `Bearer ${token}` }))
  await sendRaw(platform.url, `planted-garbage ${token}\r\n\r\n`)
  await platform.call('POST', '/admin/users', {
    token: platform.config.operatorKey,
    body: { bank: 'alpha', login: 'somebody', role: 'ADMIN', password: 'planted-password' },
  })
  await platform.call('POST', '/admin/profiles/withdraw', {
    token: platform.config.operatorKey,
    body: { iccids: [confirmed.esim.iccid] },
  })
  await platform.call('GET', '/health/live', { headers: { 'x-request-id': 'the-last', cookie: 'planted-cookie' } })
  await lineOf('the-last')

  const log = lines.join('')
  assert.ok(log.includes('/esim/v1/orders/:orderId/confirm'))
  const { iccid, pin1, activationCode } = confirmed.esim
  const secrets: Record<string, string> = {
    token,
    'signature of the token': token.split('.')[2] ?? '',
    'client secret': credential.secret,
    'operator’s key': platform.config.operatorKey,
    'master key': platform.config.masterKeys[0]?.toString('base64') ?? '',
    email,
    iccid,
    activationCode,
    pin1: `"${pin1}"`,
    planted: 'planted-',
  }
  for (const [what, secret] of Object.entries(secrets)) assert.ok(!log.includes(secret), what)
})

suite('an error', () => {
  let client: pg.Client
  before(async () => {
    client = new pg.Client({ connectionString: platform.databaseUrl })
    await client.connect()
    await client.query('create temporary table planted (code text primary key, n int check (n > 0))')
    await client.query(`insert into planted values ('hunter2', 1)`)
  })
  after(() => client.end())

  const faultOf = (sql: string) =>
    client.query(sql).then(
      () => assert.fail(),
      (error: Error) => error,
    )
  const logged = (error: unknown): Record<string, any> => {
    platform.platform.deps.logger.error({ err: error }, 'a test')
    return written().at(-1) ?? {}
  }

  test('of the database is told by its code and constraint, never with values', async () => {
    const faults: Record<string, string> = {
      '23505': `insert into planted values ('hunter2', 2)`,
      '23514': `insert into planted values ('hunter2b', -1)`,
      '22P02': `select 'hunter2'::uuid`,
      '22007': `select 'hunter2'::timestamptz`,
      '22003': `select 'hunter2'::text || (2147483647 + length('hunter2'))`,
    }
    for (const [code, sql] of Object.entries(faults)) {
      const { err } = logged(await faultOf(sql))
      assert.equal(err.code, code)
      assert.ok(!JSON.stringify(err).includes('hunter2'), JSON.stringify(err))
      assert.match(err.stack, /\n? +at /)
    }
    assert.equal(logged(await faultOf(faults['23505'] ?? '')).err.constraint, 'planted_pkey')
  })

  test('of a service that is away has its cause, but no stack', () => {
    const cause = Object.assign(new Error('the connection is closed'), { code: '57P01' })
    const { err } = logged(new DomainError('unavailable', 'The database does not answer', { cause }))
    assert.deepEqual([err.code, err.message, err.cause.code], ['unavailable', 'The database does not answer', '57P01'])
    assert.deepEqual([err.stack, err.cause.stack], [undefined, undefined])
  })

  test('of a text that could not be parsed is told without the text', () => {
    try {
      JSON.parse('hunter2')
      assert.fail()
    } catch (error) {
      const { err } = logged(error)
      assert.equal(err.type, 'SyntaxError')
      assert.ok(!JSON.stringify(err).includes('hunter2'), JSON.stringify(err))
    }
  })

  test('is told with its cause', () => {
    const { err } = logged(new TypeError('outer', { cause: new RangeError('inner') }))
    assert.deepEqual(
      [err.type, err.message, err.cause.type, err.cause.message],
      ['TypeError', 'outer', 'RangeError', 'inner'],
    )
  })

  test('carries no further fields, which may hold a request, a row or a password', () => {
    const error = Object.assign(new Error('failed'), {
      config: { password: 'hunter2' },
      detail: 'hunter2',
      where: 'hunter2',
    })
    assert.ok(!JSON.stringify(logged(error)).includes('hunter2'))
    assert.ok(!JSON.stringify(logged('hunter2')).includes('hunter2'))
    assert.ok(!JSON.stringify(logged({ secret: 'hunter2' })).includes('hunter2'))
  })
})

test('on a terminal a request is one short line, and so is everything else', async () => {
  const shown: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      shown.push(String(chunk))
      done()
    },
  })
  const stream = await terminalStream(destination)
  const own = await startPlatform({}, { logger: createLogger('info', stream) })
  shown.length = 0
  await own.call('GET', '/retailers', { token: await own.bankToken() })
  await own.call('GET', '/nowhere')
  own.platform.deps.logger.warn({ job: 'pass-time' }, 'a job failed')
  while (shown.length < 4) await new Promise(resolve => setImmediate(resolve))
  await own.close()
  const [token = '', retailers = '', nowhere = '', warning = ''] = shown
  assert.match(token, /^\[\d\d:\d\d:\d\d\] INFO: POST \/getToken\/auth 200 [\d.]+ ms\n$/)
  assert.match(retailers, /^\[\S+\] INFO: GET \/retailers 200 [\d.]+ ms bank\n$/)
  assert.match(nowhere, /^\[\S+\] INFO: GET unknown 404 [\d.]+ ms\n$/)
  assert.match(warning, /^\[\S+\] WARN: a job failed \{"job":"pass-time"\}\n$/)
})

test('HEAD of a file that is sent while it is read is no fault of ours', async () => {
  const token = await platform.bankToken()
  for (const path of ['/portal/cashbacks.csv', '/portal/esim/orders.csv', '/partner/v1/audit-log.jsonl']) {
    const answer = await platform.call('HEAD', path, { token })
    assert.deepEqual([answer.status, answer.text], [200, ''], path)
  }
  await sleep(200)
  assert.deepEqual(
    written().filter(({ level }) => level === 'error'),
    [],
  )
})

test('a body that breaks off is no fault of the platform', async () => {
  const { operatorKey } = platform.config
  const merchant = await platform.merchantToken()
  const form = 'content-type: multipart/form-data; boundary=b\r\n'
  const part =
    '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\ncontent-type: text/csv\r\n\r\nclientId\n'
  const requests = [
    ['POST /auth/login', 'content-type: application/json\r\n', '{"login":'],
    [
      'POST /cashbacks/for-merchant',
      `authorization: Bearer ${merchant}\r\ncontent-type: application/json\r\n`,
      '{"title":',
    ],
    [`PUT /portal/cashbacks/${crypto.randomUUID()}/segment`, `authorization: Bearer ${merchant}\r\n${form}`, part],
    [
      'POST /admin/customers?bank=alpha',
      `authorization: Bearer ${operatorKey}\r\ncontent-type: text/csv\r\n`,
      'customerId\n',
    ],
    ['POST /admin/customers?bank=alpha', `authorization: Bearer ${operatorKey}\r\n${form}`, part],
    [
      'POST /admin/directory',
      `authorization: Bearer ${operatorKey}\r\ncontent-type: application/json\r\n`,
      '{"directory":',
    ],
  ] as const
  for (const [line, headers, body] of requests)
    for (const size of [0, 100_000]) {
      const socket = await openRaw(platform.url)
      socket.write(`${line} HTTP/1.1\r\nhost: x\r\n${headers}content-length: 2000000\r\n\r\n${body}${'x'.repeat(size)}`)
      await sleep(200)
      socket.resetAndDestroy()
    }
  await sleep(1_000)
  const faults = written().filter(({ level, statusCode }) => level === 'error' || statusCode >= 500)
  assert.deepEqual(faults, [])
})

test('callers that send a whole request and leave at once are no fault of ours, and guesses of the key are told with the address', async () => {
  const guess = requestText('GET', '/admin/overview', { authorization: 'Bearer guessed' })
  const json = { 'content-type': 'application/json' }
  const login = requestText('POST', '/portal/password-resets', json, '{"typeAccount":"bank","login":"nobody"}')
  const secret = requestText('POST', '/getToken/auth', json, '{"clientId":"pk_nobody","secret":"guessed"}')
  for (let round = 0; round < 20; round++)
    for (const request of [guess, login, secret]) {
      const socket = await openRaw(platform.url)
      socket.write(request, () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
  await platform.call('GET', '/admin/overview', { token: 'guessed' })
  const told = written().filter(({ msg }) => msg === 'a wrong operator key was refused')
  assert.ok(told.length > 0)
  for (const { address } of told) assert.equal(address, '127.0.0.1')
  assert.deepEqual(
    written().filter(({ level }) => level === 'error'),
    [],
  )
})
