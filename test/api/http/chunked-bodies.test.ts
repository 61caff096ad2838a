/** Bodies that come in chunks: how small the chunks may be, and when a form takes a place (contract/http.md, "Request bodies"). */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { countWaiting } from '../../../src/work/concurrency-limit.ts'
import { campaignDirectory, campaignForm, createCampaign, openMerchant, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, readRaw, requestText } from '../../support/raw-http.ts'
import { addCustomers, customers, fileOf } from '../../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
let voltshop: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  voltshop = await openMerchant(platform, 'voltshop')
})
after(() => platform.close())

const tooSmall = 'The chunks of the body are too small'
const formPath = '/cashbacks/for-merchant'
const last = '0\r\n\r\n'
const inChunks = (text: string, size: number): string =>
  text.replaceAll(new RegExp(`[^]{1,${size}}`, 'g'), chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)

function head(method: string, path: string, headers: Record<string, string> = {}, token?: string): string {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const type = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  return requestText(method, path, { ...type, ...authorization, ...headers })
}

/** The server must end a connection before this many bytes of an endless body were sent. */
const enough = 1024 * 1024

/** Sends chunks of this text until the server ends the connection. @returns the answer, and how many bytes were sent */
async function flood(beginning: string, text: string) {
  const socket = await openRaw(platform.url)
  const answer = readRaw(socket)
  let hasEnded = false
  socket.once('end', () => {
    hasEnded = true
  })
  socket.write(beginning)
  const piece = inChunks(text.repeat(1_000), text.length)
  let sent = 0
  for (; !hasEnded && !socket.destroyed && sent <= enough; sent += piece.length) {
    socket.write(piece)
    await nextTurn()
  }
  socket.end()
  try {
    return { answer: await answer, sent }
  } finally {
    socket.destroy()
  }
}

const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
const fileBegins = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\ncustomerId\n'
const segmentPath = (id: string) => `/portal/cashbacks/${id}/segment`

suite('chunks that are too small', () => {
  for (const [path, field] of [
    ['/getToken/auth', 'text'],
    ['/portal/session', 'message'],
    ['/auth/login', 'message'],
  ] as const)
    for (const text of [' ', ' '.repeat(4)])
      test(`${path} refuses a body in chunks of ${text.length} bytes, and the connection ends`, async () => {
        const { answer, sent } = await flood(head('POST', path), text)
        assert.deepEqual([answer.status, answer.body[field], answer.headers.connection], [400, tooSmall, 'close'])
        assert.ok(sent <= enough, `${sent} bytes`)
      })

  test('so does a campaign’s form', async () => {
    const { answer, sent } = await flood(head('POST', formPath, {}, grocer.token), ' ')
    assert.deepEqual([answer.status, answer.body.message, answer.headers.connection], [400, tooSmall, 'close'])
    assert.ok(sent <= enough, `${sent} bytes`)
  })

  test('so does an upload', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const beginning = head('PUT', segmentPath(id), multipart, grocer.token) + inChunks(fileBegins, 1_000)
    const { answer, sent } = await flood(beginning, 'x')
    assert.deepEqual([answer.status, answer.body.message, answer.headers.connection], [400, tooSmall, 'close'])
    assert.ok(sent <= enough, `${sent} bytes`)
  })

  for (const [path, status] of [
    ['/nowhere', 404],
    ['/esim/v1/orders', 401],
    ['/%zz', 400],
    ['/getToken/auth', 415],
  ] as const)
    test(`after ${status} for ${path}, the server stops reading a body of such chunks`, async () => {
      const { answer, sent } = await flood(
        head('POST', path, status === 415 ? { 'content-type': 'text/plain' } : {}),
        ' ',
      )
      assert.equal(answer.status, status)
      assert.ok(sent <= enough, `${sent} bytes`)
    })

  test('the answer to a request before it on the connection is sent first', async () => {
    const path = '/partner/v1/events?type=campaign.*&wait=1'
    const socket = await openRaw(platform.url)
    const authorization = `Bearer ${grocer.token}`
    socket.write(requestText('GET', path, { authorization }) + head('POST', formPath, {}, grocer.token))
    socket.write(inChunks(' '.repeat(10_000), 1))
    const received = (await socket.toArray()).join('')
    assert.deepEqual(
      [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '400'],
    )
  })
})

