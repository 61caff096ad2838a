import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace } from '../../src/statements/pace.ts'

test('a closing pauses in proportion to its pieces only while others write', async () => {
  const waits: number[] = []
  const pace = createPace(async ms => waits.push(ms))
  await pace.pause(20, 1_000)
  assert.deepEqual(waits, [], 'nobody is known to write after the first piece')
  await pace.pause(20, 1_000)
  await pace.pause(20, 1_001)
  assert.deepEqual(waits, [], 'the transaction of the next statement is no reason')
  await pace.pause(20, 1_004)
  await pace.pause(30, 1_400)
  assert.deepEqual(waits, [80, 120])
  await pace.pause(60_000, 2_000)
  assert.deepEqual(waits, [80, 120, 1_000], 'a pause has a bound')
})

test('a closing writes small pieces until it knows that nobody else writes', async () => {
  const pace = createPace(async () => {})
  const sizes = [pace.linesAtOnce()]
  for (const firstUnused of [1_000, 1_001, 1_004]) {
    await pace.pause(20, firstUnused)
    sizes.push(pace.linesAtOnce())
  }
  assert.deepEqual(sizes, [50, 50, 500, 50])
})

test('a closing stays careful for some pieces, because others may write nothing during a short piece', async () => {
  const waits: number[] = []
  const pace = createPace(async ms => waits.push(ms))
  await pace.pause(1, 1_000)
  await pace.pause(1, 1_010)
  for (let piece = 1; piece < 100; piece++) {
    await pace.pause(1, 1_010)
    assert.equal(pace.linesAtOnce(), 50)
  }
  assert.equal(waits.length, 100)
  await pace.pause(1, 1_010)
  assert.equal(pace.linesAtOnce(), 500)
  assert.equal(waits.length, 100, 'the others have ended')
})
