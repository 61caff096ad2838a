/**
 * A database that accepts no connections, for any reason, or is read only: every answer is 503, and sales continue as soon as it works
 * again.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { DomainError } from '../../src/errors.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { assertError, type Bank, openBank, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const role = `perkline_refused_${randomBytes(6).toString('hex')}`
let platform: TestPlatform
let bank: Bank
let name: string
let admin: pg.Client
let other: TestDatabase
before(async () => {
  // The test connects to a database of its own, because the platform's database accepts no connections for a while.
  other = await createTestDatabase()
  // Only a superuser may create a role; the test servers have `postgres`, which may log in from this machine.
  const url = new URL(other.url)
  url.username = 'postgres'
  admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`create role ${role} superuser login`)
  platform = await startPlatform({ LOG_LEVEL: 'silent' }, { user: role })
  name = new URL(platform.databaseUrl).pathname.slice(1)
  await platform.addStock('kyivstar', 'eu-10gb', 50)
  bank = await openBank(platform)
})
after(async () => {
  await platform?.close()
  await admin.query(`drop role if exists ${role}`)
  await admin.end()
  await other.close()
})

const endSessions = () =>
  admin.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [name])

let lastId = 0
async function assertAway(orderId: string): Promise<void> {
  const credential = { clientId: 'pk_0123456789abcdef01234567', secret: 'x' }
  for (let round = 0; round < 3; round++) {
    assertError(await bank.reserve(`away-${++lastId}`), 503)
    assertError(await bank.confirm(orderId), 503)
    assertError(await bank.read(orderId), 503)
    assert.equal((await platform.call('POST', '/getToken/auth', { body: credential })).status, 503)
    assert.equal((await platform.call('GET', '/health/ready')).status, 503)
  }
}

for (const [what, away, back] of [
  ['its user may not log in', () => `alter role ${role} nologin`, () => `alter role ${role} login`],
  [
    'it allows no connections',
    () => `alter database ${name} allow_connections false`,
    () => `alter database ${name} allow_connections true`,
  ],
] as const)
  test(`${what}: 503, and when it may again, sales go on`, async () => {
    const { orderId } = (await bank.reserve(`before-${++lastId}`)).body
    await admin.query(away())
    try {
      await endSessions()
      await assertAway(orderId)
    } finally {
      await admin.query(back())
    }
    await until('it sells', async () => (await bank.reserve(`back-${++lastId}`)).status === 201)
  })

test('it is read only, as a standby: what writes is 503', async () => {
  await admin.query(`alter role ${role} set default_transaction_read_only = on`)
  try {
    await endSessions()
    for (let round = 0; round < 3; round++) assertError(await bank.reserve(`read-only-${++lastId}`), 503)
  } finally {
    await admin.query(`alter role ${role} reset default_transaction_read_only`)
    await endSessions()
  }
  await until('it sells', async () => (await bank.reserve(`written-${++lastId}`)).status === 201)
})

test('it cannot begin sessions, because its disk is full: it counts as away', async () => {
  const server = createServer(socket => {
    const fields = ['SFATAL', 'VFATAL', 'CXX000', 'Mcould not write init file'].map(field => `${field}\0`).join('')
    const length = Buffer.alloc(4)
    length.writeInt32BE(4 + fields.length + 1)
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(`${fields}\0`)])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const database = openDatabase({
    connection: { host: '127.0.0.1', port, user: 'perkline', database: 'perkline' },
    poolSize: 1,
  })
  const isAway = (error: unknown) => error instanceof DomainError && error.code === 'unavailable'
  try {
    await assert.rejects(database.query('select 1'), isAway)
    await assert.rejects(
      database.longRead('files', async () => {}),
      isAway,
    )
    await assert.rejects(database.connect(), isAway)
  } finally {
    await database.close()
    server.close()
  }
})
