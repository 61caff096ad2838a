/**
 * Sales, days and closings while processes are killed, checked by an independent count (contract/statements.md, "Days
 * and closing"). `npm run chaos -- statements` does it longer.
 */
import { test } from 'node:test'
import { settleUnderKills } from '../support/statement-experiments.ts'

test('processes are killed while they sell and close: each confirmed order is on exactly one statement, to the cent', async t => {
  t.diagnostic(JSON.stringify(await settleUnderKills({ rounds: 2 })))
})
