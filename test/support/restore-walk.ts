/** The steps of docs/backup.md with the shipped files: back up, lose the machine during sales, restore, verify, continue. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startArchivedServer } from './archived-server.ts'
import { perkline } from './command.ts'
import { bankAt, range } from './esim.ts'
import { binaries } from './patroni.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from './process.ts'
import { requireProgram } from './require-program.ts'
import { openShop } from './world.ts'

const readAtOnce = 20
/** The last sale must be at most this long before the loss of the machine. An earlier end of the sales makes the test too easy. */
const sellsWithinMs = 2_000

export type RestoreWalk = {
  /** The setting `archive_timeout`, in seconds. It is 60 in the shipped configuration. */
  archiveSeconds: number
  sellMs: number
  sellers: number
  /** The rate that the sellers keep together, if the machine can. */
  ordersPerSecond: number
  profiles: number
  /** The number of instants to restore to, spread over the sales. */
  instants: number
}

const toSeconds = (ms: number): number => Math.round(ms / 100) / 10

type Sold = { externalId: string; orderId: string; beganAt: Date; endedAt: Date }

/** Sells until the machine fails. */
function sellAll(platform: PerklineProcess, token: string, { sellers, ordersPerSecond }: RestoreWalk) {
  const everyMs = (sellers * 1_000) / ordersPerSecond
  const bank = bankAt(platform, token)
  const sold: Sold[] = []
  let going = true
  const selling = range(sellers).map(async seller => {
    let dueMs = performance.now()
    for (let next = 0; going; next++) {
      const [externalId, beganAt] = [`walk-${seller}-${next}`, new Date()]
      const reserved = await bank.reserve(externalId).catch(() => null)
      const { orderId = '' } = reserved?.status === 201 ? reserved.body : {}
      const confirmed = orderId === '' ? null : await bank.confirm(orderId).catch(() => null)
      if (confirmed?.status === 200) sold.push({ externalId, orderId, beganAt, endedAt: new Date() })
      dueMs = Math.max(dueMs + everyMs, performance.now() - everyMs)
      await sleep(Math.max(0, dueMs - performance.now()))
    }
  })
  const end = async () => {
    going = false
    await Promise.all(selling)
  }
  return { sold, end }
}

async function foundAt(platform: PerklineProcess, token: string, sold: readonly Sold[]): Promise<Set<string>> {
  const bank = bankAt(platform, token)
  const found = new Set<string>()
  const left = sold.values()
  const look = async () => {
    for (const { orderId } of left) {
      const { status, body } = await bank.read(orderId)
      if (status === 200 && body.status === 'confirmed') found.add(orderId)
    }
  }
  await Promise.all(range(readAtOnce).map(look))
  return found
}

function canArchive(t: TestContext): boolean {
  if (!requireProgram(t, 'pgbackrest')) return false
  if (existsSync(join(binaries, 'initdb'))) return true
  assert.ok(!process.env.REQUIRE_ALL_TESTS, `there is no PostgreSQL in ${binaries}`)
  t.skip(`there is no PostgreSQL in ${binaries}`)
  return false
}

/** Loses a machine during sales. Restores it to the end of its archive, and to earlier instants. */
export async function walkRestore(t: TestContext, walk: RestoreWalk): Promise<void> {
  const { archiveSeconds, sellMs } = walk
  if (!canArchive(t)) return
  const server = await startArchivedServer(archiveSeconds)
  const settings: Settings = { ...sharedSettings(server.url, server.folder), LOG_LEVEL: 'error', DATABASE_POOL: '4' }
  const running: PerklineProcess[] = []
  const start = async (url: string, ...args: string[]) => {
    const started = await startProcess({ ...settings, DATABASE_URL: url }, undefined, ['serve', ...args])
    running.push(started)
    return started
  }
  const command = (words: string[], at = '') =>
    perkline(words, {
      cwd: server.folder,
      env: { MASTER_KEY: settings.MASTER_KEY ?? '', OPERATOR_KEY: settings.OPERATOR_KEY ?? '', PERKLINE_URL: at },
    })
  const expectDone = async (words: string[], at?: string) => {
    const { code, stdout, stderr } = await command(words, at)
    assert.equal(code, 0, `perkline ${words.join(' ')}: ${stdout}${stderr}`)
  }
  try {
    const platform = await start(server.url)
    const { alpha } = await openShop(platform, { profiles: walk.profiles, seed: 7_970 })
    const sales = sellAll(platform, alpha, walk)
    await server.backUp()
    const startedAtMs = Date.now()
    const soldBefore = sales.sold.length
    await sleep(sellMs)
    // All instants are in the first half of the sales, because the write-ahead log of later ones may not be archived
    // yet.
    const targets = range(walk.instants).map(
      index => new Date(startedAtMs + (sellMs / 2) * ((index + 0.5) / walk.instants)),
    )
    const diedAt = Date.now()
    server.crash()
    await sales.end()
    await platform.kill()
    const { sold } = sales
    const lastSaleMs = sold.reduce((last, { endedAt }) => Math.max(last, endedAt.getTime()), 0)
    assert.ok(diedAt - lastSaleMs < sellsWithinMs, `the last sale was ${diedAt - lastSaleMs} ms before the end`)

    await t.test('everything that was archived is there', async t => {
      const restoringMs = performance.now()
      const url = await server.restore(null)
      const restoredMs = performance.now()
      await expectDone(['backup', 'verify', '--database-url', url])
      const verifiedMs = performance.now()
      const found = await foundAt(await start(url), alpha, sold)
      const missing = sold.filter(({ orderId }) => !found.has(orderId))
      const oldestMs = missing.reduce((most, { endedAt }) => Math.max(most, diedAt - endedAt.getTime()), 0)
      const figures = {
        restoreSeconds: toSeconds(restoredMs - restoringMs),
        verifySeconds: toSeconds(verifiedMs - restoredMs),
        ordersPerSecond: Math.round((sold.length - soldBefore) / ((diedAt - startedAtMs) / 1_000)),
      }
      t.diagnostic(JSON.stringify({ acknowledged: sold.length, missing: missing.length, oldestMs, ...figures }))
      assert.ok(oldestMs < (archiveSeconds + 5) * 1_000, `an order is missing that was ${oldestMs} ms old`)
    })

    for (const target of targets)
      await t.test(`to ${target.toISOString()}: exactly what was sold before it`, async t => {
        const url = await server.restore(target)
        await expectDone(['backup', 'verify', '--database-url', url])
        const quiet = await start(url, '--only', 'admin')
        await expectDone(['events', 'restart-feeds'], quiet.url)
        await expectDone(['statements', 'verify'], quiet.url)
        assert.equal(
          (await quiet.call('GET', '/esim/v1/operators', { token: alpha })).status,
          404,
          'no partner reaches it',
        )
        const restored = await start(url)
        const found = await foundAt(restored, alpha, sold)
        const wrong = sold.filter(({ orderId, beganAt, endedAt }) =>
          found.has(orderId) ? beganAt > target : endedAt < target,
        )
        t.diagnostic(JSON.stringify({ acknowledged: sold.length, before: found.size }))
        assert.deepEqual(wrong, [])
        assert.ok(found.size > 0 && found.size < sold.length)
        assert.equal((await bankAt(restored, alpha).reserve('after the restore')).status, 201)
        await expectDone(['audit'], restored.url)
        for (const each of [quiet, restored]) await each.kill()
      })
  } finally {
    for (const started of running) await started.kill()
    server.close()
  }
}
