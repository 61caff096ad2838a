/** A thousand waiting long polls, four from each of 250 banks: their memory, and their effect on other requests. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import { runLoad } from '../load.ts'
import { memoryOf } from '../processes.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const perBank = 4
const target = { growthMb: 64, times: 1.2 }
const waitSeconds = 30

export function measurePolls(bench: Bench): Promise<Figure[]> {
  const banks = bench.quick ? 50 : 250
  return using(serveCampaigns(bench, 'bench_polls', { DATABASE_POOL: '10' }, banks), async platform => {
    await others(platform)
    const before = memoryOf(platform.child.pid).nowMb
    const [alone, beside]: [number[], number[]] = [[], []]
    let grown = 0
    for (let round = 0; round < (bench.quick ? 1 : 5); round++) {
      alone.push(await others(platform))
      const polls = wait(platform)
      await sleep(2_000)
      beside.push(await others(platform))
      grown = Math.max(grown, memoryOf(platform.child.pid).nowMb - before)
      await polls
    }
    const ratio = median(beside.map((ms, round) => ms / (alone[round] ?? Number.NaN)))
    const what = `${(banks * perBank).toLocaleString('en')} waiting long polls`
    return [
      {
        name: `${what}: growth`,
        ours: `${Math.round(grown)} MB`,
        limit: '',
        ratio: null,
        target: `<= ${target.growthMb} MB`,
        pass: grown <= target.growthMb,
      },
      {
        name: `p99 of other requests beside ${what}, against none`,
        ours: `${median(beside).toFixed(1)} ms`,
        limit: `${median(alone).toFixed(1)} ms`,
        ratio,
        target: `<= ${target.times}`,
        pass: ratio <= target.times,
      },
    ]
  })
}

/**
 * Measures other requests: reads of a bank's list of webhook endpoints, each with a query to the database.
 * @returns the 99th percentile in milliseconds
 */
async function others({ port, bankTokens }: CampaignPlatform): Promise<number> {
  const load = { kind: 'get' as const, paths: ['/partner/v1/webhook-endpoints'] }
  const job = { ports: [port], token: bankTokens[0] ?? '', connections: 4, seconds: 4, load, pauseMs: 5 }
  const result = await runLoad(job)
  return result.answered.get?.p99Ms ?? Number.NaN
}

async function wait({ url, bankTokens }: CampaignPlatform): Promise<void> {
  const ends = await Promise.all(
    bankTokens.map(async token => {
      const headers = { authorization: `Bearer ${token}` }
      const now = await fetch(`${url}/partner/v1/events?after=now`, { headers })
      return { headers, after: ((await now.json()) as { nextAfter: number }).nextAfter }
    }),
  )
  await Promise.all(
    ends.flatMap(({ headers, after }) =>
      Array.from({ length: perBank }, async () => {
        const answer = await fetch(`${url}/partner/v1/events?after=${after}&wait=${waitSeconds}`, { headers })
        if (!answer.ok) throw new Error(`A long poll answers ${answer.status}`)
        await answer.arrayBuffer()
      }),
    ),
  )
}
