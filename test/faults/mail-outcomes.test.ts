/**
 * The connection to the database breaks around an e-mail, while the process and the mail server are well: the e-mail is sent at
 * most once, its outcome is stored, and the bank learns of it.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { advance, assertOrder, type Bank, openBank, until } from '../support/esim.ts'
import { type MuteProxy, startMuteProxy } from '../support/mute-proxy.ts'
import { newLogin, openPerson } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type SmtpServer, startSmtpServer } from '../support/smtp.ts'

let smtp: SmtpServer
let direct: TestPlatform
let platform: TestPlatform
let proxy: MuteProxy
let beta: Bank
before(async () => {
  smtp = await startSmtpServer()
  const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'no-reply@perkline.example' }
  // Only the process behind the proxy does the jobs.
  direct = await startPlatform({ ...mail, SERVICES: 'auth,cashback,esim,partner,portal,admin' })
  proxy = await startMuteProxy(direct.databaseUrl)
  platform = await direct.sibling({
    DATABASE_URL: proxy.url,
    SERVICES: 'auth,cashback,esim,partner,portal,admin,worker',
  })
  beta = await openBank(platform, await platform.bankToken('beta'))
  await direct.addStock('kyivstar', 'eu-10gb', 100)
})
beforeEach(() => {
  smtp.messages.length = 0
})
after(async () => {
  await platform.close()
  await proxy.close()
  await direct.close()
  await smtp.close()
})

async function reserved(): Promise<string> {
  return assertOrder(await beta.reserve(randomUUID()), { status: 'reserved' }, 201).orderId
}

/** @returns what the confirm says about the e-mail */
async function delivered(orderId: string): Promise<string | null> {
  const answer = await beta.confirm(orderId, 'somebody@customer.example')
  assert.equal(answer.status, 200, answer.text)
  return answer.headers.get('x-email-delivery')
}

/** The outcomes that the bank's feed tells about the e-mail of an order. */
async function told(orderId: string): Promise<string[]> {
  const { status, body } = await platform.call('GET', '/partner/v1/events?type=order.email_delivery&limit=1000', {
    token: beta.token,
  })
  assert.equal(status, 200, JSON.stringify(body))
  const events = body.data as { data: { orderId: string; emailDelivery: string } }[]
  return events.filter(({ data }) => data.orderId === orderId).map(({ data }) => data.emailDelivery)
}

const isTold = (orderId: string, outcomes: string[]) =>
  until(`the feed tells ${outcomes} of the order`, async () => String(await told(orderId)) === String(outcomes))

test('when the answer to the claim is lost, nothing is sent, and a repeat sends the e-mail', async () => {
  const orderId = await reserved()
  proxy.cutAt('esim.claim-mail', 'after')
  assert.equal(await delivered(orderId), 'failed')
  assert.equal(smtp.messages.length, 0)
  await isTold(orderId, ['failed'])
  assert.equal(await delivered(orderId), 'sent')
  assert.equal(smtp.messages.length, 1)
  await isTold(orderId, ['failed', 'sent'])
})

test('a claim that the server carries out after its connection broke is withdrawn, and a repeat sends the e-mail', async () => {
  const orderId = await reserved()
  smtp.behave({ rcpt: { refuse: 550 } })
  assert.equal(await delivered(orderId), 'failed')
  smtp.behave({})
  await direct.platform.database.transaction(async transaction => {
    await transaction.execute('select from orders where order_id = $1 for update', [orderId])
    proxy.cutAt('esim.claim-mail', 'after')
    assert.equal(await delivered(orderId), 'failed')
    await sleep(1_200)
  })
  await isTold(orderId, ['failed', 'failed'])
  assert.equal(await delivered(orderId), 'sent')
  assert.equal(smtp.messages.length, 1)
})

for (const when of ['before', 'after'] as const)
  test(`the outcome is stored in the end when the connection breaks ${when} it is stored`, async () => {
    const orderId = await reserved()
    proxy.cutAt('esim.record-mail', when)
    assert.equal(await delivered(orderId), 'sent')
    await isTold(orderId, ['sent'])
    assert.equal(await delivered(orderId), 'already-sent')
    assert.equal(smtp.messages.length, 1)
  })

test('an e-mail that could not be sent can be sent by a repeat, also when this outcome was not stored at once', async () => {
  const orderId = await reserved()
  smtp.behave({ rcpt: { refuse: 550 } })
  proxy.cutAt('esim.record-mail', 'before')
  assert.equal(await delivered(orderId), 'failed')
  smtp.behave({})
  await isTold(orderId, ['failed'])
  assert.equal(await delivered(orderId), 'sent')
})

test('the outcome of a process that was killed becomes unknown, and the bank learns of it', async () => {
  const orderId = await reserved()
  smtp.behave({ rcpt: { refuse: 550 } })
  await delivered(orderId)
  smtp.behave({})
  await direct.platform.database.execute(`update orders set mail = 'sending' where order_id = $1`, [orderId])
  await direct.platform.database.execute(
    `insert into order_mail_claims (order_id, claim, claimed_at) values ($1, gen_random_uuid(), now() - interval '10 minutes')`,
    [orderId],
  )
  await advance(platform, 'PT1S')
  await isTold(orderId, ['failed', 'unknown'])
  assert.equal(await delivered(orderId), 'unknown')
  assert.equal(smtp.messages.length, 0)
})

test('a mail to a person is sent once when the connection breaks before its outcome is stored', async () => {
  const manager = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
  proxy.cutAt('update people_mails set state', 'before')
  const invitation = { login: newLogin(), role: 'VIEWER', email: 'invited@bank.example' }
  assert.equal((await manager.call('POST', '/portal/invitations', invitation)).status, 201)
  await until('the outcome is stored', async () => {
    const { data } = (await manager.call('GET', '/portal/invitations')).body
    return data.find(({ login }: { login: string }) => login === invitation.login)?.mail === 'sent'
  })
  assert.equal(smtp.messages.length, 1)
})
