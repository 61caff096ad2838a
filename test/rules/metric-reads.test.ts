/** How metrics read from the database (contract/production.md, "Metrics"). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cached } from '../../src/server/metric-reads.ts'

test('a value outlives failing reads for 5 minutes; each failure is reported, and so is the end', async t => {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  const told: string[] = []
  const log = {
    failed: (name: string, error: unknown) => void told.push(`${name}: ${(error as Error).message}`),
    succeeded: (name: string) => void told.push(`${name} works`),
  }
  let answers: () => Promise<number> = async () => 7
  const read = cached('stock', log, () => answers())
  assert.equal(await read(), 7)
  answers = async () => {
    throw new Error('denied')
  }
  nowMs += 10_000
  assert.equal(await read(), 7)
  assert.deepEqual(told, ['stock works'], 'it reads at most every 15 seconds')
  nowMs += 10_000
  assert.equal(await read(), 7)
  assert.deepEqual(told, ['stock works', 'stock: denied'])
  nowMs += 300_000
  assert.equal(await read(), null)
  answers = async () => 8
  nowMs += 20_000
  assert.equal(await read(), 8)
  assert.deepEqual(told.slice(2), ['stock: denied', 'stock works'])
})

test('a read that takes long leaves the last value, and no second one begins beside it', async t => {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  const log = { failed() {}, succeeded() {} }
  let reads = 0
  const read = cached('stock', log, () => (reads++ === 0 ? Promise.resolve(7) : new Promise<number>(() => {})))
  assert.equal(await read(), 7)
  nowMs += 20_000
  assert.equal(await read(), 7)
  nowMs += 20_000
  assert.equal(await read(), 7)
  assert.equal(reads, 2)
})
