/** Feeds and webhooks in their long forms: many late commits, kills, an upload that takes minutes. The counts are fixed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { deliverUnderKills, holdOpen, killBoth, receiveByGuide, streamUnder } from '../support/event-experiments.ts'
import { requireProgram } from '../support/require-program.ts'

const minuteMs = 60_000

test('200,000 events of 64 connections that commit late or not at all', async t => {
  const options = { writers: 64, eventsEach: 50, maxDelayMs: 2_000, events: 200_000 }
  t.diagnostic(JSON.stringify(await streamUnder(options, () => sleep(1_000))))
})

test('the same, and both processes are killed 100 times', async t => {
  const options = { writers: 64, eventsEach: 10, maxDelayMs: 2_000, events: 200_000 }
  t.diagnostic(JSON.stringify(await streamUnder(options, world => killBoth(world, { rounds: 100, everyMs: 3_000 }))))
})

test('the same beside an upload that stays open for 10 minutes and a read that holds a snapshot for 90 seconds', async t => {
  const options = { writers: 64, eventsEach: 5, maxDelayMs: 2_000, events: 0 }
  const figures = await streamUnder(options, world =>
    holdOpen(world, { uploadMs: 10 * minuteMs, snapshotMs: 1.5 * minuteMs }),
  )
  t.diagnostic(JSON.stringify(figures))
  for (const [reader, { p99 }] of Object.entries(figures.lags)) assert.ok(p99 <= 1_000, `${reader}: ${p99} ms`)
})

test('killed between a 2xx and its record, 100 times', async t => {
  t.diagnostic(JSON.stringify(await deliverUnderKills({ rounds: 100, eventsEach: 10 })))
})

test('a receiver in Python by the guide alone, over 60 kills of workers and of the database', async t => {
  if (!requireProgram(t, 'python3')) return
  t.diagnostic(JSON.stringify(await receiveByGuide({ rounds: 60, eventsEach: 50 })))
})
