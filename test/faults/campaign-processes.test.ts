/**
 * Real processes and the period of campaigns: they are killed during transitions, or are down while a period passes.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  copyCampaigns,
  describeStep,
  historyOf,
  launchCampaign,
  openPartners,
  type Partners,
  statusOf,
} from '../support/campaign-moves.ts'
import { campaignDirectory, inDays } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { onTime } from '../support/on-time.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'

/** This platform serves requests but has no worker; other processes make the transitions. */
let platform: TestPlatform
let partners: Partners
const keys = { MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_KEY: randomBytes(32).toString('hex') }
before(async () => {
  platform = await startPlatform(keys, { directory: campaignDirectory, only: ['auth', 'cashback', 'portal'] })
  partners = await openPartners(platform)
})
after(() => platform.close())

const startWorker = () => startProcess({ ...sharedSettings(platform.databaseUrl, platform.dataDir), ...keys })
const inSeconds = (seconds: number): string => inDays(platform, seconds / 86_400)

async function using(count: number, work: (workers: PerklineProcess[]) => Promise<void>): Promise<void> {
  const workers = await Promise.all(Array.from({ length: count }, startWorker))
  try {
    await work(workers)
  } finally {
    await Promise.all(workers.map(worker => worker.kill()))
  }
}

test('a process that is killed while it moves campaigns leaves none half-way, and the others move each once', async () => {
  let killedInTheMiddle = false
  for (let round = 0; !killedInTheMiddle; round++) {
    assert.ok(round < 5, 'all were moved before one was killed')
    await using(2, async ([victim]) => {
      killedInTheMiddle = await killInTheMiddle(victim ?? assert.fail())
    })
  }
})

/**
 * Kills a process while it starts campaigns. Another process must start the remaining ones.
 * @returns false when all were started before the kill
 */
async function killInTheMiddle(victim: PerklineProcess): Promise<boolean> {
  const { database } = platform.platform
  const campaigns = await copyCampaigns(database, await launchCampaign(platform, partners), 3_000)
  const countActive = async () => {
    const [row] = await database.query<{ count: number }>(
      `select count(*) from campaigns where cashback_id = any($1) and status = 'active'`,
      [campaigns],
    )
    return row?.count ?? 0
  }
  // The period of all campaigns begins now, however long it took to create them.
  await database.execute('update campaigns set date_from = $2 where cashback_id = any($1)', [campaigns, new Date()])
  let active = 0
  await until('the first are moved', async () => {
    active = await countActive()
    return active > 0
  })
  await victim.kill()
  const giveUpAt = performance.now() + 20_000
  while ((await countActive()) < campaigns.length) {
    assert.ok(performance.now() < giveUpAt)
    await sleep(50)
  }
  const [row] = await database.query<{ campaigns: number; entries: number; versions: number }>(
    `select count(distinct cashback_id) as campaigns, count(*) as entries,
       (select count(distinct version) from campaigns where cashback_id = any($1)) as versions
     from campaign_history where cashback_id = any($1) and trigger = 'start'`,
    [campaigns],
  )
  assert.deepEqual(row, { campaigns: campaigns.length, entries: campaigns.length, versions: 1 })
  return active < campaigns.length
}

test('a period that passes while every process is down begins and ends within 2 s after the start of one', t =>
  onTime(t, async () => {
    const id = await launchCampaign(platform, partners)
    await platform.platform.database.execute(
      'update campaigns set date_from = $2, date_to = $3 where cashback_id = $1',
      [id, inSeconds(0.5), inSeconds(1.5)],
    )
    await sleep(2_000)
    assert.equal(await statusOf(partners.grocer, id), 'approved', 'nobody was there to move it')
    await using(1, async () => {
      const readyAt = performance.now()
      while ((await statusOf(partners.grocer, id)) !== 'awaitingCompensationConfirmation') {
        assert.ok(performance.now() - readyAt < 2_000)
        await sleep(20)
      }
    })
    assert.deepEqual((await historyOf(partners, id)).slice(-3).map(describeStep), [
      'campaign start: approved -> active',
      'reporting end: null -> awaitingBankReconciliation',
      'campaign end: active -> awaitingCompensationConfirmation',
    ])
  }))
