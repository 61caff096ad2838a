/**
 * Who is shown activation data: never people with read-only roles, and every read is recorded (contract/security.md,
 * "Reads of activation data").
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createActivationReads } from '../../../src/esim/orders/activation-reads.ts'
import { newOrderId } from '../../../src/esim/orders/order-id.ts'
import { until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type Browser, openBrowser } from '../../support/portal.ts'

let platform: TestPlatform
let bank: string
let editor: Browser
let viewer: Browser
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 10)
  bank = await platform.bankToken()
  editor = await openBrowser(platform, { bank: 'alpha' }, 'EDITOR')
  viewer = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
})
after(() => platform.close())

let lastOrder = 0
const newOrder = () => ({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: `read-${++lastOrder}` })
async function soldOrder(): Promise<string> {
  const { body } = await platform.call('POST', '/esim/v1/orders', { token: bank, body: newOrder() })
  const confirmed = await platform.call('POST', `/esim/v1/orders/${body.orderId}/confirm`, { token: bank, body: {} })
  assert.equal(confirmed.status, 200, confirmed.text)
  return body.orderId as string
}
const timeline = async (orderId: string) => {
  const { body } = await platform.call('GET', `/admin/orders/${orderId}`, { token: platform.config.operatorKey })
  return body.timeline as {
    event: string
    by: object | null
    count: number | null
    at: string
    lastAt: string | null
  }[]
}

suite('a person with the role VIEWER', () => {
  test('reads operators, tariffs and orders', async () => {
    const orderId = await soldOrder()
    for (const path of ['/operators', '/operators/kyivstar/tariffs', `/orders/${orderId}`])
      assert.equal((await viewer.call('GET', `/esim/v1${path}`)).status, 200, path)
  })

  test('may not reserve, confirm, cancel or see a QR picture, and nothing happens', async () => {
    const order = newOrder()
    const { body } = await platform.call('POST', '/esim/v1/orders', { token: bank, body: order })
    const sold = await soldOrder()
    for (const [method, path, given] of [
      ['POST', '/orders', newOrder()],
      ['POST', `/orders/${body.orderId}/confirm`, {}],
      ['POST', `/orders/${sold}/confirm`, {}],
      ['POST', `/orders/${body.orderId}/cancel`, undefined],
      ['GET', `/orders/${sold}/qr`, undefined],
      ['GET', `/orders/${sold}/qr?format=base64`, undefined],
      ['HEAD', `/orders/${sold}/qr`, undefined],
    ] as const) {
      const answer = await viewer.call(method, `/esim/v1${path}`, { body: given })
      assert.equal(answer.status, 403, `${method} ${path}`)
    }
    const after = await platform.call('GET', `/esim/v1/orders/${body.orderId}`, { token: bank })
    assert.equal(after.body.status, 'reserved')
  })

  test('comes after 401 and before 400', async () => {
    assert.equal((await viewer.call('POST', '/esim/v1/orders', { raw: '{' })).status, 403)
    assert.equal((await viewer.call('GET', '/esim/v1/orders/x/qr')).status, 403)
  })

  test('a system with the role VIEWER may all of it, as the contract says', async () => {
    const token = await platform.bankToken('alpha', 'VIEWER')
    const { status, body } = await platform.call('POST', '/esim/v1/orders', { token, body: newOrder() })
    assert.equal(status, 201)
    const confirmed = await platform.call('POST', `/esim/v1/orders/${body.orderId}/confirm`, { token, body: {} })
    assert.equal(confirmed.status, 200)
  })
})

suite('each answer with activation data', () => {
  test('is in the order’s history: who confirmed, who asked again, how often', async () => {
    const orderId = await soldOrder()
    const path = `/esim/v1/orders/${orderId}`
    await platform.call('POST', `${path}/confirm`, { token: bank, body: {} })
    for (let time = 0; time < 3; time++) assert.equal((await editor.call('GET', `${path}/qr`)).status, 200)
    // HEAD shows nothing, so it is no read.
    assert.equal((await platform.call('HEAD', `${path}/qr`, { token: bank })).status, 200)
    await until('all reads are written', async () => (await timeline(orderId)).length === 5)
    const events = await timeline(orderId)
    const [imported, reserved, confirmed, repeated, shown] = events
    assert.deepEqual([imported?.event, reserved?.event], ['profile-imported', 'reserved'])
    const clientId = JSON.parse(Buffer.from(bank.split('.')[1] ?? '', 'base64url').toString()).sub
    assert.deepEqual([confirmed?.event, confirmed?.by], ['confirmed', { type: 'system', id: clientId }])
    assert.deepEqual(
      [repeated?.event, repeated?.by, repeated?.count],
      ['confirm-repeated', { type: 'system', id: clientId }, 1],
    )
    const session = await editor.call('GET', '/portal/session')
    assert.equal(shown?.event, 'qr-read')
    assert.deepEqual(shown?.by, { type: 'person', id: session.body.login })

    const own = await viewer.call('GET', `/portal/esim/orders/${orderId}`)
    assert.deepEqual([own.status, own.body.timeline], [200, events], 'the bank sees the same')
    const other = await openBrowser(platform, { bank: 'gamma' }, 'ADMIN')
    assert.equal((await other.call('GET', `/portal/esim/orders/${orderId}`)).status, 404)
  })

  test('a cancellation names who cancelled', async () => {
    const { body } = await platform.call('POST', '/esim/v1/orders', { token: bank, body: newOrder() })
    await editor.call('POST', `/esim/v1/orders/${body.orderId}/cancel`)
    const cancelled = (await timeline(body.orderId)).find(({ event }) => event === 'cancelled')
    assert.equal((cancelled?.by as { type: string } | undefined)?.type, 'person')
  })
})

test('confirms of one order that come together: all but the first are recorded as repeated', async () => {
  await platform.addStock('kyivstar', 'eu-10gb', 40)
  const reserve = async () => {
    const { body } = await platform.call('POST', '/esim/v1/orders', { token: bank, body: newOrder() })
    return body.orderId as string
  }
  const confirm = (orderId: string) =>
    platform.call('POST', `/esim/v1/orders/${orderId}/confirm`, { token: bank, body: {} })
  for (let round = 0; round < 5; round++) {
    // While these are confirmed, the confirms below wait and then share a statement.
    const before = await Promise.all([reserve(), reserve(), reserve()])
    const orderId = await reserve()
    const warm = before.map(confirm)
    const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(orderId)))
    await Promise.all(warm)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const repeated = async () => (await timeline(orderId)).find(({ event }) => event === 'confirm-repeated')?.count ?? 0
    // The platform writes these counts from time to time. If it has written some of the seven already, it writes the
    // others a minute later.
    await until('seven repeated confirms', async () => (await repeated()) >= 7, 75_000)
    assert.equal(await repeated(), 7)
  }
})

suite('the counts', () => {
  const stored = (orderId: string) =>
    platform.platform.database.query<{ caller: string; reads: number }>(
      'select caller, reads from activation_reads where order_id = $1 order by caller',
      [orderId],
    )
  const errors: unknown[] = []
  const start = () =>
    createActivationReads({ database: platform.platform.database, onError: error => errors.push(error) })

  test('add up over two processes, and what is left is written at the end', async () => {
    const orderId = newOrderId(new Date())
    const [one, other] = [start(), start()]
    for (const [reads, times] of [
      [one, 5],
      [other, 7],
    ] as const)
      for (let time = 0; time < times; time++)
        reads.note({ orderId, kind: 'qr_read', caller: 'system:pk_a', at: new Date() })
    one.note({ orderId, kind: 'qr_read', caller: 'system:pk_b', at: new Date() })
    await Promise.all([one.close(), other.close()])
    assert.deepEqual(await stored(orderId), [
      { caller: 'system:pk_a', reads: 12 },
      { caller: 'system:pk_b', reads: 1 },
    ])
    assert.deepEqual(errors, [])
  })

  test('a failed write is told and tried again: nothing is lost or counted twice', async () => {
    const orderId = newOrderId(new Date())
    const { database } = platform.platform
    let fails = true
    const failing = {
      ...database,
      execute: (...args: Parameters<typeof database.execute>) =>
        fails ? Promise.reject(new Error('away')) : database.execute(...args),
    }
    const told: unknown[] = []
    const reads = createActivationReads({ database: failing, onError: error => told.push(error) })
    reads.note({ orderId, kind: 'qr_read', caller: 'system:pk_a', at: new Date() })
    await until('a write has failed', () => told.length > 0)
    fails = false
    reads.note({ orderId, kind: 'qr_read', caller: 'system:pk_a', at: new Date() })
    await reads.close()
    assert.deepEqual(await stored(orderId), [{ caller: 'system:pk_a', reads: 2 }])
  })
})
