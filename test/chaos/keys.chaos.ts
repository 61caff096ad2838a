/**
 * Idempotency-Key in its long forms: 500 rounds of 20 equal requests at once with one key behind haproxy, and 200 kills
 * between commit and answer.
 */
import { test } from 'node:test'
import { createTogether, createUnderKills } from '../support/key-experiments.ts'

test('500 rounds: 20 creates with one key at two processes behind haproxy make one campaign', async t => {
  t.diagnostic(JSON.stringify(await createTogether({ rounds: 500 })))
})

test('200 kills between commit and answer: each campaign is there once, and repeats get the same bytes', async t => {
  t.diagnostic(JSON.stringify(await createUnderKills({ rounds: 100 })))
})
