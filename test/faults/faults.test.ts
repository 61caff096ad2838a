/**
 * Real processes on a real, durable database server: they are killed during sales, the database is stopped, and
 * sessions are ended. At the end, all output is searched for secrets.
 */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { assertError, assertOrder, bankAt, each, proveBooks, range, tally, until } from '../support/esim.ts'
import { callAt, type PerklineProcess } from '../support/process.ts'
import { persist, proveSales, recoverWithinMs, type Sale, sell } from '../support/sales.ts'
import { type SmtpServer, startSmtpServer } from '../support/smtp.ts'
import { startWorld, type World } from '../support/world.ts'

const profiles = 2_500
/**
 * After this many sales the sellers slow down: a process can take half a minute to start, and the stock must last that
 * long.
 */
const quickSales = 300
let smtp: SmtpServer
let world: World
before(async () => {
  smtp = await startSmtpServer()
  const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'no-reply@perkline.example' }
  world = await startWorld({ processes: 2, profiles, seed: 7_777, settings: { ...mail, LOG_LEVEL: 'trace' } })
})
after(async () => {
  await world.close()
  await smtp.close()
})

const at: World['at'] = (index, bank) => world.at(index, bank)
let lastId = 0
const newId = () => `fault-${++lastId}`

/** Asserts that every acknowledged order exists, and that the books are correct. */
async function proveAll(sales: readonly Sale[]): Promise<void> {
  await proveSales(at, sales)
  const books = await proveBooks(world.database, new Date())
  assert.equal(books.profiles, profiles)
  const audit = await world.processes[0]?.admin('GET', '/audit')
  assert.equal(audit.ok, true, JSON.stringify(audit))
}

const allSales: Sale[] = []

test('a process that is killed in the middle of sales loses nothing that it has acknowledged, and no profile', async () => {
  const sales: Sale[] = []
  let going = true
  const sellers = range(12).map(() => sell(at, sales, () => going, quickSales))
  for (const victim of [0, 1, 0]) {
    const before = sales.length
    await until('sales go on', () => sales.length > before + 60)
    await world.replace(victim, process => process.kill())
  }
  going = false
  await Promise.all(sellers)
  assert.ok(sales.some(({ state }) => state === 'confirmed') && sales.some(({ state }) => state === 'cancelled'))
  await proveAll(sales)
  allSales.push(...sales)
})

test('a process that is told to stop in the middle of sales answers what it has begun, ends with 0 and logs no fault', async () => {
  const sales: Sale[] = []
  let going = true
  const sellers = range(12).map(() => sell(at, sales, () => going, quickSales))
  await until('sales go on', () => sales.length > 60)
  await world.replace(0, async process => {
    assert.equal(await process.stop(), 0)
    assert.ok(!/"level":"(error|fatal)"/.test(process.output()), process.output().slice(-2_000))
  })
  going = false
  await Promise.all(sellers)
  await proveAll(sales)
  allSales.push(...sales)
})

test('answers that get lost on the way: asked again until they come, each step is done once', async () => {
  const proxies = await Promise.all(world.processes.map(({ url }) => startCuttingProxy(Number(new URL(url).port), 0.3)))
  const through = (index: number) => bankAt({ call: callAt(proxies[index % 2]?.url ?? '') }, world.tokens.alpha)
  const { free, sold } = await proveBooks(world.database, new Date())
  try {
    await each(range(60), 6, async () => {
      const externalId = newId()
      const { body } = await persist(index => through(index).reserve(externalId), [200, 201])
      const first = await persist(index => through(index).confirm(body.orderId), [200])
      const again = await persist(index => through(index).confirm(body.orderId), [200])
      assert.equal(again.body.esim.activationCode, first.body.esim.activationCode)
      assert.equal((await persist(index => through(index).reserve(externalId), [200])).body.orderId, body.orderId)
    })
  } finally {
    for (const proxy of proxies) await proxy.close()
  }
  const cuts = proxies.reduce((sum, proxy) => sum + proxy.cuts(), 0)
  assert.ok(cuts > 20, `${cuts} cut`)
  const after = await proveBooks(world.database, new Date())
  assert.deepEqual([after.free, after.sold], [free - 60, sold + 60])
})

test('an e-mail that was going out when its process was killed is never sent again', async () => {
  smtp.behave({ message: 'never' })
  const { body } = await at(0, 'beta').reserve(newId())
  const confirming = at(0, 'beta').confirm(body.orderId, 'planted@customer-of-beta.example')
  confirming.catch(() => {})
  const connections = smtp.connections()
  await until('the mail is on its way', () => smtp.connections() > 0 && smtp.connections() >= connections)
  await until('the order is marked', async () => {
    const rows = await world.database.query('select from orders where order_id = $1 and mail = $2', [
      body.orderId,
      'sending',
    ])
    return rows.length > 0
  })
  await world.replace(0, async process => {
    await process.kill()
    await assert.rejects(confirming)
    smtp.behave({})
  })
  for (const index of [0, 1]) {
    const repeated = await at(index, 'beta').confirm(body.orderId, 'planted@customer-of-beta.example')
    assert.equal(repeated.status, 200)
    assert.equal(repeated.headers.get('x-email-delivery'), 'unknown')
  }
  assert.equal(smtp.messages.length, 0)
  const another = await at(1, 'beta').reserve(newId())
  const sent = await at(1, 'beta').confirm(another.body.orderId, 'planted@customer-of-beta.example')
  assert.equal(sent.headers.get('x-email-delivery'), 'sent')
})

