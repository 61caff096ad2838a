/** What partners notice of one that sends the worst body that is still read, back to back. */
import type { Bench, Case } from '../bench.ts'
import { using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import { compareUnderHarm } from '../harm.ts'
import { requireExpected, runLoad } from '../load.ts'
import type { Figure } from '../report.ts'

export const neighboursCase: Case = {
  name: 'neighbours',
  async run(bench) {
    return [await using(serveCampaigns(bench, 'bench_bodies'), platform => measureBodies(bench, platform))]
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
  const name = 'others while one partner sends the worst body, back to back: p99'
  return compareUnderHarm(bench, name, others, { connections: 2, harm: send })
}
