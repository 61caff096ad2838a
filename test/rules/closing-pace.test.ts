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
  assert.deepEqual(waits, [40, 60])
  await pace.pause(30, 1_400)
  assert.deepEqual(waits, [40, 60], 'the others have ended')
  await pace.pause(60_000, 2_000)
  assert.deepEqual(waits, [40, 60, 1_000], 'a pause has a bound')
})

test('a closing writes small pieces until it knows that nobody else writes', async () => {
  const pace = createPace(async () => {})
  const sizes = [pace.linesAtOnce()]
  for (const firstUnused of [1_000, 1_001, 1_004, 1_004]) {
    await pace.pause(20, firstUnused)
    sizes.push(pace.linesAtOnce())
  }
  assert.deepEqual(sizes, [100, 100, 500, 100, 500])
})