suite('chunks that are large enough', () => {
  test('a short body may come in chunks of one byte, again and again on one connection', async () => {
    const socket = await openRaw(platform.url)
    for (let count = 0; count < 4; count++) {
      socket.write(head('POST', '/getToken/auth') + inChunks(`{"clientId":1${' '.repeat(1_000)}}`, 1) + last)
      const { status, body } = await readRaw(socket)
      assert.equal(status, 400)
      assert.match(body.text, /clientId must be a string/)
    }
    socket.destroy()
  })

  test('64 KiB may come in chunks of 100 bytes', async () => {
    const socket = await openRaw(platform.url)
    socket.write(head('POST', '/getToken/auth') + inChunks(`{"clientId":1${' '.repeat(65_000)}}`, 100) + last)
    assert.match((await readRaw(socket)).body.text, /clientId must be a string/)
    socket.destroy()
  })

  test('so may the file of an upload, and a large form', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const ids = customers('A', 50_000)
    await addCustomers(platform, 'alpha', ids)
    const socket = await openRaw(platform.url)
    const form = `${fileBegins}${fileOf(ids).slice('customerId\n'.length)}\r\n--x--\r\n`
    assert.ok(form.length > 256 * 1024)
    socket.write(head('PUT', segmentPath(id), multipart, grocer.token) + inChunks(form, 100) + last)
    const uploaded = await readRaw(socket)
    assert.deepEqual([uploaded.status, uploaded.body.customersCount], [200, 50_000])
    const large = `{"x":"${'y'.repeat(400_000)}"}`
    socket.write(head('POST', formPath, {}, grocer.token) + inChunks(large, 100) + last)
    const created = await readRaw(socket)
    assert.equal(created.status, 400)
    assert.ok(created.body.message.includes('x must be omitted'))
    socket.destroy()
  })
})

suite('places of large bodies', () => {
  /** Opens a form in chunks, sends the beginning of its body, and never ends it. */
  async function beginForm(token: string, beginning: string): Promise<Socket> {
    const socket = await openRaw(platform.url)
    socket.write(head('POST', formPath, {}, token) + inChunks(beginning, 1_000))
    return socket
  }
  const sendForm = async (text: string, headers: Record<string, string> = {}) => {
    const socket = await openRaw(platform.url)
    socket.write(head('POST', formPath, headers, grocer.token) + inChunks(text, 1_000) + last)
    try {
      return await readRaw(socket)
    } finally {
      socket.destroy()
    }
  }
  const answered = (form: Promise<unknown>) =>
    Promise.race([form.then(() => true), sleep(10_000, false, { ref: false })])

  test('forms in chunks that have only begun take none', async () => {
    const slow = await Promise.all(
      [grocer, grocer, grocer, voltshop, voltshop].map(({ token }) => beginForm(token, '{')),
    )
    await sleep(200)
    assert.equal(countWaiting().get('bodies'), 0)
    const form = sendForm(JSON.stringify({ ...campaignForm(platform), name: 'Autumn' }))
    assert.ok(await answered(form), 'a whole form is answered while others arrive slowly')
    assert.equal((await form).status, 201)
    for (const socket of slow) socket.destroy()
  })

  test('a form in chunks of which 64 KiB have arrived takes one; a short form needs none', async () => {
    const beginning = `{"x":"${'y'.repeat(70_000)}`
    const held = await Promise.all([1, 2, 3].map(() => beginForm(grocer.token, beginning)))
    for (const endsAt = Date.now() + 10_000; countWaiting().get('bodies') !== 1; await sleep(20))
      assert.ok(Date.now() < endsAt, `${countWaiting().get('bodies')} wait`)
    const form = sendForm(JSON.stringify({ ...campaignForm(platform), name: 'Autumn' }))
    assert.ok(await answered(form), 'a short form does not wait')
    assert.equal((await form).status, 201)
    for (const socket of held) socket.write(`${inChunks('"}', 100)}${last}`)
    const answers = await Promise.all(held.map(socket => readRaw(socket)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400, 400, 400],
    )
    for (const socket of held) socket.destroy()
    assert.equal(countWaiting().get('bodies'), 0)
  })

  for (const pauseMs of [0, 200])
    test(`a chunked body without a chunk is no form, also when its end comes ${pauseMs} ms later`, async () => {
      const socket = await openRaw(platform.url)
      socket.write(head('POST', formPath, {}, grocer.token))
      await sleep(pauseMs)
      socket.write(last)
      assert.equal((await readRaw(socket)).status, 400)
      socket.destroy()
    })

  test('a sender of chunks that waits for 100 Continue gets it', async () => {
    const socket = await openRaw(platform.url)
    socket.write(head('POST', formPath, { expect: '100-continue' }, grocer.token))
    const [interim] = await Promise.race([socket.take(1).toArray(), sleep(10_000, [], { ref: false })])
    assert.match(String(interim), /^HTTP\/1\.1 100 /)
  })
})

for (const pauseMs of [0, 200])
  test(`a chunked body without a byte is absent, whatever its type, also when its end comes ${pauseMs} ms later`, async () => {
    const token = await platform.bankToken()
    const path = '/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11/cancel'
    for (const type of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
      const send = async (rest: string) => {
        const headers = {
          authorization: `Bearer ${token}`,
          'transfer-encoding': 'chunked',
          connection: 'close',
          ...type,
        }
        const socket = await openRaw(platform.url)
        const answer = readRaw(socket)
        socket.write(requestText('POST', path, headers))
        await sleep(pauseMs)
        socket.write(rest)
        return (await answer).status
      }
      assert.equal(await send(last), 404, JSON.stringify(type))
      const withBytes = type['content-type'] === 'application/json' ? 404 : 415
      assert.equal(await send(`${inChunks('{}', 1)}${last}`), withBytes, JSON.stringify(type))
    }
  })
