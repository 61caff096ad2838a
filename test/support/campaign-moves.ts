/**
 * Brings campaigns into the state that a test needs. Partners' calls create and launch them, the moved clock starts and
 * ends them, and settlements and copies are written into the database directly.
 */
import assert from 'node:assert/strict'
import { actorOf } from '../../src/campaigns/lifecycle/actor.ts'
import * as life from '../../src/campaigns/lifecycle/lifecycle.ts'
import { lockCampaign } from '../../src/campaigns/lifecycle/locking-store.ts'
import { writeDecisions } from '../../src/campaigns/lifecycle/transitions-store.ts'
import type { Database, Queryable } from '../../src/db/database.ts'
import { createCampaign, ids, openCampaignBank, openMerchant, type Partner } from './campaigns.ts'
import type { TestPlatform } from './platform.ts'

export type Partners = Record<'grocer' | 'alpha' | 'beta', Partner>

export async function openPartners(platform: TestPlatform): Promise<Partners> {
  return {
    grocer: await openMerchant(platform),
    alpha: await openCampaignBank(platform),
    beta: await openCampaignBank(platform, 'beta'),
  }
}

/** A campaign that alpha has approved and that the merchant has launched. @param overrides fields of the form */
export async function launchCampaign(
  platform: TestPlatform,
  { grocer, alpha }: Partners,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const id = await createCampaign(platform, overrides, grocer)
  const confirmed = await alpha.call('POST', `/cashbacks/${id}/confirm`)
  assert.equal(confirmed.status, 201, confirmed.text)
  const launched = await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
  assert.equal(launched.status, 201, launched.text)
  return id
}

/** Moves the sandbox clock of the platform, and of all other processes on the same database. */
export async function moveClock(platform: TestPlatform, given: { advance: string } | { now: string }): Promise<void> {
  const answer = await platform.call('POST', '/sandbox/clock', { body: given })
  assert.equal(answer.status, 200, answer.text)
}

export async function statusOf(partner: Partner, id: string): Promise<string> {
  const answer = await partner.call('GET', `/cashbacks/for-merchant/${id}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.status
}

export type Entry = {
  at: string
  actor: { type: string }
  subject: string
  bankId: string | null
  trigger: string
  from: string | null
  to: string | null
  changes: Record<string, unknown> | null
}

/** Returns every step in the history of a campaign, as the merchant sees it. */
export async function historyOf({ grocer }: Pick<Partners, 'grocer'>, id: string): Promise<Entry[]> {
  const answer = await grocer.call('GET', `/portal/cashbacks/${id}/history`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

export const describeStep = ({ subject, trigger, from, to }: Entry): string => `${subject} ${trigger}: ${from} -> ${to}`

/**
 * Returns the columns that a copy of a table's row must set. The database generates the others.
 *
 * @param row the name of the row to copy from
 */
export async function columnsOf(database: Queryable, table: string, row?: string): Promise<string> {
  const [found] = await database.query<{ columns: string }>(
    `select string_agg(concat($2::text || '.', attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table, row ?? null],
  )
  return found?.columns ?? ''
}

/**
 * Makes `count` copies of one campaign, with its banks and its history.
 * @returns their ids
 */
export async function copyCampaigns(database: Database, cashbackId: string, count: number): Promise<string[]> {
  // In these statements, `jsonb_populate_record(row, values)` is a copy of the row with some other values.
  return database.transaction(async transaction => {
    const copies = await transaction.query<{ id: string }>(
      `insert into campaigns (${await columnsOf(transaction, 'campaigns')})
       select ${await columnsOf(transaction, 'campaigns', 'copy')}
       from campaigns c, (select gen_random_uuid() as id from generate_series(1, $2::int)) as ids, jsonb_populate_record(c,
         jsonb_build_object('cashback_id', id, 'card', replace(card, cashback_id::text, id::text))) as copy
       where c.cashback_id = $1
       returning cashback_id as id`,
      [cashbackId, count],
    )
    const given = [cashbackId, copies.map(({ id }) => id)]
    await transaction.execute(
      `insert into campaign_banks (${await columnsOf(transaction, 'campaign_banks')})
       select ${await columnsOf(transaction, 'campaign_banks', 'copy')}
       from campaign_banks b, unnest($2::uuid[]) as id,
         jsonb_populate_record(b, jsonb_build_object('cashback_id', id)) as copy where b.cashback_id = $1`,
      given,
    )
    await transaction.execute(
      `insert into campaign_counts (party_id, campaign_status, bank_status, campaigns)
       select merchant_id, status, '', $2::int from campaigns where cashback_id = $1
       union all select bank_id, campaign_status, status, $2::int from campaign_banks where cashback_id = $1
       on conflict (party_id, campaign_status, bank_status) do update set campaigns = campaign_counts.campaigns + excluded.campaigns`,
      [cashbackId, count],
    )
    // Leaves out `version`, as an older release did. The audit expects no events for rows without a version, and the
    // copies have no events.
    const columns =
      'at, actor_type, actor_id, actor_subject, actor_role, subject, bank_id, trigger, from_state, to_state, changes, comment'
    await transaction.execute(
      `insert into campaign_history (cashback_id, ${columns})
       select id, ${columns} from campaign_history, unnest($2::uuid[]) as id where cashback_id = $1 order by history_id`,
      given,
    )
    return copies.map(({ id }) => id)
  })
}

/**
 * Takes a campaign through its settlement, up to the acknowledged payment. Alpha must be its only bank, and its period
 * must be over. Only the states are written; no files of reports are stored.
 */
export async function receiveCompensation(platform: TestPlatform, cashbackId: string): Promise<void> {
  const { database, clock } = platform.platform.deps.campaigns
  const actor = actorOf({ type: 'bank', bankId: ids.alpha, role: 'ADMIN', userType: 'gateway_user', subject: 'test' })
  const steps: ((campaign: life.CampaignState, bank: life.BankState) => life.Decision)[] = [
    (_, bank) => life.uploadBankReport(bank),
    (_, bank) => life.acceptReport(bank),
    life.settle,
    life.pay,
    life.acknowledge,
  ]
  await database.transaction(async transaction => {
    let campaign = (await lockCampaign(transaction, cashbackId)) ?? assert.fail()
    for (const step of steps) {
      const decision = step(campaign, campaign.banks[0] ?? assert.fail())
      const written = await writeDecisions(transaction, [{ campaign, decision }], { actor, now: clock.now() })
      campaign = written[0] ?? assert.fail()
    }
  })
}
