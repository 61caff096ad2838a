/** Requests that a client sends before it has the answers to earlier ones (contract/limits.md, "Requests"). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, requestText } from '../../support/raw-http.ts'

let platform: TestPlatform
let token: string
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 10)
  token = await platform.bankToken()
})
after(() => platform.close())

const descriptors = () => readdirSync('/proc/self/fd').length
const bufferedMiB = () => process.memoryUsage().arrayBuffers / 1024 / 1024

/** Sends requests in one packet without reading anything. @returns what the process takes at most within a second */
async function takenBy(bytes: string): Promise<{ files: number; MiB: number }> {
  const before = { files: descriptors(), MiB: bufferedMiB() }
  const socket = await openRaw(platform.url)
  socket.pause().write(bytes)
  let files = 0
  let MiB = 0
  for (let look = 0; look < 50; look++) {
    await sleep(20)
    files = Math.max(files, descriptors() - before.files)
    MiB = Math.max(MiB, bufferedMiB() - before.MiB)
  }
  socket.destroy()
  return { files, MiB }
}

/** Every answer on one connection, until the platform or the client closes it. */
async function answersTo(bytes: string): Promise<string[]> {
  const socket = await openRaw(platform.url)
  socket.write(bytes)
  return (await socket.toArray()).join('').split(/(?=HTTP\/1\.1 \d)/)
}

for (const path of ['/swagger/static/swagger-ui-bundle.js', '/app/', '/%', '/swagger/json'])
  test(`1,000 requests for ${path} on one connection take few descriptors and little memory`, async t => {
    const { files, MiB } = await takenBy(requestText('GET', path).repeat(1_000))
    t.diagnostic(`${files} descriptors, ${MiB.toFixed(1)} MiB`)
    assert.ok(files <= 20, `${files} descriptors`)
    assert.ok(MiB < 20, `${MiB} MiB`)
  })

test('requests for a large file open one file at a time', async t => {
  const { files, MiB } = await takenBy(requestText('GET', '/swagger/static/swagger-ui-bundle.js').repeat(16))
  t.diagnostic(`${files} descriptors, ${MiB.toFixed(1)} MiB`)
  // The client's socket, the platform's, and the file.
  assert.ok(files <= 4, `${files} descriptors`)
  assert.ok(MiB < 20, `${MiB} MiB`)
})

/** The request for an order with this id. */
const orderText = (externalId: string, headers: Record<string, string> = {}) =>
  requestText(
    'POST',
    '/esim/v1/orders',
    { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId }),
  )

test('ten requests at once get their ten answers in order, whatever they ask for', async () => {
  const authorization = `Bearer ${token}`
  const order = (externalId: string) => orderText(externalId, { 'x-request-id': externalId })
  const get = (path: string, id: string) => requestText('GET', path, { authorization, 'x-request-id': id })
  const answers = await answersTo(
    order('1') +
      get('/swagger/static/swagger-ui-bundle.js', '2') +
      get('/partner/v1/orders.csv', '3') +
      order('4') +
      get('/%', '5') +
      get('/nowhere', '6') +
      get('/app/', '7') +
      order('8') +
      get('/esim/v1/operators', '9') +
      requestText('GET', '/health/live', { connection: 'close', 'x-request-id': '10' }),
  )
  assert.deepEqual(
    answers.map(answer => [/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], /^x-request-id: (.*)\r$/im.exec(answer)?.[1]]),
    ['201', '200', '200', '201', '400', '404', '200', '201', '200', '200'].map((status, n) => [status, String(n + 1)]),
  )
})

test('17 requests at once are all answered; with one more, the connection ends', async () => {
  const request = requestText('GET', '/health/live')
  const last = requestText('GET', '/health/live', { connection: 'close' })
  assert.equal((await answersTo(request.repeat(16) + last)).length, 17)
  assert.equal((await answersTo(request.repeat(17) + last)).join(''), '')
})

