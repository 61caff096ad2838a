/**
 * The disk of the database fills up during sales and uploads (contract/reliability.md, "When something is away"); `npm
 * run chaos` runs longer.
 */
import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { createFileMailer } from '../../src/esim/delivery/mail.ts'
import { createTestDatabase } from '../support/database.ts'
import { range, until } from '../support/esim.ts'
import { type Figures, sellOnFullDisk } from '../support/full-disk.ts'
import { startOwnShop } from '../support/own-shop.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { openSmallDisk } from '../support/small-disk.ts'
import { keepServer, startWorld } from '../support/world.ts'

const profiles = 5_000
/** Two rounds: one in which tables can't grow, and one in which PostgreSQL's write-ahead log can't grow either. */
const rounds = { profiles, goesOn: (done: number) => done < 2 }
const megabytes = 768

function tell(t: TestContext, figures: Figures): void {
  assert.ok(figures.refused > 0 && figures.uploadsRefused > 0, JSON.stringify(figures))
  t.diagnostic(JSON.stringify(figures))
}

test('the embedded database: 503 and never 500, nothing lost, and with room again sales go on by themselves', async t => {
  const disk = openSmallDisk(t, megabytes)
  if (!disk) return
  try {
    const shop = await startOwnShop({ parent: disk.folder, profiles, seed: 7_101 })
    try {
      tell(t, await sellOnFullDisk(shop, disk, rounds))
    } finally {
      await shop.close()
    }
  } finally {
    await disk.close()
  }
})

test('a database server of others, which is started again whenever it ends: the same over two processes', async t => {
  const disk = openSmallDisk(t, megabytes)
  if (!disk) return
  try {
    const world = await startWorld({ processes: 2, profiles, seed: 7_102, parent: disk.folder })
    const server = keepServer(world)
    try {
      tell(t, await sellOnFullDisk({ ...world, connection: world.server.connection }, disk, rounds))
    } catch (error) {
      const words = (await readFile(join(world.folder, 'server/postgres.log'), 'utf8')).split('\n').slice(-30)
      t.diagnostic(`the server’s last words:\n${words.join('\n')}`)
      for (const each of world.processes) t.diagnostic(each.output().split('\n').slice(-10).join('\n'))
      throw error
    } finally {
      await server.leave()
      await world.close()
    }
  } finally {
    await disk.close()
  }
})

test('the embedded database on a disk that is full already: its start fails, and goes well in the same process once there is room', async t => {
  const disk = openSmallDisk(t, 256)
  if (!disk) return
  const dataDir = join(disk.folder, 'data')
  try {
    for (const what of ['made', 'kept']) {
      await disk.fill()
      for (const _ of range(3))
        await assert.rejects(startEmbeddedDatabase({ dataDir }), (error: Error) => !/in use/.test(error.message), what)
      await disk.makeRoom()
      await (await startEmbeddedDatabase({ dataDir })).stop()
    }
  } finally {
    await disk.close()
  }
})

test('the sandbox’s messages: one that has no room is not sent, leaves no piece of itself, and may be sent later', async t => {
  const disk = openSmallDisk(t, 1)
  if (!disk) return
  const directory = join(disk.folder, 'mail')
  const mailer = createFileMailer({ directory, from: 'Perkline <no-reply@perkline.example>' })
  const send = () =>
    mailer.send({
      to: 'olena@customer.example',
      activationCode: 'LPA:1$smdp.example.com$7F3A',
      qrPng: Buffer.alloc(5_000),
      operatorName: 'Київстар',
      operatorNameEn: 'Kyivstar',
      tariffName: 'Europe 10 GB',
      bankName: 'Alpha Bank',
      orderId: '0b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11',
    })
  try {
    assert.equal(await send(), 'sent')
    await disk.fill()
    await sleep(2)
    assert.equal(await send(), 'failed')
    assert.equal((await readdir(directory)).length, 1)
    await disk.makeRoom()
    assert.equal(await send(), 'sent')
    assert.equal((await readdir(directory)).length, 2)
  } finally {
    await disk.close()
  }
})

test('the log: the platform starts, serves and stops although the log has no room, and logs again once there is room', async t => {
  const disk = openSmallDisk(t, 1)
  if (!disk) return
  const database = await createTestDatabase()
  const path = join(disk.folder, 'perkline.log')
  const log = await open(path, 'a')
  const folder = await mkdtemp(join(tmpdir(), 'perkline-log-'))
  try {
    await disk.fill()
    const platform = await startProcess(sharedSettings(database.url, folder), log.fd)
    for (const _ of range(50)) assert.equal((await platform.call('GET', '/esim/v1/operators')).status, 401)
    await disk.makeRoom()
    await until('it writes on', async () => {
      assert.equal((await platform.call('GET', '/health/live')).status, 200)
      return /"route":"\/health\/live"/.test(await readFile(path, 'utf8'))
    })
    await disk.fill()
    assert.equal((await platform.call('GET', '/health/live')).status, 200)
    assert.equal(await platform.stop(), 0, platform.output())
  } finally {
    await log.close()
    await database.close()
    await rm(folder, { recursive: true })
    await disk.close()
  }
})
