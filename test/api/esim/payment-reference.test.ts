/** The header of a confirm with the bank's own reference of the payment (contract/esim.md, "The payment reference"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Bank, openBank, range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { sendRaw } from '../../support/raw-http.ts'

let platform: TestPlatform
let bank: Bank
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 60)
  bank = await openBank(platform)
})
after(() => platform.close())

let lastOrder = 0
const reserved = async () => (await bank.reserve(`paid-${++lastOrder}`)).body.orderId as string
const confirm = (orderId: string, reference?: string) =>
  bank.call('POST', `/orders/${orderId}/confirm`, {
    ...(reference !== undefined && { headers: { 'Perkline-Payment-Reference': reference } }),
  })
const outcome = async (orderId: string, reference?: string) => {
  const answer = await confirm(orderId, reference)
  assert.equal(answer.status, 200, answer.text)
  return answer.headers.get('perkline-payment-reference')
}
const stored = async (orderId: string) => {
  const [row] = await platform.platform.database.query<{ reference: string | null; reservedBy: string | null }>(
    'select payment_reference as reference, reserved_by as "reservedBy" from orders where order_id = $1',
    [orderId],
  )
  return row
}

test('the first confirm’s reference is kept; another one later, or none, changes nothing', async () => {
  const orderId = await reserved()
  assert.equal(await outcome(orderId, 'PR-1'), 'kept')
  assert.equal(await outcome(orderId, 'PR-1'), 'kept')
  assert.equal(await outcome(orderId, 'PR-2'), 'ignored')
  assert.equal(await outcome(orderId), null)
  assert.equal((await stored(orderId))?.reference, 'PR-1')
})

test('an order that was confirmed without one keeps none', async () => {
  const orderId = await reserved()
  assert.equal(await outcome(orderId), null)
  assert.equal(await outcome(orderId, 'PR-1'), 'ignored')
  assert.equal((await stored(orderId))?.reference, null)
})

test('it is 1 to 64 visible ASCII characters; a confirm never fails because of it', async () => {
  for (const given of ['x', 'x'.repeat(64), '!"#~', 'PR-1,PR-2']) {
    const orderId = await reserved()
    assert.equal(await outcome(orderId, given), 'kept', given)
    assert.equal((await stored(orderId))?.reference, given)
  }
  for (const given of ['', 'x'.repeat(65), 'x'.repeat(5000), 'a b', 'a\tb', 'ключ'.replace(/./g, 'é')]) {
    const orderId = await reserved()
    assert.equal(await outcome(orderId, given), 'ignored', JSON.stringify(given))
    assert.equal((await stored(orderId))?.reference, null)
  }
})

test('a header that comes twice, and bytes from 0x80 on, are ignored', async () => {
  for (const lines of [
    'Perkline-Payment-Reference: A\r\nPerkline-Payment-Reference: B',
    'Perkline-Payment-Reference: \x80',
  ]) {
    const orderId = await reserved()
    const request = `POST /esim/v1/orders/${orderId}/confirm HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bank.token}\r\n${lines}\r\nContent-Length: 0\r\n\r\n`
    const answer = await sendRaw(platform.url, Buffer.from(request, 'latin1'))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['perkline-payment-reference'], 'ignored')
  }
})

test('confirms that arrive together each keep their own reference, and it is known who reserved', async () => {
  const orders = await Promise.all(range(20).map(reserved))
  const answers = await Promise.all(
    orders.map((orderId, index) => outcome(orderId, index % 3 === 0 ? undefined : `PR-${index}`)),
  )
  for (const [index, orderId] of orders.entries()) {
    const expected = index % 3 === 0 ? null : `PR-${index}`
    assert.equal(answers[index], expected && 'kept')
    const row = await stored(orderId)
    assert.equal(row?.reference, expected)
    assert.match(row?.reservedBy ?? '', /^system:pk_/)
  }
})

test('of racing confirms of one order with different references one wins, and each answer says whether its reference was stored', async () => {
  const orderId = await reserved()
  const answers = await Promise.all(range(10).map(index => outcome(orderId, `PR-${index}`)))
  const kept = answers.flatMap((answer, index) => (answer === 'kept' ? [`PR-${index}`] : []))
  assert.deepEqual(kept, [(await stored(orderId))?.reference])
})

test('an error carries no outcome', async () => {
  const orderId = await reserved()
  await bank.cancel(orderId)
  const answer = await confirm(orderId, 'PR-1')
  assert.equal(answer.status, 409)
  assert.equal(answer.headers.get('perkline-payment-reference'), null)
})