test('a client may send far more requests than may wait, as long as it does not outrun the answers', async () => {
  const socket = await openRaw(platform.url)
  let received = ''
  socket.on('data', data => {
    received += data
  })
  for (let round = 0; round < 10; round++) {
    socket.write(requestText('GET', '/health/live').repeat(10))
    while ((received.match(/HTTP\/1\.1 200/g) ?? []).length < 10 * (round + 1)) await once(socket, 'data')
  }
  socket.destroy()
})

const ordersOf = async (externalId: string) =>
  (await platform.call('GET', `/partner/v1/orders?externalId=${externalId}`, { token })).body.data
const upgrade = { connection: 'Upgrade', upgrade: 'x' }
const statusesOf = (answers: string[]) => answers.map(answer => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

for (const [name, first, status] of [
  ['a read', () => requestText('GET', '/health/live', upgrade), '200'],
  ['an unknown path', () => requestText('GET', '/nowhere', upgrade), '404'],
  ['an address that cannot be decoded', () => requestText('GET', '/%', upgrade), '400'],
  ['no token', () => requestText('GET', '/esim/v1/operators', upgrade), '401'],
  ['an order', () => orderText('with-upgrade', upgrade), '201'],
  ['capitals', () => requestText('GET', '/health/live', { connection: 'keep-alive, UPGRADE', upgrade: 'h2c' }), '200'],
] as const)
  test(`${name} with the header Upgrade is answered, and the connection ends, whatever is behind it`, async () => {
    const externalId = `behind-${name.length}`
    const started = performance.now()
    const answers = await answersTo(first() + orderText(externalId))
    assert.ok(performance.now() - started < 5_000, 'the connection ends at once')
    assert.deepEqual(statusesOf(answers), [status])
    assert.match(answers[0] ?? '', /^connection: close\r$/im)
    assert.deepEqual(await ordersOf(externalId), [])
  })

test('the body of a request that was cut off behind an Upgrade is not carried out as a request', async () => {
  for (const path of ['/health/live', '/swagger/static/swagger-ui-bundle.js', '/partner/v1/orders.csv'])
    for (const pauseMs of [0, 1, 5, 50]) {
      const externalId = `smuggled-${path.length}-${pauseMs}`
      const smuggled = orderText(externalId)
      const head = requestText('POST', '/nowhere', { 'content-length': String(smuggled.length) })
      const socket = await openRaw(platform.url)
      let received = ''
      socket.on('data', data => {
        received += data
      })
      socket.setNoDelay(true).write(requestText('GET', path, { ...upgrade, authorization: `Bearer ${token}` }) + head)
      await sleep(pauseMs)
      if (socket.writable) socket.write(smuggled)
      if (!socket.destroyed) await once(socket, 'close')
      assert.ok(received.split('HTTP/1.1 ').length <= 2, 'at most one answer')
      assert.deepEqual(await ordersOf(externalId), [])
    }
})

test('Upgrade among the trailers of a body changes nothing', async () => {
  const body = '0\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const chunked = `${requestText('POST', '/nowhere', { 'transfer-encoding': 'chunked' })}${body}`
  const answers = await answersTo(chunked + requestText('GET', '/health/live', { connection: 'close' }))
  assert.deepEqual(statusesOf(answers), ['404', '200'])
})

test('a request behind one whose client leaves is not carried out', async () => {
  const authorization = `Bearer ${token}`
  const { body: now } = await platform.call('GET', '/partner/v1/events?after=now', { token })
  const socket = await openRaw(platform.url)
  const poll = `/partner/v1/events?after=${now.nextAfter}&feedId=${now.feedId}&type=campaign.*&wait=20`
  const body = JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'left-behind' })
  socket.write(requestText('GET', poll, { authorization }))
  socket.write(requestText('POST', '/esim/v1/orders', { authorization, 'content-type': 'application/json' }, body))
  await sleep(300)
  socket.destroy()
  await sleep(300)
  const { body: found } = await platform.call('GET', '/partner/v1/orders?externalId=left-behind', { token })
  assert.deepEqual(found.data, [])
})