test('the sessions ended again and again in the middle of sales: 503 and never 500, nothing lost', async () => {
  const sales: Sale[] = []
  let going = true
  const sellers = range(12).map(() => sell(at, sales, () => going, quickSales))
  let terminated = 0
  for (let round = 0; round < 8; round++) {
    const before = sales.length
    await until('sales go on', () => sales.length > before + 15)
    const [row] = await world.database.query<{ count: number }>(
      `select count(pg_terminate_backend(pid))::int as count from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()`,
    )
    terminated += row?.count ?? 0
  }
  going = false
  await Promise.all(sellers)
  assert.ok(terminated > 20, `${terminated} sessions ended`)
  await proveAll(sales)
  allSales.push(...sales)
})

test('a statement that the server cancels is 503', async () => {
  const client = await world.database.connect()
  try {
    await client.query('begin')
    await client.query('lock table orders in access exclusive mode')
    const externalId = newId()
    let answered = false
    const reserving = at(0)
      .reserve(externalId)
      .finally(() => {
        answered = true
      })
    await until('the request is answered', async () => {
      // We use another connection, because a transaction sees `pg_stat_activity` only as it was at its first read.
      await world.database.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
         where wait_event_type = 'Lock' and query ilike '%orders%' and datname = current_database()`,
      )
      return answered
    })
    assertError(await reserving, 503)
    await client.query('rollback')
    assert.equal((await at(0).reserve(externalId)).status, 201)
  } finally {
    await client.end()
  }
})

test('while the database is away every answer is 503 with Retry-After; when it is back, sales go on within 5 seconds', async () => {
  const orderIds = await each(range(3), 3, async index => (await at(index).reserve(newId())).body.orderId as string)
  const [confirmed = '', reserved = '', other = ''] = orderIds
  await at(0).confirm(confirmed)
  // These orders are read now, so that they may be cached. While the database is away, even they are not returned.
  for (const index of [0, 1]) {
    assertOrder(await at(index).read(confirmed), { status: 'confirmed' })
    assertOrder(await at(index).read(reserved), { status: 'reserved' })
  }
  const sales: Sale[] = []
  let going = true
  const sellers = range(6).map(() => sell(at, sales, () => going, quickSales))
  await until('sales go on', () => sales.length > 20)
  await world.server.stop()
  await until('it is noticed', async () => (await at(0).read(reserved)).status === 503)
  for (const index of [0, 1]) {
    const bank = at(index)
    const answers = [
      await bank.read(confirmed),
      await bank.reserve(newId()),
      await bank.read(reserved),
      await bank.confirm(other),
      await bank.confirm(confirmed),
    ]
    answers.push(await bank.cancel(other), await bank.qr(confirmed), await bank.tariffs())
    for (const answer of answers) assertError(answer, 503)
    // A list of operators needs no database, because the process keeps the catalogue in memory.
    assert.equal((await bank.operators()).status, 200)
    const process = world.processes[index] as PerklineProcess
    const health = await process.call('GET', '/health/ready')
    assert.equal(health.status, 503)
    assert.equal((await process.call('GET', '/health/live')).status, 200)
    const credential = { clientId: 'pk_0123456789abcdef01234567', secret: 'x' }
    const token = await process.call('POST', '/getToken/auth', { body: credential })
    assert.deepEqual([token.status, Object.keys(token.body)], [503, ['text']])
    assert.ok(token.headers.get('retry-after'))
  }
  const parallel = await Promise.all(range(100).map(index => at(index).reserve(newId())))
  assert.deepEqual(tally(parallel), { 503: 100 })

  await world.startServer()
  const backAt = performance.now()
  for (const index of [0, 1]) {
    const answer = await persist(() => at(index).reserve(newId()), [201])
    assert.equal(answer.status, 201)
    assertOrder(await at(index).read(confirmed), { status: 'confirmed' })
  }
  const tookMs = performance.now() - backAt
  assert.ok(tookMs < recoverWithinMs(), `${tookMs} ms`)
  assert.equal((await world.processes[0]?.call('GET', '/health/ready'))?.status, 200)
  going = false
  await Promise.all(sellers)
  await proveAll([...allSales, ...sales])
})

test('every free profile can still be sold, and no more than those', async () => {
  const { free } = await proveBooks(world.database, new Date())
  assert.ok(free > 0)
  const answers = await each(range(free + 10), 32, index => at(index).reserve(newId()))
  assert.deepEqual(tally(answers), { 201: free, 503: 10 })
  assert.equal((await proveBooks(world.database, new Date())).free, 0)
})

test('no activation code, ICCID, token, secret or address is in the database’s files, its log or the processes’ output', async () => {
  await world.database.execute('checkpoint').catch(() => {})
  const { ended, processes, tokens, settings, folder } = world
  ended.push(...processes)
  await Promise.all(processes.map(process => process.stop()))
  await world.server.stop()
  const [, line = ''] = [...profileLines({ count: 1, seed: 7_777 })]
  const [iccid = '', msisdn = ''] = line.split(',')
  const secrets = [
    'smdp.example.com',
    iccid.slice(0, 12),
    'customer-of-beta',
    tokens.alpha,
    settings.MASTER_KEY ?? '',
    settings.OPERATOR_KEY ?? '',
  ]
  const search = (where: string, bytes: Buffer) => {
    for (const secret of secrets) assert.ok(!bytes.includes(secret), `${secret.slice(0, 8)}... in ${where}`)
  }
  for (const [index, process] of ended.entries()) search(`output ${index}`, Buffer.from(process.output()))
  let found = false
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    search(path, bytes)
    found ||= bytes.includes(msisdn)
  }
  assert.ok(found, 'the search finds nothing at all')
  for (const process of ended) assert.deepEqual(process.output().match(/^.*"statusCode":500.*$/gm) ?? [], [])
})
