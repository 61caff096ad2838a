/** The QR e-mail as a bank sees it: over HTTP, with a real mail server. mail.test.ts tests how one message is sent. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { assertOrder, type Bank, type EsimAnswer, openBank, range, until } from '../../support/esim.ts'
import { leaves, readMime } from '../../support/mime.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type SmtpAct, type SmtpServer, type SmtpStage, startSmtpServer } from '../../support/smtp.ts'

const from = 'no-reply@perkline.example'
const planted = () => `planted.${randomUUID()}@customer.example`

let smtp: SmtpServer
let platform: TestPlatform
let sibling: TestPlatform
let alpha: Bank
let beta: Bank
let elsewhere: Bank
let logs = ''
before(async () => {
  smtp = await startSmtpServer()
  const stream = new Writable({
    write(chunk, _, done) {
      logs += chunk
      done()
    },
  })
  platform = await startPlatform({ SMTP_URL: smtp.url, MAIL_FROM: from }, { logger: pino({ level: 'trace' }, stream) })
  sibling = await platform.sibling()
  alpha = await openBank(platform)
  beta = await openBank(platform, await platform.bankToken('beta'))
  elsewhere = await openBank(sibling, beta.token)
  await platform.addStock('kyivstar', 'eu-10gb', 100)
})
beforeEach(() => {
  smtp.behave({})
  smtp.messages.length = 0
})
after(async () => {
  await sibling.close()
  await platform.close()
  await smtp.close()
})

let lastId = 0
const reserved = async (bank = beta) =>
  assertOrder(await bank.reserve(`mail-${++lastId}`), { status: 'reserved' }, 201).orderId

const addresses: string[] = []
async function confirm(
  orderId: string,
  { address = planted(), bank = beta }: { address?: string | null; bank?: Bank } = {},
) {
  if (address !== null) addresses.push(address)
  const answer = await bank.confirm(orderId, address ?? undefined)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.status, 'confirmed')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  return answer
}
const delivery = (answer: EsimAnswer) => answer.headers.get('x-email-delivery')

describe('sent', () => {
  test('to the given address alone, with the code and the picture of the order; never again on a repeat', async () => {
    const orderId = await reserved()
    const address = planted()
    const first = await confirm(orderId, { address })
    assert.equal(delivery(first), 'sent')
    assert.equal(first.body.deliveryMode, 'qr_email')
    const repeats = [
      await confirm(orderId),
      await confirm(orderId, { address: null }),
      await confirm(orderId, { bank: elsewhere }),
    ]
    for (const repeat of repeats) assert.equal(delivery(repeat), 'already-sent')
    const { qrCodeUrl, ...secrets } = first.body.esim
    for (const repeat of repeats) {
      const { qrCodeUrl: _, ...same } = repeat.body.esim
      assert.deepEqual({ ...repeat.body, esim: same }, { ...first.body, esim: secrets })
    }
    assert.equal(smtp.messages.length, 1)
    const [message] = smtp.messages
    assert.ok(message)
    assert.deepEqual([message.from, message.to], [from, [address]])
    const parts = leaves(readMime(message.content))
    const text = parts.find(({ headers }) => headers.get('content-type')?.startsWith('text/plain'))
    assert.ok(text?.content.toString().includes(secrets.activationCode))
    const picture = parts.find(({ headers }) => headers.get('content-type')?.startsWith('image/png'))
    assert.deepEqual(picture?.content, (await beta.qr(orderId)).body)
    assert.ok(picture?.headers.get('content-id'))
    assert.equal(new URL(qrCodeUrl).pathname, `/esim/v1/orders/${orderId}/qr`)
  })

  test('once, however many confirm at the same moment in two processes', async () => {
    for (let round = 0; round < 5; round++) {
      smtp.messages.length = 0
      smtp.behave({ message: { afterMs: 20 } })
      const orderId = await reserved()
      const answers = await Promise.all(
        range(12).map(index => confirm(orderId, { bank: index % 2 ? beta : elsewhere })),
      )
      assert.equal(smtp.messages.length, 1)
      const said = answers.map(delivery)
      assert.equal(said.filter(word => word === 'sent').length, 1)
      for (const word of said) assert.ok(['sent', 'unknown', 'already-sent'].includes(word ?? ''), `${word}`)
      for (const { body } of answers) {
        assert.equal(body.esim.activationCode, answers[0]?.body.esim.activationCode)
        assert.equal(body.confirmedAt, answers[0]?.body.confirmedAt)
      }
      assert.equal(delivery(await confirm(orderId)), 'already-sent')
    }
  })
})

describe('failed, and sent by a repeat with an address', () => {
  const refusals: [SmtpStage, number][] = [
    ['greeting', 421],
    ['mail', 550],
    ['rcpt', 550],
    ['rcpt', 451],
    ['message', 552],
    ['message', 451],
  ]
  for (const [stage, refuse] of refusals)
    test(`after the reply ${refuse} at the stage ${stage}`, async () => {
      smtp.behave({ [stage]: { refuse } })
      const orderId = await reserved()
      assert.equal(delivery(await confirm(orderId)), 'failed')
      assert.equal(delivery(await confirm(orderId, { bank: elsewhere })), 'failed')
      smtp.behave({})
      assert.equal(delivery(await confirm(orderId, { address: null })), 'failed')
      assert.equal(smtp.messages.length, 0)
      assert.equal(delivery(await confirm(orderId, { bank: elsewhere })), 'sent')
      assert.equal(delivery(await confirm(orderId)), 'already-sent')
      assert.equal(smtp.messages.length, 1)
    })

  test('when there was no connection at all', async () => {
    const nobody = createServer()
    await new Promise<void>(resolve => nobody.listen(0, '127.0.0.1', resolve))
    const { port } = nobody.address() as { port: number }
    await new Promise(resolve => nobody.close(resolve))
    const cutOff = await platform.sibling({ SMTP_URL: `smtp://127.0.0.1:${port}` })
    try {
      const orderId = await reserved()
      assert.equal(delivery(await confirm(orderId, { bank: await openBank(cutOff, beta.token) })), 'failed')
      assert.equal(delivery(await confirm(orderId)), 'sent')
    } finally {
      await cutOff.close()
    }
  })

  test('when the message could not be made', async t => {
    const orderId = await reserved()
    const unreadable = async () => {
      throw new Error('The directory cannot be read')
    }
    // The tariff is read first for the message and then for the answer. Only the first read fails.
    const { catalogue } = platform.platform.deps.esim
    const broken = t.mock.method(catalogue, 'tariffOf', unreadable, { times: 1 })
    assert.equal(delivery(await confirm(orderId)), 'failed')
    assert.ok(broken.mock.callCount() > 0)
    assert.equal(delivery(await confirm(orderId, { address: null })), 'failed')
    assert.equal(smtp.messages.length, 0)
    assert.equal(delivery(await confirm(orderId)), 'sent')
    assert.equal(delivery(await confirm(orderId)), 'already-sent')
    assert.equal(smtp.messages.length, 1)
  })

  test('once, however many repeat at the same moment', async () => {
    smtp.behave({ rcpt: { refuse: 550 } })
    const orderId = await reserved()
    assert.equal(delivery(await confirm(orderId)), 'failed')
    smtp.behave({})
    await Promise.all(range(10).map(index => confirm(orderId, { bank: index % 2 ? beta : elsewhere })))
    assert.equal(smtp.messages.length, 1)
  })
})

describe('unknown, and never sent again', () => {
  for (const stage of ['greeting', 'mail', 'rcpt', 'half-message', 'message'] as const)
    test(`when the connection is lost at the stage ${stage}`, async () => {
      smtp.behave({ [stage]: 'hang-up' })
      const orderId = await reserved()
      assert.equal(delivery(await confirm(orderId)), 'unknown')
      smtp.behave({})
      for (const bank of [beta, elsewhere]) assert.equal(delivery(await confirm(orderId, { bank })), 'unknown')
      assert.equal(delivery(await confirm(orderId, { address: null })), 'unknown')
      assert.equal(smtp.messages.length, 0)
    })

  test('while it is being sent, and when the answer of the mail server comes late; the confirm takes less than 12 seconds', async () => {
    const act: SmtpAct = 'never'
    const [early, late] = [
      await startSmtpServer({ acts: { greeting: act } }),
      await startSmtpServer({ acts: { message: act } }),
    ]
    const slow = await Promise.all([early, late].map(({ url }) => platform.sibling({ SMTP_URL: url })))
    try {
      await Promise.all(
        slow.map(async process => {
          const bank = await openBank(process, beta.token)
          const orderId = await reserved()
          const startedAt = performance.now()
          const first = confirm(orderId, { bank })
          await until('the order is confirmed', async () => (await beta.read(orderId)).body.status === 'confirmed')
          const meanwhile = performance.now()
          assert.equal(delivery(await confirm(orderId)), 'unknown')
          assert.equal(delivery(await confirm(orderId, { bank, address: null })), 'unknown')
          assert.ok(performance.now() - meanwhile < 5_000, 'a repeat does not wait for the mail')
          assert.equal(delivery(await first), 'unknown')
          assert.ok(performance.now() - startedAt < 12_000)
          assert.equal(delivery(await confirm(orderId)), 'unknown')
        }),
      )
      assert.equal(smtp.messages.length + early.messages.length + late.messages.length, 0)
    } finally {
      for (const process of slow) await process.close()
      for (const server of [early, late]) await server.close()
    }
  })
})

test('in local mode no mail is ever sent, given an address or not', async () => {
  const connections = smtp.connections()
  for (const address of [planted(), null]) {
    const orderId = await reserved(alpha)
    for (let round = 0; round < 2; round++) {
      const answer = await confirm(orderId, { bank: alpha, address })
      assert.equal(delivery(answer), null)
      assert.equal(answer.body.deliveryMode, 'local')
    }
  }
  assert.equal(smtp.connections(), connections)
})

test('an order that is not confirmed in time is told to nobody', async () => {
  const orderId = await reserved()
  await beta.cancel(orderId)
  assert.equal((await beta.confirm(orderId, planted())).status, 409)
  assert.equal((await beta.confirm(randomUUID(), planted())).status, 404)
  assert.equal(smtp.messages.length, 0)
})

test('without a mail server the sandbox writes the message to a file that only its owner can read', async () => {
  const filing = await startPlatform()
  try {
    await filing.addStock('kyivstar', 'eu-10gb', 1)
    const bank = await openBank(filing, await filing.bankToken('beta'))
    const { orderId } = assertOrder(await bank.reserve('file'), { status: 'reserved' }, 201)
    const answer = await confirm(orderId, { bank })
    assert.equal(delivery(answer), 'sent')
    assert.equal(delivery(await confirm(orderId, { bank })), 'already-sent')
    const folder = join(filing.dataDir, 'mail')
    const files = await readdir(folder)
    assert.equal(files.length, 1)
    const [file = ''] = files
    assert.match(file, /\.eml$/)
    assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600)
    const parts = leaves(readMime(await readFile(join(folder, file))))
    assert.ok(parts.some(({ content }) => content.toString().includes(answer.body.esim.activationCode)))
  } finally {
    await filing.close()
  }
})

test('the address, and every installation secret, is in no table, log or metric', async () => {
  const orderId = await reserved()
  const { body } = await confirm(orderId)
  await beta.confirm(await reserved(), 'planted.but wrong@customer.example')
  const { database, metrics } = platform.platform
  const tables = await database.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  )
  assert.ok(tables.length > 10)
  const plain = ['planted.', body.esim.iccid, body.esim.activationCode, 'LPA:1']
  // PostgreSQL shows the bytes of a `bytea` in hexadecimal, so this also looks for the secrets in hexadecimal.
  const secrets = plain.flatMap(text => [text, Buffer.from(text).toString('hex')])
  assert.ok(addresses.length > 30)
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`select t::text as row from ${name} t`)
    for (const { row } of rows) for (const secret of secrets) assert.ok(!row.includes(secret), `${name}: ${row}`)
  }
  const told = logs + (await metrics.registry.metrics())
  for (const secret of secrets) assert.ok(!told.includes(secret), secret)
  // The search works: it finds an id that is in the log.
  assert.ok(logs.includes(orderId))
})
