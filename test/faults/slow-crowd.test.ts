/**
 * 500 connections that send very slowly (contract/reliability.md, "Experiments"): how they affect others, measured
 * alternately with and without them in one run, and how soon they are closed.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { range } from '../support/esim.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { openRaw, requestText } from '../support/raw-http.ts'
import { openShop } from '../support/world.ts'

const attackers = 500
const rounds = 3
const asksPerRound = 150
/** How much a pause of a shared machine may add to the slowest answers of a round. */
const noiseMs = 25
const goneWithinMs = 11_000

let database: TestDatabase
let folder: string
let platform: PerklineProcess
let token: string
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'perkline-crowd-'))
  platform = await startProcess(sharedSettings(database.url, folder))
  token = (await openShop(platform, { profiles: 5, seed: 7_601 })).alpha
})
after(async () => {
  await platform.kill()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

const length = { 'content-type': 'application/json', 'content-length': '5000' }
const beginnings = [
  ['GET /health/live HTTP/1.1\r\nhost: a\r\nx-slow: ', 'x'],
  [requestText('POST', '/getToken/auth', length), ' '],
  [requestText('POST', '/esim/v1/orders', length), ' '],
] as const

/**
 * Opens all connections; each writes a byte from time to time.
 * @returns a function that ends them
 */
async function attack(): Promise<{ sockets: Socket[]; end(): void }> {
  const sockets: Socket[] = []
  for (const _ of range(attackers / 50))
    sockets.push(...(await Promise.all(range(50).map(() => openRaw(platform.url)))))
  const kinds = [
    ...beginnings,
    [requestText('POST', '/esim/v1/orders', { ...length, authorization: `Bearer ${token}` }), ' '],
  ]
  sockets.forEach((socket, index) => {
    socket.resume()
    socket.write(kinds[index % kinds.length]?.[0] ?? '')
  })
  const trickling = setInterval(() => {
    sockets.forEach((socket, index) => {
      if (socket.writable) socket.write(kinds[index % kinds.length]?.[1] ?? '')
    })
  }, 500)
  return {
    sockets,
    end() {
      clearInterval(trickling)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Sends requests one after the other.
 * @returns how long each took
 */
async function ask(): Promise<number[]> {
  const took: number[] = []
  for (let asked = 0; asked < asksPerRound; asked++) {
    const startedMs = performance.now()
    const path = asked % 2 === 0 ? '/esim/v1/operators' : '/esim/v1/operators/kyivstar/tariffs'
    assert.equal((await platform.call('GET', path, { token })).status, 200)
    took.push(performance.now() - startedMs)
    await sleep(2)
  }
  return took
}

const p99 = (took: readonly number[]): number => took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0

test(`${attackers} slow connections: the others’ p99 at most doubles, and the slow are cut off within about 10 seconds`, async t => {
  await ask()
  const figures: { quiet: number; crowded: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const quiet = p99(await ask())
    const crowd = await attack()
    const crowded = p99(await ask())
    assert.ok(
      crowd.sockets.filter(({ closed }) => !closed).length > attackers * 0.9 || crowded > 1_000,
      'they were there',
    )
    figures.push({ quiet, crowded })
    if (round < rounds - 1) crowd.end()
    else await proveGone(crowd.sockets).finally(crowd.end)
  }
  t.diagnostic(JSON.stringify(figures.map(({ quiet, crowded }) => [quiet, crowded].map(Math.round))))
  // One good round is enough: other programs disturb only some rounds, but slow clients would disturb every round.
  assert.ok(
    figures.some(({ quiet, crowded }) => crowded <= 2 * quiet + noiseMs),
    JSON.stringify(figures),
  )
})

async function proveGone(sockets: readonly Socket[]): Promise<void> {
  const giveUpAtMs = performance.now() + goneWithinMs
  const left = () => sockets.filter(({ closed }) => !closed).length
  while (left() > 0) {
    assert.ok(performance.now() < giveUpAtMs, `${left()} are still there`)
    await sleep(50)
  }
}
