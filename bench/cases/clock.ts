/** A thousand campaigns whose period starts at one instant, among many others: how soon the last of them has moved. */
import { setTimeout as sleep } from 'node:timers/promises'
import { copyCampaigns } from '../../test/support/campaign-moves.ts'
import { type Bench, type Case, using } from '../bench.ts'
import { banksCount, type CampaignPlatform, launchCampaign, serveCampaigns } from '../campaigns.ts'

const atOneInstant = 1_000
const targetSeconds = 2
const dayMs = 86_400_000

export const clockCase: Case = {
  name: 'clock',
  run: bench => using(serveCampaigns(bench, 'bench_clock'), platform => measure(bench, platform)),
}

async function measure(bench: Bench, platform: CampaignPlatform) {
  const others = bench.quick ? 5_000 : 100_000
  await makeOthers(platform, others)
  let start = 0
  for (let round = 0; round < (bench.quick ? 1 : 3); round++) start = Math.max(start, await untilStarted(platform))
  const jump = await jumpOverAll(platform)
  const name = `${atOneInstant.toLocaleString('en')} campaigns of ${banksCount} banks, among ${others.toLocaleString('en')} others`
  const figure = (what: string, seconds: number) => ({
    name: `${name}: ${what}`,
    ours: `${seconds.toFixed(2)} s`,
    limit: '',
    ratio: null,
    target: `<= ${targetSeconds} s`,
    pass: seconds <= targetSeconds,
  })
  return [
    figure('from their start to the last one’s move', start),
    figure('the sandbox clock jumps over start and end of all', jump),
  ]
}

/** Half of them over, half of them with their start far ahead. */
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

/** @returns the seconds from `dateFrom` until none is left that should have started */
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
