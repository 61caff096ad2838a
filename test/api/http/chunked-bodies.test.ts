/** Bodies that come in chunks: how small the chunks may be (contract/http.md, "Request bodies"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { campaignDirectory, createCampaign, openMerchant, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, readRaw, requestText } from '../../support/raw-http.ts'
import { addCustomers, customers, fileOf } from '../../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
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

/** The server must have ended a connection on which so many bytes of an endless body were sent. */
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
    for (const text of [' ', ' '.repeat(16)])
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
