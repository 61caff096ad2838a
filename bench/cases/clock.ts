/**
 * Many campaigns that start or end at one instant. The part `start` measures how long a thousand campaigns, among many
 * others, take until the last one has started. The part `end` measures how long ten thousand campaigns of ten banks take
 * until the last one has ended and their events are in the feeds, and how this affects other requests.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { copyCampaigns } from '../../test/support/campaign-moves.ts'
import { atMost, type Bench, type Case, runParts, using } from '../bench.ts'
import { banksCount, type CampaignPlatform, launchCampaign, serveCampaigns } from '../campaigns.ts'
import { requireExpected, runLoad } from '../load.ts'
import type { Figure } from '../report.ts'

const atOneInstant = 1_000
const targetSeconds = 2
const banksOfEnding = 10
const endTargetSeconds = 10
const feedTargetSeconds = 5
const maxRatio = 2
/** How long before their end the campaigns get it. */
const changeMs = 5_000
const dayMs = 86_400_000

const parts: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  start: bench => using(serveCampaigns(bench, 'bench_clock'), platform => measure(bench, platform)),
  end: bench =>
    using(serveCampaigns(bench, 'bench_clock_end', {}, banksOfEnding), platform => measureEnd(bench, platform)),
}

export const clockCase: Case = {
  name: 'clock',
  run: bench => runParts(bench, parts),
}

async function measure(bench: Bench, platform: CampaignPlatform) {
  const others = bench.quick ? 5_000 : 100_000
  await makeOthers(platform, others)
  let start = 0
  for (let round = 0; round < (bench.quick ? 1 : 3); round++) start = Math.max(start, await untilStarted(platform))
  const jump = await jumpOverAll(platform)
  const name = `${atOneInstant.toLocaleString('en')} campaigns of ${banksCount} banks, among ${others.toLocaleString('en')} others`
  return [
    atMost(`${name}: from their start to the last one’s move`, start, 's', targetSeconds),
    atMost(`${name}: the sandbox clock jumps over start and end of all`, jump, 's', targetSeconds),
  ]
}

/** Makes campaigns that do not start during the measurement. Half are completed; half start far in the future. */
async function makeOthers(platform: CampaignPlatform, count: number): Promise<void> {
  const { database } = platform
  const period = { dateFrom: new Date(Date.now() + 4_000 * dayMs), dateTo: new Date(Date.now() + 5_000 * dayMs) }
  const one = await launchCampaign(platform, period)
  const batch = 5_000
  for (let made = 0; made < count; made += batch) {
    const copies = await copyCampaigns(database, one, batch)
    if (made < count / 2)
      await database.execute(`update campaigns set status = 'completed' where cashback_id = any($1)`, [copies])
  }
  await database.execute('analyze')
}

/**
 * Makes a thousand campaigns that start in a few seconds.
 * @returns the seconds from their `dateFrom` until all of them have started
 */
async function untilStarted(platform: CampaignPlatform): Promise<number> {
  const dateFrom = new Date(Date.now() + 4_000)
  await makeThousand(platform, { dateFrom, dateTo: new Date(dateFrom.getTime() + dayMs) })
  await sleep(dateFrom.getTime() - Date.now())
  for (;;) {
    const [row] = await platform.database.query<{ left: number }>(
      `select count(*) as left from campaigns where status = 'approved' and date_from <= $1`,
      [dateFrom],
    )
    if (row?.left === 0) return (Date.now() - dateFrom.getTime()) / 1_000
    await sleep(10)
  }
}

async function jumpOverAll(platform: CampaignPlatform): Promise<number> {
  await platform.call('POST', '/sandbox/clock', platform.merchantToken, { advance: 'P10D' })
  const now = Date.now() + 10 * dayMs
  await makeThousand(platform, { dateFrom: new Date(now + dayMs), dateTo: new Date(now + 2 * dayMs) })
  const start = performance.now()
  await platform.call('POST', '/sandbox/clock', platform.merchantToken, { advance: 'P3D' })
  return (performance.now() - start) / 1_000
}

