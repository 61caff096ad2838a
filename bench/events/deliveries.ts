/**
 * Measures deliveries to one receiver, compared with a bare client, and how an endpoint that never answers affects the
 * deliveries to many others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { tellMany } from './filling.ts'
import { type Receiver, sendPlainly, startReceiver } from './receiver.ts'

const atOnce = 10
const warmUp = 1_500
const leastOfBare = 0.4
const mostBeside = 1.5

/** Makes an endpoint of the bank with this index. @returns its id */
const makeEndpoint = async (platform: CampaignPlatform, index: number, url: string): Promise<string> => {
  const fields = { url, eventTypes: ['tariff.*'] }
  const made = await platform.call('POST', '/partner/v1/webhook-endpoints', platform.bankTokens[index] ?? '', fields)
  return made.body.endpointId
}

/** Waits until this many requests have arrived. */
async function until(received: Receiver['received'], count: number): Promise<void> {
  const giveUpAt = performance.now() + 300_000
  while (received.length < count) {
    if (performance.now() > giveUpAt) throw new Error(`Only ${received.length} of ${count} arrived`)
    await sleep(20)
  }
}

export function measureDeliveries(bench: Bench): Promise<Figure> {
  const count = bench.quick ? 2_000 : 20_000
  return using(serveCampaigns(bench, 'bench_deliveries', {}, 1), platform =>
    using(startReceiver(), async receiver => {
      await makeEndpoint(platform, 0, receiver.url)
      await tellMany(platform.database, platform.bankIds, warmUp)
      await until(receiver.received, warmUp)
      // The platform caches a statement's plan only when the planner's statistics show that the tables have grown.
      await platform.database.dedicated(client => client.query('vacuum analyze'))
      const { ours, limit, ratio } = await compare(
        bench.quick ? 1 : 3,
        async () => {
          receiver.received.length = 0
          await tellMany(platform.database, platform.bankIds, count)
          await until(receiver.received, count)
          const [first, last] = [receiver.received[0]?.atMs ?? 0, receiver.received.at(-1)?.atMs ?? 0]
          return (count * 1_000) / (last - first)
        },
        async () => {
          const bodies = receiver.received.slice(0, count).map(({ body }) => body)
          return sendPlainly(receiver.url, bodies, atOnce)
        },
      )
      return {
        name: `deliveries to one receiver, ${atOnce} at a time, against a bare client`,
        ours: `${Math.round(ours)}/s`,
        limit: `${Math.round(limit)}/s`,
        ratio,
        target: `>= ${leastOfBare}`,
        pass: ratio >= leastOfBare,
      }
    }),
  )
}

const accounts = 10
const endpointsEach = 10

/**
 * Measures how long deliveries to 99 endpoints take while one more endpoint, whose receiver never answers, is enabled.
 * Compares this with the time while that endpoint is disabled.
 */
export function measureNeighbours(bench: Bench): Promise<Figure> {
  const events = bench.quick ? 10 : 40
  return using(serveCampaigns(bench, 'bench_deaf', {}, accounts), platform =>
    using(startReceiver(), receiver =>
      using(startReceiver(false), async deaf => {
        const ids: string[] = []
        for (let n = 0; n < accounts * endpointsEach - 1; n++)
          ids.push(await makeEndpoint(platform, n % accounts, receiver.url))
        const deafId = await makeEndpoint(platform, accounts - 1, deaf.url)
        const silence = (how: string) =>
          platform.call(
            'POST',
            `/partner/v1/webhook-endpoints/${deafId}/${how}`,
            platform.bankTokens[accounts - 1] ?? '',
            {},
          )
        const p99 = async () => {
          receiver.received.length = 0
          for (let n = 0; n < events; n++) {
            await tellMany(platform.database, platform.bankIds, accounts)
            await sleep(250)
          }
          await until(receiver.received, events * ids.length)
          const lags = receiver.received.map(({ atMs, body }) => atMs - Date.parse(JSON.parse(body).timestamp))
          return lags.toSorted((one, other) => one - other)[Math.floor(lags.length * 0.99)] ?? Number.NaN
        }
        await p99()
        const { ours, limit, ratio } = await compare(
          bench.quick ? 1 : 5,
          async () => {
            await silence('enable')
            return p99()
          },
          async () => {
            await silence('disable')
            return p99()
          },
        )
        return {
          name: `${ids.length} endpoints beside one that never answers: event to request, p99, against without`,
          ours: `${Math.round(ours)} ms`,
          limit: `${Math.round(limit)} ms`,
          ratio,
          target: `<= ${mostBeside}`,
          pass: ratio <= mostBeside,
        }
      }),
    ),
  )
}
