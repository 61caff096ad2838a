/**
 * Feeds and webhooks whose processes are killed (contract/events.md, "The feed"; contract/webhooks.md, "The log"). `npm run chaos --
 * events` does it longer.
 */
import { test } from 'node:test'
import { deliverUnderKills, holdOpen, killBoth, streamUnder } from '../support/event-experiments.ts'

test('both processes are killed, an upload and a snapshot stay open: every committed event is in the feed once', async t => {
  const figures = await streamUnder({ writers: 16, eventsEach: 10, maxDelayMs: 1_000, events: 1_000 }, async world => {
    await Promise.all([
      killBoth(world, { rounds: 3, everyMs: 3_000 }),
      holdOpen(world, { uploadMs: 8_000, snapshotMs: 6_000 }),
    ])
  })
  t.diagnostic(JSON.stringify(figures))
})

test('killed between a 2xx and its record, a delivery is made again with the same id and bytes', async t => {
  t.diagnostic(JSON.stringify(await deliverUnderKills({ rounds: 3, eventsEach: 5 })))
})
