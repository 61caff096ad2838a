/** When refusals are written (contract/audit-log.md, "Refusals"); test/api/audit-log tests their content. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRefusalSums } from '../../src/access/refusal-sums.ts'
import type { Database } from '../../src/db/database.ts'

test('refusals are written ten minutes after the first one, together', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const written: { outcome: string; change: Record<string, unknown> }[] = []
  const execute = async (statement: string | { name: string }, params: unknown[] = []) => {
    if (typeof statement === 'object' && statement.name === 'events.tell-rows')
      written.push(...JSON.parse(String(params[3])))
  }
  const transaction = { execute } as unknown as Database
  const database = {
    execute,
    transaction: (work: (within: Database) => unknown) => work(transaction),
  } as unknown as Database
  const sums = createRefusalSums(database, assert.ifError)
  const refuse = (address: string) =>
    sums.add({ action: 'login.refused', caller: null, trace: { via: 'api', requestId: 'x', address } })
  const pass = async (minutes: number) => {
    t.mock.timers.tick(minutes * 60_000)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
  refuse('192.0.2.1')
  await pass(6)
  refuse('192.0.2.2')
  await pass(3)
  assert.equal(written.length, 0)
  await pass(1)
  const [first] = written
  assert.equal(written.length, 1)
  assert.deepEqual([first?.outcome, first?.change.tries, first?.change.addresses], ['refused', [null, 2], [null, 2]])
  await pass(20)
  assert.equal(written.length, 1, 'nothing was refused since')
  refuse('192.0.2.1')
  await pass(10)
  assert.equal(written.length, 2)
})
