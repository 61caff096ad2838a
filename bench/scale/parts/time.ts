/**
 * Measures how long the platform takes for work that becomes due at one instant: the end of many periods, or the expiry of many
 * reservations. It also measures how long a move of the clock takes when nothing is due.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../../bench.ts'
import { freshPrefix } from '../../bench.ts'
import { requireExpected, runLoad } from '../../load.ts'
import type { Figure } from '../../report.ts'
import { attempt, compareSides, figureOf, flat, type Part, shown } from '../compared.ts'
import { post, type Side, type Sides } from '../sides.ts'
import { banksOfCampaign } from '../sizes.ts'
import { requireStock, soldTariff } from '../stock.ts'

/** The target in milliseconds. The contract allows two seconds for a thousand campaigns that end at one instant. */
const targetMs = (campaigns: number): number => Math.max(2_000, campaigns * 2)
const giveUpMs = 300_000
const leadMs = 3_000

export const timePart: Part = {
  name: 'time',
  async run(bench, sides) {
    return [
      await attempt('the clock, nothing due', `<= ${flat.times}`, async () => {
        const compared = await compareSides(sides, side => advance(side, 'PT1S'))
        return figureOf('the clock moves by a second, and nothing is due', compared, flat)
      }),
      await endPeriods(bench, sides),
      await expireMany(bench, sides),
    ]
  },
}

/**
 * Moves the sandbox's clock. The answer arrives when everything due by the new time is done.
 * @returns how many milliseconds that took
 */
async function advance({ url, operatorKey }: Side, duration: string): Promise<number> {
  const start = performance.now()
  await post(`${url}/sandbox/clock`, operatorKey, { advance: duration })
  return performance.now() - start
}

async function nowOf({ url, operatorKey }: Side): Promise<number> {
  const answer = await fetch(`${url}/sandbox/clock`, { headers: { authorization: `Bearer ${operatorKey}` } })
  return Date.parse(((await answer.json()) as { now: string }).now)
}

/** Measures periods that end. The platform's own job ends them, as in production. */
async function endPeriods(bench: Bench, sides: Sides): Promise<Figure> {
  const many = Math.min(bench.quick ? 100 : 10_000, Math.floor(sides.large.sizes.campaigns / 10))
  const few = Math.min(100, many)
  const name = `${shown(many)} campaigns of ${banksOfCampaign} banks end at one instant, against ${few}`
  return attempt(name, `<= ${targetMs(many) / 1_000} s`, async () => {
    const small = await endAtOnce(sides.small, few)
    const large = await endAtOnce(sides.large, many)
    const figure = figureOf(name, { ours: large, limit: small, ratio: large / small, ratios: [] }, flat)
    return { ...figure, target: `<= ${targetMs(many) / 1_000} s`, pass: large <= targetMs(many) }
  })
}

/** @returns milliseconds from the end of the periods until the last campaign was changed */
async function endAtOnce(side: Side, count: number): Promise<number> {
  const dateTo = new Date((await nowOf(side)) + leadMs)
  const moved = await side.query(
    `with ending as (
       update campaigns set date_to = $1, card = replace(card, instant_text(date_to), instant_text($1))
       where cashback_id in (select cashback_id from campaigns where status = 'active' order by date_to desc limit $2)
       returning cashback_id
     ), told as (
       update campaign_banks b set date_to = $1 from ending e where b.cashback_id = e.cashback_id
     )
     select cashback_id from ending`,
    [dateTo, count],
  )
  if (moved.length < count) throw new Error(`Only ${moved.length} campaigns are active`)
  const start = performance.now() + dateTo.getTime() - (await nowOf(side))
  await sleep(Math.max(0, start - performance.now()))
  return untilNone(side, start, `select 1 from campaigns where status = 'active' and date_to <= $1`, [dateTo])
}

/** Waits until `rows` finds nothing. It reads one row at a time: counting would take much of the processor that is measured. */
async function untilNone({ query }: Side, start: number, rows: string, values: unknown[]): Promise<number> {
  for (;;) {
    const found = await query(`${rows} limit 1`, values)
    const ms = performance.now() - start
    if (found.length === 0) return ms
    if (ms > giveUpMs) throw new Error(`After ${Math.round(ms / 1_000)} s some are left`)
    await sleep(20)
  }
}

/**
 * Measures how long many reservations take to expire. The planner's statistics were collected when there were no open
 * reservations, and they are not refreshed before the measurement.
 */
async function expireMany(bench: Bench, sides: Sides): Promise<Figure> {
  const count = bench.quick ? 2_000 : 100_000
  const name = `${shown(count)} reservations are over, with statistics from before them: the last one’s mark`
  return attempt(name, `<= ${flat.times}`, async () => {
    const compared = []
    for (const side of [sides.small, sides.large]) {
      await advance(side, 'PT16M')
      await side.query('alter table orders set (autovacuum_enabled = false)')
      await side.query('analyze orders')
      await reserve(side, count)
      compared.push(await lapse(side))
      await side.query('alter table orders reset (autovacuum_enabled)')
    }
    const [small = Number.NaN, large = Number.NaN] = compared
    return figureOf(name, { ours: large, limit: small, ratio: large / small, ratios: [] }, { times: flat.times })
  })
}

async function reserve(side: Side, count: number): Promise<void> {
  await requireStock(side, count * 2)
  const open = async () =>
    (await side.query<{ open: number }>(`select count(*)::int as open from orders where status = 'reserved'`))[0]
      ?.open ?? 0
  while ((await open()) < count) {
    const load = { kind: 'reserve' as const, ...soldTariff, prefix: freshPrefix() }
    requireExpected(await runLoad({ ports: [side.port], token: side.tokens.seller, connections: 32, seconds: 1, load }))
  }
}

/**
 * Moves the clock beyond the end of all reservations.
 *
 * @returns milliseconds until all of them are marked as expired. The platform's job does this even if the request that
 *   moves the clock fails earlier
 */
async function lapse(side: Side): Promise<number> {
  const start = performance.now()
  const params = advance(side, 'PT16M').catch(() => {})
  const ms = await untilNone(side, start, `select 1 from orders where status = 'reserved'`, [])
  await params
  return ms
}
