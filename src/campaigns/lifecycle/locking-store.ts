/**
 * Locks campaigns before they are changed: one campaign by its id, or those with transitions that are due by the clock.
 * Their rows stay locked until the transaction ends.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import type { BankState, CampaignState } from './lifecycle.ts'

/** A campaign that is locked until the transaction ends, with the data for its lifecycle. */
export type LockedCampaign = CampaignState & {
  name: string
  version: number
  createdAt: Date
  updatedAt: Date
  compensationReceivedAt: Date | null
}

const stateColumns = `
  cashback_id as "cashbackId", merchant_id as "merchantId", created_by_bank_id as "createdByBankId", name, status,
  date_from as "dateFrom", date_to as "dateTo", merchant_compensation_percentage > 0 as "merchantPays", version,
  created_at as "createdAt", updated_at as "updatedAt", compensation_received_at as "compensationReceivedAt"`

const lockStatement: Statement = {
  name: 'campaigns.lock',
  text: `select ${stateColumns} from campaigns where cashback_id = $1 for update`,
}

/**
 * Reads the banks of locked campaigns. Run this statement after the one that locks, because only a separate statement
 * sees what the previous holder of the lock has written.
 */
const banksStatement: Statement = {
  name: 'campaigns.banks',
  text: `
    select cashback_id as "cashbackId", bank_id as "bankId", status, reporting_stage as stage
    from campaign_banks where cashback_id = any($1) order by bank_id`,
}

/** Locks a campaign. @returns null when it is unknown */
export async function lockCampaign(transaction: Queryable, cashbackId: string): Promise<LockedCampaign | null> {
  const rows = await transaction.query<Omit<LockedCampaign, 'banks'>>(lockStatement, [cashbackId])
  const [campaign] = await withBanks(transaction, rows)
  return campaign ?? null
}

/**
 * The kinds of due transitions. Each is found by an index of its own. A single condition with three alternatives
 * would read every campaign.
 */
const dueParts = [
  { part: 'starting', due: `status = 'approved' and date_from <= $1`, by: 'date_from' },
  {
    part: 'ending',
    due: `status in ('awaitingBankApproval', 'awaitingMerchantApproval', 'active') and date_to <= $1`,
    by: 'date_to',
  },
  {
    part: 'completing',
    due: `status = 'compensationReceived' and compensation_received_at <= $2`,
    by: 'compensation_received_at',
  },
]

const fromEach = (columns: string, lock: string): string => `
    with ${dueParts
      .map(
        ({ part, due, by }) => `${part} as (
          select ${columns} from campaigns where ${due} order by ${by} limit $3 ${lock}
        )`,
      )
      .join(', ')}
    ${dueParts.map(({ part }) => `select * from ${part}`).join(' union all ')}`

const lockDueStatement: Statement = {
  name: 'campaigns.lock-due',
  text: fromEach(stateColumns, 'for update skip locked'),
}

/**
 * Locks due campaigns and waits for campaigns that others have locked. After a wait, PostgreSQL checks the conditions
 * of the locking query again. The only condition here is the id, so a campaign is returned even if another process has
 * just started it. This is intended: the end of that campaign may be due, too.
 */
const waitForDueStatement: Statement = {
  name: 'campaigns.wait-for-due',
  text: `
    select ${stateColumns} from campaigns where cashback_id in (${fromEach('cashback_id', '')})
    order by date_from, cashback_id for update`,
}

/**
 * Locks campaigns with transitions that are due by the clock.
 *
 * @param params.limit maximum for each kind: starts, ends, completions
 * @param params.waits false: skips campaigns that others have locked
 */
export async function lockDueCampaigns(
  transaction: Queryable,
  params: { now: Date; receivedBefore: Date; limit: number; waits: boolean },
): Promise<LockedCampaign[]> {
  const { now, receivedBefore, limit, waits } = params
  const rows = await transaction.query<Omit<LockedCampaign, 'banks'>>(waits ? waitForDueStatement : lockDueStatement, [
    now,
    receivedBefore,
    limit,
  ])
  return withBanks(transaction, rows)
}

async function withBanks(
  transaction: Queryable,
  campaigns: Omit<LockedCampaign, 'banks'>[],
): Promise<LockedCampaign[]> {
  if (campaigns.length === 0) return []
  const rows = await transaction.query<BankState & { cashbackId: string }>(banksStatement, [
    campaigns.map(({ cashbackId }) => cashbackId),
  ])
  const banks = Map.groupBy(rows, ({ cashbackId }) => cashbackId)
  return campaigns.map(campaign => ({
    ...campaign,
    banks: (banks.get(campaign.cashbackId) ?? []).map(({ bankId, status, stage }) => ({ bankId, status, stage })),
  }))
}
