/**
 * The long forms of the tests of daily statements: processes are killed while days are closed, a list is read for minutes
 * during sales, and a lock delays 200 confirms until their day is closed.
 */
import process from 'node:process'
import { test } from 'node:test'
import { settleUnderKills, walkWhileSelling } from '../support/statement-experiments.ts'

const minuteMs = 60_000

test('60 rounds of sales and closings, with processes that are killed in each', async t => {
  t.diagnostic(JSON.stringify(await settleUnderKills({ rounds: 60 })))
})

test('a list is walked up for 10 minutes while orders are made as fast as the machine makes them', async t => {
  t.diagnostic(JSON.stringify(await walkWhileSelling({ forMs: 10 * minuteMs, profiles: 100_000 })))
})

// Runs the tests of closings with 200 rounds in which a lock delays a confirm.
process.env.HELD_ROUNDS = '200'
await import('../api/statements/closing.test.ts')
