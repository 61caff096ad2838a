/** GET /orders/{orderId}/qr. qr.test.ts tests how the picture is drawn. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertError, assertOrder, type Bank, openBank, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { requireProgram } from '../../support/require-program.ts'

let platform: TestPlatform
let alpha: Bank
before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  alpha = await openBank(platform)
  await platform.addStock('kyivstar', 'eu-10gb', 20)
})
after(() => platform.close())

let lastId = 0
const reserved = async () => assertOrder(await alpha.reserve(`q${++lastId}`), { status: 'reserved' }, 201)
const confirmed = async () => (await alpha.confirm((await reserved()).orderId)).body

const pngSignature = '89504e470d0a1a0a'
/** Width and height from the header chunk. */
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)]

describe('200', () => {
  test('a PNG of 512x512, never stored by a cache', async () => {
    const { orderId } = await confirmed()
    const answer = await alpha.qr(orderId)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'image/png')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const png: Buffer = answer.body
    assert.equal(png.toString('hex', 0, 8), pngSignature)
    assert.deepEqual(sizeOf(png), [512, 512])
    assert.deepEqual((await alpha.qr(orderId, '?format=png')).body, png)
    assert.deepEqual((await alpha.qr(orderId)).body, png)
  })

  test('format=base64: exactly mimeType and base64, of the same picture', async () => {
    const { orderId } = await confirmed()
    const answer = await alpha.qr(orderId, '?format=base64')
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const png: Buffer = (await alpha.qr(orderId)).body
    assert.deepEqual(answer.body, { mimeType: 'image/png', base64: png.toString('base64') })
  })

  test('reads back as the activation code of this order', async t => {
    if (!requireProgram(t, 'zbarimg')) return
    for (let round = 0; round < 3; round++) {
      const { orderId, esim } = await confirmed()
      const { body } = await alpha.qr(orderId)
      const read = spawnSync('zbarimg', ['--quiet', '--raw', 'png:-'], { input: body, encoding: 'utf8' })
      assert.equal(read.stdout.trim(), esim.activationCode)
    }
  })

  test('at the address that the confirm has given, with the same token', async () => {
    const { esim } = await confirmed()
    const headers = { authorization: `Bearer ${alpha.token}` }
    const answer = await fetch(esim.qrCodeUrl, { headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'image/png')
    assert.equal((await fetch(esim.qrCodeUrl)).status, 401)
  })

  test('HEAD answers as GET does, without the picture', async () => {
    const { orderId } = await confirmed()
    const answer = await alpha.call('HEAD', `/orders/${orderId}/qr`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'image/png')
    assert.equal(answer.text, '')
  })
})

test('409 before the confirm, after a cancel and after the end of the reservation', async () => {
  const { orderId, reservedUntil } = await reserved()
  for (const query of ['', '?format=base64']) assertError(await alpha.qr(orderId, query), 409)
  {
    using _ = stopClock(platform, reservedUntil ?? '')
    assertError(await alpha.qr(orderId), 409)
  }
  await alpha.cancel(orderId)
  assertError(await alpha.qr(orderId), 409)
})

test('404 for an unknown order and for another bank’s, confirmed or not', async () => {
  assertError(await alpha.qr(randomUUID()), 404)
  const beta = await openBank(platform, await platform.bankToken('beta'))
  assertError(await beta.qr((await confirmed()).orderId), 404)
  assertError(await beta.qr((await reserved()).orderId), 404)
})

test('400 for another format or parameter, before anything is looked up', async () => {
  const { orderId } = await confirmed()
  for (const format of ['svg', 'PNG', '', ' png', 'png,base64', 'null'])
    assertError(await alpha.qr(orderId, `?format=${format}`), 400, /^format must be one of png, base64$/)
  assertError(await alpha.qr(orderId, '?format=png&format=base64'), 400, /^format must be/)
  assertError(await alpha.qr(orderId, '?size=1024'), 400, ['size must be omitted'])
  assertError(await alpha.qr(randomUUID(), '?format=svg'), 400)
  assertError(await alpha.qr((await reserved()).orderId, '?format=svg'), 400)
})
