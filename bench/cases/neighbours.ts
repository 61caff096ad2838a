/**
 * What partners notice of one that takes as much as it can: of the worst body that is still read, sent back to back, and of sales
 * figures over many orders, read on 60 connections.
 */
import { profileLines } from '../../samples/make-profiles.ts'
import type { Bench, Case } from '../bench.ts'
import { freshPrefix, using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import { requireExpected, runLoad } from '../load.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const mostTimes = 2
const readers = 60

export const neighboursCase: Case = {
  name: 'neighbours',
  async run(bench) {
    return [
      await using(serveCampaigns(bench, 'bench_bodies'), platform => measureBodies(bench, platform)),
      await using(serveCampaigns(bench, 'bench_costly'), platform => measureCostlyReads(bench, platform)),
    ]
  },
}

/** As many objects and values as a campaign's form may have. */
const worstBody = (): string => {
  const fields = Array.from({ length: 15 }, (_, index) => `"f${index}":1`).join()
  return `{"terminals":[${Array(59_990).fill(`{${fields}}`).join()}]}`
}

function measureBodies(bench: Bench, platform: CampaignPlatform): Promise<Figure> {
  const body = worstBody()
  const send = () =>
    fetch(`${platform.url}/cashbacks/for-merchant`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.merchantToken}`, 'content-type': 'application/json' },
      body,
    }).then(async answer => void (await answer.text()))
  const others = async () => {
    const load = { kind: 'get' as const, paths: ['/retailers'] }
    const { port, bankTokens } = platform
    const token = bankTokens[0] ?? ''
    const result = await runLoad({ ports: [port], token, connections: 2, seconds: bench.seconds, load, pauseMs: 5 })
    requireExpected(result)
    return result.answered.get?.p99Ms ?? Number.NaN
  }
  return compared(bench, 'others while one partner sends the worst body, back to back: p99', others, 2, send)
}

async function measureCostlyReads(bench: Bench, platform: CampaignPlatform): Promise<Figure> {
  const orders = bench.quick ? 50_000 : 1_000_000
  await stockUp(platform, orders)
  const [seller = '', reader = ''] = platform.bankTokens
  const path = `/portal/esim/sales?from=${dayAgo(89)}&to=${dayAgo(0)}`
  // Beyond two at once they wait, and are refused after a while.
  const read = () =>
    fetch(platform.url + path, { headers: { authorization: `Bearer ${reader}` } }).then(
      async answer => void (await answer.text()),
    )
  const reserve = async () => {
    const load = { kind: 'reserve' as const, operatorCode: 'kyivstar', tariffCode: 'eu-10gb', prefix: freshPrefix() }
    const job = { ports: [platform.port], token: seller, connections: 4, seconds: bench.seconds, load, pauseMs: 5 }
    const result = await runLoad(job)
    requireExpected(result)
    return result.answered.reserve?.p99Ms ?? Number.NaN
  }
  const name = `reservations while another bank reads sales over ${orders.toLocaleString('en')} orders on ${readers} connections: p99`
  return compared(bench, name, reserve, readers, read)
}

const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const shop = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [{ code: eu-10gb, name: Europe, price: 399, currency: UAH, validityDays: 30 }] }
`

/** Profiles for the seller, and sales of the last 90 days for the bank that reads them. */
async function stockUp({ call, database, operatorKey, bankIds, url }: CampaignPlatform, orders: number): Promise<void> {
  await call('POST', '/admin/directory', operatorKey, { directory: shop, files: {} })
  const csv = [...profileLines({ count: 60_000, seed: 7 })].join('')
  const imported = await fetch(`${url}/admin/profiles?operator=kyivstar&tariff=eu-10gb`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'text/csv' },
    body: csv,
  })
  const told = await imported.text()
  if (!imported.ok) throw new Error(`The import answered ${imported.status}: ${told.slice(0, 300)}`)
  await database.execute(
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
       confirmed_at, delivery_mode)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
         || substr(md5(n::text), 4, 15))::uuid,
       $1, 'sold-' || n, (select min(tariff_id) from tariffs), 1000000000 + n, 'confirmed', 399, 'UAH', at,
       at + interval '15 minutes', at + interval '1 minute', 'local'
     from (select n, now() - n * (interval '89 days' / $2::int) as at from generate_series(1, $2::int) n) sold`,
    [bankIds[1], orders],
  )
  await database.execute('analyze orders')
}

/** Measures in turns without and with others who do `harm` on so many connections, one after the other. */
async function compared(
  bench: Bench,
  name: string,
  measure: () => Promise<number>,
  connections: number,
  harm: () => Promise<void>,
): Promise<Figure> {
  await measure()
  const [without, during, ratios]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < bench.rounds; round++) {
    const alone = await measure()
    let isOver = false
    const harming = Array.from({ length: connections }, async () => {
      while (!isOver) await harm()
    })
    const busy = await measure()
    isOver = true
    await Promise.all(harming)
    without.push(alone)
    during.push(busy)
    ratios.push(busy / alone)
  }
  const ratio = median(ratios)
  return {
    name,
    ours: `${median(during).toFixed(1)} ms`,
    limit: `${median(without).toFixed(1)} ms`,
    ratio,
    target: `<= ${mostTimes}`,
    pass: ratio <= mostTimes,
  }
}
