/**
 * Real processes on a real, durable database server, and what happens to them: killed in the middle of sales, their database stopped,
 * their sessions ended. At the end everything is searched for what should be nowhere.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../samples/make-profiles.ts'
import { type Database, openDatabase } from '../src/db/database.ts'
import { type EmbeddedServer, startEmbeddedDatabase } from '../src/db/embedded.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { assertError, bankAt, type EsimAnswer, each, proveBooks, range, tally, until } from './support/esim.ts'
import { testDirectory } from './support/platform.ts'
import { callAt, type PerklineProcess, type Settings, sharedSettings, startProcess } from './support/process.ts'
import { persist, proveSales, type Sale, sell } from './support/sales.ts'
import { type SmtpServer, startSmtpServer } from './support/smtp.ts'

const profiles = 2_500
let folder: string
let server: EmbeddedServer
let database: Database
let smtp: SmtpServer
let settings: Settings
let processes: [PerklineProcess, PerklineProcess]
const ended: PerklineProcess[] = []
const tokens: Record<string, string> = {}

const dataDir = () => join(folder, 'server')
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-faults-'))
  await chmod(folder, 0o711)
  await mkdir(join(folder, 'platform'))
  server = await startEmbeddedDatabase({ dataDir: dataDir() })
  database = openDatabase({ connection: server.connection, poolSize: 2 })
  smtp = await startSmtpServer()
  const { host, user, database: name } = server.connection
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`
  settings = {
    ...sharedSettings(url, join(folder, 'platform')),
    SMTP_URL: smtp.url,
    MAIL_FROM: 'no-reply@perkline.example',
    LOG_LEVEL: 'trace',
  }
  processes = [await startProcess(settings), await startProcess(settings)]
  const [first] = processes
  await first.admin('POST', '/directory', { directory: testDirectory, files: {} })
  await first.admin(
    'POST',
    '/profiles?operator=kyivstar&tariff=eu-10gb',
    [...profileLines({ count: profiles, seed: 7_777 })].join(''),
  )
  for (const bank of ['alpha', 'beta']) {
    const issued = await first.admin('POST', '/credentials', { bank, role: 'ADMIN', label: 'faults' })
    tokens[bank] = (await first.call('POST', '/getToken/auth', { body: issued })).body.access_token
  }
})
after(async () => {
  for (const process of processes) await process.kill()
  await database.close()
  await smtp.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const at = (index: number, bank: 'alpha' | 'beta' = 'alpha') =>
  bankAt(processes[index % 2] as PerklineProcess, tokens[bank] ?? '')
let lastId = 0
const newId = () => `fault-${++lastId}`

/** Everything that was acknowledged stands, and the books are right. */
async function proveAll(sales: readonly Sale[]): Promise<void> {
  await proveSales(at, sales)
  const books = await proveBooks(database, new Date())
  assert.equal(books.profiles, profiles)
  const audit = await processes[0].admin('GET', '/audit')
  assert.equal(audit.ok, true, JSON.stringify(audit))
}

const allSales: Sale[] = []

test('a process that is killed in the middle of sales loses nothing that it has acknowledged, and no profile', async () => {
  const sales: Sale[] = []
  let going = true
  const sellers = range(12).map(() => sell(at, sales, () => going))
  for (const victim of [0, 1, 0]) {
    const before = sales.length
    await until('sales go on', () => sales.length > before + 60)
    const [killed] = [processes[victim] as PerklineProcess]
    await killed.kill()
    ended.push(killed)
    processes[victim] = await startProcess(settings)
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
  const sellers = range(12).map(() => sell(at, sales, () => going))
  await until('sales go on', () => sales.length > 60)
  const [stopped] = processes
  assert.equal(await stopped.stop(), 0)
  assert.ok(!/"level":"(error|fatal)"/.test(stopped.output()), stopped.output().slice(-2_000))
  ended.push(stopped)
  processes[0] = await startProcess(settings)
  going = false
  await Promise.all(sellers)
  await proveAll(sales)
  allSales.push(...sales)
})

test('answers that get lost on the way: asked again until they come, each step is done once', async () => {
  const proxies = await Promise.all(processes.map(({ url }) => startCuttingProxy(Number(new URL(url).port), 0.3)))
  const through = (index: number) => bankAt({ call: callAt(proxies[index % 2]?.url ?? '') }, tokens.alpha ?? '')
  const { free, sold } = await proveBooks(database, new Date())
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
  const after = await proveBooks(database, new Date())
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
    const rows = await database.query('select from orders where order_id = $1 and mail = $2', [body.orderId, 'sending'])
    return rows.length > 0
  })
  await processes[0].kill()
  ended.push(processes[0])
  await assert.rejects(confirming)
  smtp.behave({})
  processes[0] = await startProcess(settings)
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
  const sellers = range(12).map(() => sell(at, sales, () => going))
  let terminated = 0
  for (let round = 0; round < 8; round++) {
    const before = sales.length
    await until('sales go on', () => sales.length > before + 15)
    const [row] = await database.query<{ count: number }>(
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
  const client = await database.connect()
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
      // On another connection: inside a transaction the view stays as it was at its first reading.
      await database.query(
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
  const sales: Sale[] = []
  let going = true
  const sellers = range(6).map(() => sell(at, sales, () => going))
  await until('sales go on', () => sales.length > 20)
  await server.stop()
  await until('it is noticed', async () => (await at(0).read(reserved)).status === 503)
  for (const index of [0, 1]) {
    const bank = at(index)
    const answers = [
      await bank.reserve(newId()),
      await bank.read(reserved),
      await bank.confirm(other),
      await bank.confirm(confirmed),
    ]
    answers.push(await bank.cancel(other), await bank.qr(confirmed), await bank.tariffs())
    for (const answer of answers) assertError(answer, 503)
    // The catalogue is in memory.
    assert.equal((await bank.operators()).status, 200)
    const process = processes[index] as PerklineProcess
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

  server = await startEmbeddedDatabase({ dataDir: dataDir() })
  const backAt = performance.now()
  for (const index of [0, 1]) {
    const answer = await persist(() => at(index).reserve(newId()), [201])
    assert.equal(answer.status, 201)
  }
  assert.ok(performance.now() - backAt < 5_000, `${performance.now() - backAt} ms`)
  assert.equal((await processes[0].call('GET', '/health/ready')).status, 200)
  going = false
  await Promise.all(sellers)
  await proveAll([...allSales, ...sales])
})

test('every free profile can still be sold, and no more than those', async () => {
  const { free } = await proveBooks(database, new Date())
  assert.ok(free > 0)
  const answers = await each(range(free + 10), 32, index => at(index).reserve(newId()))
  assert.deepEqual(tally(answers), { 201: free, 503: 10 })
  assert.equal((await proveBooks(database, new Date())).free, 0)
})

test('no activation code, ICCID, token, secret or address is in the database’s files, its log or the processes’ output', async () => {
  await database.execute('checkpoint').catch(() => {})
  for (const process of processes) ended.push(process)
  await Promise.all(processes.map(process => process.stop()))
  await server.stop()
  const [, line = ''] = [...profileLines({ count: 1, seed: 7_777 })]
  const [iccid = '', msisdn = ''] = line.split(',')
  const secrets = [
    'smdp.example.com',
    iccid.slice(0, 12),
    'customer-of-beta',
    tokens.alpha ?? '',
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
  for (const process of ended) assert.ok(!/"statusCode":500|unexpected error/.test(process.output()), 'a fault of ours')
})
