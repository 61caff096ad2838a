/** Plans of the busiest statements are kept as soon as all their tables have grown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createGrownTables } from '../../src/db/grown-tables.ts'

test('a table that has grown is found, even if a frequent statement reads one that stays small', async t => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const asked: string[][] = []
  const haveGrown = createGrownTables(async tables => {
    asked.push(tables)
    return tables.filter(name => name !== 'small').map(name => ({ name }))
  })
  for (nowMs = 0; nowMs <= 12_000; nowMs += 1_000) {
    haveGrown(['small'])
    haveGrown(['large', 'larger'])
    await turn()
  }
  assert.equal(haveGrown(['large', 'larger']), true)
  assert.equal(haveGrown(['small', 'large']), false)
  // Every 5 seconds, the sizes of the tables that are not known to have grown are read.
  assert.deepEqual(asked, [['small'], ['small', 'large', 'larger'], ['small']])
})
