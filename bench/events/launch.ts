/**
 * The launch of a campaign with 200 banks, compared with a bare insert of 200 rows. Also measures the time until each
 * bank can read the event about the launch.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, using } from '../bench.ts'
import { type CampaignPlatform, createCampaign, serveCampaigns } from '../campaigns.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const banks = 200
const readableMs = 1_000
const dayMs = 86_400_000

export function measureLaunch(bench: Bench): Promise<Figure[]> {
  return using(serveCampaigns(bench, 'bench_launch', {}, banks), async platform => {
    await platform.database.execute('create table plain_rows (id uuid primary key, bank_id uuid, data jsonb)')
    const [launches, readable, inserts]: number[][] = [[], [], []]
    for (let round = 0; round < (bench.quick ? 3 : 11); round++) {
      const { launchMs, allReadMs } = await launch(platform)
      launches?.push(launchMs)
      readable?.push(allReadMs)
      inserts?.push(await insertPlainly(platform))
    }
    const [ours, limit, read] = [median(launches ?? []), median(inserts ?? []), median(readable ?? [])]
    return [
      {
        name: `launch of a campaign with ${banks} banks, against a bare insert of ${banks} rows`,
        ours: `${ours.toFixed(1)} ms`,
        limit: `${limit.toFixed(1)} ms`,
        ratio: ours / limit,
        target: 'shown',
        pass: null,
      },
      {
        name: `until each of the ${banks} banks can read of its launch`,
        ours: `${Math.round(read)} ms`,
        limit: '',
        ratio: null,
        target: `<= ${readableMs} ms`,
        pass: read <= readableMs,
      },
    ]
  })
}

async function launch(platform: CampaignPlatform) {
  const { call, merchantToken, bankTokens, database } = platform
  const inDays = (days: number) => new Date(Date.now() + days * dayMs)
  const id = await createCampaign(platform, { dateFrom: inDays(10), dateTo: inDays(40) })
  await call('POST', `/cashbacks/${id}/confirm`, bankTokens[0] ?? '')
  const start = performance.now()
  await call('POST', `/cashbacks/for-merchant/${id}/confirm`, merchantToken)
  const launchMs = performance.now() - start
  const told = async () => {
    const [row] = await database.query<{ banks: number }>(
      `select count(distinct account_id)::int as banks from events where type = 'campaign.approved' and subject = $1 and account_type = 'bank'`,
      [id],
    )
    return row?.banks ?? 0
  }
  while ((await told()) < banks) await sleep(10)
  return { launchMs, allReadMs: performance.now() - start }
}

async function insertPlainly({ database, bankIds }: CampaignPlatform): Promise<number> {
  const start = performance.now()
  await database.execute(
    `insert into plain_rows select gen_random_uuid(), id, '{"status":"approved"}' from unnest($1::uuid[]) as id`,
    [bankIds],
  )
  return performance.now() - start
}
