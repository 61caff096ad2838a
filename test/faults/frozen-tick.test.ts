/**
 * A process freezes during a tick (a run that numbers events), as on a suspended machine. It delays the ticks of other
 * processes only for seconds.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/db/database.ts'
import { sequenceEvents } from '../../src/events/sequence-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let scratch: TestDatabase
before(async () => {
  scratch = await createTestDatabase()
})
after(() => scratch.close())

test('another process takes over within 10 seconds', async t => {
  const { database } = scratch
  const [frozen, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const freezing: Database = {
    ...database,
    transaction: work =>
      database.transaction(transaction =>
        work({
          ...transaction,
          async query(statement, values) {
            // The first statement makes this process the one that runs the tick. It freezes at the second statement.
            if (++asked > 1) {
              frozen.resolve()
              await thawed.promise
            }
            return transaction.query(statement, values)
          },
        }),
      ),
  }
  const held = sequenceEvents(freezing, false).catch(error => error)
  t.after(() => thawed.resolve())
  await frozen.promise
  assert.equal(await sequenceEvents(database, false), null, 'it is held')
  const giveUpAtMs = performance.now() + 10_000
  while ((await sequenceEvents(database, false)) === null) {
    assert.ok(performance.now() < giveUpAtMs)
    await sleep(100)
  }
  thawed.resolve()
  assert.equal((await held).code, 'unavailable', 'its tick is lost as a whole')
})