async function makeThousand(platform: CampaignPlatform, period: { dateFrom: Date; dateTo: Date }): Promise<void> {
  const one = await launchCampaign(platform, period)
  await copyCampaigns(platform.database, one, atOneInstant - 1)
  if (Date.now() >= period.dateFrom.getTime()) throw new Error('The campaigns were not made in time')
}

async function measureEnd(bench: Bench, platform: CampaignPlatform): Promise<Figure[]> {
  const count = bench.quick ? 1_000 : 10_000
  await makeActive(platform, count)
  // Ending the campaigns must take less time than this load, so that the load shows how ending affects other requests.
  const quiet = await othersP99(platform, endTargetSeconds)
  // The change itself takes time, too, and must be over when the campaigns end.
  const dateTo = new Date(Date.now() + changeMs)
  await platform.database.execute('update campaigns set date_to = $1', [dateTo])
  if (Date.now() >= dateTo.getTime()) throw new Error('The ends were not set in time')
  await sleep(dateTo.getTime() - Date.now())
  const busy = othersP99(platform, endTargetSeconds)
  // With the time, the index of ends finds the campaigns. A walk over all of them would slow down what is measured.
  await untilNone(platform, `status = 'active' and date_to <= now()`)
  const seconds = (Date.now() - dateTo.getTime()) / 1_000
  await untilNumbered(platform)
  const numbered = (Date.now() - dateTo.getTime()) / 1_000 - seconds
  const ratio = (await busy) / quiet
  const name = `${count.toLocaleString('en')} campaigns of ${banksOfEnding} banks end at one instant`
  return [
    atMost(`${name}: until the last one has moved`, seconds, 's', endTargetSeconds),
    atMost(`${name}: from then until all their events are in the feeds`, numbered, 's', feedTargetSeconds),
    {
      name: `${name}: p99 of other requests`,
      ours: `${(ratio * quiet).toFixed(1)} ms`,
      limit: `${quiet.toFixed(1)} ms`,
      ratio,
      target: `<= ${maxRatio} times that without`,
      pass: ratio <= maxRatio,
    },
  ]
}

/** Makes active campaigns by copying one that all banks take part in. */
async function makeActive(platform: CampaignPlatform, count: number): Promise<void> {
  const one = await launchCampaign(platform, {
    dateFrom: new Date(Date.now() - dayMs),
    dateTo: new Date(Date.now() + dayMs),
  })
  await untilNone(platform, `status = 'approved'`)
  const batch = 500
  for (let made = 1; made < count; made += batch) await copyCampaigns(platform.database, one, batch)
  await platform.database.execute('analyze')
}

async function untilNone(platform: CampaignPlatform, condition: string): Promise<void> {
  for (;;) {
    const [row] = await platform.database.query<{ left: boolean }>(
      `select exists (select from campaigns where ${condition}) as left`,
    )
    if (!row?.left) return
    await sleep(50)
  }
}

/** Waits until the feeds contain all events that are in the outbox when this is called. */
async function untilNumbered({ database }: CampaignPlatform): Promise<void> {
  const [last] = await database.query<{ xid: string }>('select max(xid::text::bigint)::text as xid from outbox')
  for (;;) {
    const [row] = await database.query<{ done: boolean }>(
      `select towards is null and pg_visible_in_snapshot($1::xid8, snapshot) as done
       from event_ticks where consumer = 'events' order by tick_id desc limit 1`,
      [last?.xid],
    )
    if (row?.done) return
    await sleep(50)
  }
}

async function othersP99({ port, bankTokens: [token = ''] }: CampaignPlatform, seconds: number): Promise<number> {
  const load = { kind: 'get' as const, paths: ['/retailers'] }
  const result = await runLoad({ ports: [port], token, connections: 2, seconds, load, pauseMs: 5 })
  requireExpected(result)
  return result.answered.get?.p99Ms ?? Number.NaN
}
