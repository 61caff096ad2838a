/**
 * Processes whose machines' clocks differ (contract/reliability.md, "Clocks"): every rule uses the database's clock.
 */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { followDatabaseClock, machineOffsetMs, realMs } from '../../src/clock.ts'
import { createTestDatabase } from '../support/database.ts'
import { type Bank, bankAt, range, until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'

const aheadSeconds = 90
const password = 'correct horse battery staple'

/** Environment variables with which `faketime` reads a program's clock from a file, which can change while it runs. */
const fakedBy = (file: string) => ({
  LD_PRELOAD: '/usr/$LIB/faketime/libfaketime.so.1',
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
})

test('one of two processes 90 s ahead, then 90 s behind: tokens, reservations and instants hold', async t => {
  if (!requireProgram(t, 'faketime')) return
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-clocks-'))
  await chmod(folder, 0o755)
  const clockFile = join(folder, 'clock')
  const settings = sharedSettings(database.url, folder)
  const metricsPort = String(await freePort())
  const processes: PerklineProcess[] = []
  try {
    const right = await startProcess(settings)
    processes.push(right)
    await writeFile(clockFile, `+${aheadSeconds}`)
    const wrong = await startProcess({ ...settings, ...fakedBy(clockFile), METRICS_PORT: metricsPort })
    processes.push(wrong)
    assert.match(wrong.output(), /"offsetSeconds":90.*the clock of this machine differs/)
    assert.doesNotMatch(right.output(), /offsetSeconds/)
    await openShop(right, { profiles: 100, seed: 7 })
    await right.admin('POST', '/users', { bank: 'alpha', login: 'anna', role: 'ADMIN', password })
    const offset = () => offsetAt(metricsPort)
    const pairs = [
      [right, wrong],
      [wrong, right],
    ] as const

    for (const skew of [aheadSeconds, -aheadSeconds]) {
      // In the second round, this makes the clock of the running process jump.
      await writeFile(clockFile, `${skew > 0 ? '+' : ''}${skew}`)
      await until('the metric tells', async () => Math.abs((await offset()) - skew) < 2)
      for (const [one, other] of pairs) await proveTogether(one, other, `${skew} ${one === right}`)
    }
    const violations = await right.admin('GET', '/audit')
    assert.deepEqual(violations.violations ?? [], [])
  } finally {
    for (const process of processes) await process.kill()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})

async function offsetAt(port: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^perkline_clock_offset_seconds (\S+)$/m.exec(text)?.[1])
}

/** Asserts that tokens of one process work at both, and that one process confirms what the other has reserved. */
async function proveTogether(one: PerklineProcess, other: PerklineProcess, name: string): Promise<void> {
  const issued = await one.admin('POST', '/credentials', { bank: 'alpha', role: 'ADMIN', label: name })
  const tokens = [
    await one.call('POST', '/getToken/auth', { body: issued }),
    await one.call('POST', '/auth/login', { body: { typeAccount: 'bank', login: 'anna', password } }),
  ].map(({ body }) => body.access_token as string)
  for (const token of tokens)
    for (const at of [one, other]) {
      const { status, text } = await at.call('GET', '/cashbacks/for-bank', { token })
      assert.equal(status, 200, text)
    }
  const [token = ''] = tokens
  await Promise.all(range(5).map(n => proveOrder(bankAt(one, token), bankAt(other, token), `${name} ${n}`)))
}

async function proveOrder(one: Bank, other: Bank, externalId: string): Promise<void> {
  const beforeMs = Date.now()
  const reserved = await one.reserve(externalId)
  assert.equal(reserved.status, 201, reserved.text)
  const leftMs = Date.parse(reserved.body.reservedUntil) - Date.now()
  assert.ok(Math.abs(leftMs - 15 * 60_000) < 2_000 + (Date.now() - beforeMs), `${leftMs} ms`)
  const confirmed = await other.confirm(reserved.body.orderId)
  assert.equal(confirmed.status, 200, confirmed.text)
  const { createdAt, confirmedAt } = (await one.read(reserved.body.orderId)).body
  assert.ok(createdAt <= confirmedAt, `${createdAt} ${confirmedAt}`)
}

suite('the database’s time', () => {
  const answer = (databaseMs: number) => followDatabaseClock(async () => [{ databaseMs }])
  test('is taken over, and a slow answer corrects only what it shows to be wrong', async () => {
    try {
      await answer(Date.now() - 50_000)
      assert.ok(Math.abs(machineOffsetMs() - 50_000) < 1_000)
      const heldMs = realMs() - performance.now()
      await followDatabaseClock(async () => {
        const databaseMs = realMs()
        await sleep(20)
        return [{ databaseMs }]
      })
      assert.equal(realMs() - performance.now() - heldMs < 1, true)
      await assert.rejects(followDatabaseClock(async () => Promise.reject(new Error('away'))))
      assert.ok(Math.abs(machineOffsetMs() - 50_000) < 1_000)
    } finally {
      await answer(Date.now())
    }
  })
})
