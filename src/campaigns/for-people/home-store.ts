/** All SQL of the home page: open campaigns, campaigns that banks have created, and counts. */

import type { Queryable } from '../../db/database.ts'
import type { CampaignState } from '../lifecycle/lifecycle.ts'
import type { BankStatus, CampaignStatus } from '../lifecycle/transitions.ts'

export type Party = { type: 'bank'; bankId: string } | { type: 'retailer'; merchantId: string }

/** Money is decimal text; `expected` is what the merchant owes, null before a report exists. */
export type OpenCampaign = Omit<CampaignState, 'banks'> & {
  name: string
  merchantName: string
  merchantNameEn: string
  currency: string
  /** The sum over all banks. */
  expected: string | null
  banks: (CampaignState['banks'][number] & { name: string; expected: string | null })[]
}

/**
 * The statuses in which a bank or the merchant can act. The database has indexes of exactly these campaigns
 * (`migrations/0028_campaign_lists.sql`), so keep both equal.
 */
const openStatuses = [
  'awaitingBankApproval',
  'awaitingMerchantApproval',
  'awaitingCompensationConfirmation',
  'awaitingCompensationPayment',
  'paymentConfirmed',
] as const satisfies CampaignStatus[]

/**
 * SQL that finds a partner's open campaigns by an index. Campaigns in which the partner can probably act come first,
 * then those that end soonest. The lifecycle decides which actions are really possible.
 */
const parts = {
  bank: {
    from: 'campaign_banks where bank_id = $1 and awaits_bank is not null',
    order: 'awaits_bank desc, date_to, cashback_id',
  },
  retailer: {
    from: `campaigns where merchant_id = $1 and status in ('${openStatuses.join("', '")}')`,
    order: 'awaits_merchant desc, date_to, cashback_id',
  },
}

const idOf = (party: Party): string => (party.type === 'bank' ? party.bankId : party.merchantId)

/** A partner's campaigns that may have tasks, in the order of `parts`. */
async function findOpenCampaigns(database: Queryable, party: Party, limit: number): Promise<OpenCampaign[]> {
  const { from, order } = parts[party.type]
  const campaigns = await database.query<Omit<OpenCampaign, 'banks' | 'expected'>>(
    `select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", m.name as "merchantName", m.name_en as "merchantNameEn",
            c.created_by_bank_id as "createdByBankId", c.name, c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.merchant_compensation_percentage > 0 as "merchantPays", k.currency_code as currency
     from (select cashback_id, row_number() over (order by ${order}) as n from ${from} order by ${order} limit $2) open
     join campaigns c using (cashback_id) join merchants m using (merchant_id) join countries k using (country_id)
     order by n`,
    [idOf(party), limit],
  )
  const banks = await findBanks(
    database,
    campaigns.map(({ cashbackId }) => cashbackId),
  )
  return campaigns.map(campaign => ({
    ...campaign,
    ...(banks.get(campaign.cashbackId) ?? { banks: [], expected: null }),
  }))
}

/**
 * Reads the banks of these campaigns in a separate statement. If the statement of `findOpenCampaigns` joined them, PostgreSQL
 * would choose a plan that reads every bank of the platform.
 */
async function findBanks(
  database: Queryable,
  cashbackIds: readonly string[],
): Promise<Map<string, Pick<OpenCampaign, 'banks' | 'expected'>>> {
  const rows = await database.query<Pick<OpenCampaign, 'cashbackId' | 'banks' | 'expected'>>(
    `select cashback_id as "cashbackId", sum(expected_compensation)::text as expected,
            json_agg(json_build_object('bankId', i.bank_id, 'name', b.name, 'status', i.status, 'stage', i.reporting_stage,
              'expected', i.expected_compensation::text) order by b.name collate "C", b.bank_id) as banks
     from campaign_banks i join banks b using (bank_id) where cashback_id = any($1::uuid[]) group by cashback_id`,
    [cashbackIds],
  )
  return new Map(rows.map(({ cashbackId, ...found }) => [cashbackId, found]))
}

/** A campaign that a bank has created and the merchant pays for. Percentages and money are decimal text. */
export type ImposedCampaign = {
  cashbackId: string
  name: string
  bankName: string
  status: CampaignStatus
  dateFrom: Date
  dateTo: Date
  percentage: string
  merchantCompensationPercentage: string
  maxBudget: string | null
  currency: string
}

/**
 * Finds the campaigns that banks have created and that the merchant pays for, as long as their period has not ended.
 * Campaigns that end soonest come first.
 */
function findImposedCampaigns(database: Queryable, merchantId: string, limit: number): Promise<ImposedCampaign[]> {
  return database.query<ImposedCampaign>(
    `select c.cashback_id as "cashbackId", c.name, b.name as "bankName", c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.percentage::text, c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
            c.max_budget::text as "maxBudget", k.currency_code as currency
     from campaigns c join banks b on b.bank_id = c.created_by_bank_id join countries k using (country_id)
     where c.merchant_id = $1 and c.merchant_compensation_percentage > 0
       and c.status in ('awaitingBankApproval', 'approved', 'active')
     order by c.date_to, c.cashback_id limit $2`,
    [merchantId, limit],
  )
}

/** The number of a partner's campaigns in each status; `bankStatus` is empty for a merchant. */
function countByStatus(
  database: Queryable,
  party: Party,
): Promise<{ status: CampaignStatus; bankStatus: BankStatus | ''; count: number }[]> {
  return database.query(
    'select campaign_status as status, bank_status as "bankStatus", campaigns as count from campaign_counts where party_id = $1',
    [idOf(party)],
  )
}

export type FoundHome = {
  campaigns: OpenCampaign[]
  counts: Awaited<ReturnType<typeof countByStatus>>
  /** Empty for a bank. */
  imposed: ImposedCampaign[]
}

/**
 * Reads all that a home page shows.
 *
 * @param database one snapshot, so that the counts are those of the campaigns
 * @param max how many campaigns of each list to read at most
 */
export async function findHome(
  database: Queryable,
  party: Party,
  max: { campaigns: number; imposed: number },
): Promise<FoundHome> {
  const campaigns = await findOpenCampaigns(database, party, max.campaigns)
  const counts = await countByStatus(database, party)
  const isMerchant = party.type === 'retailer'
  return {
    campaigns,
    counts,
    imposed: isMerchant ? await findImposedCampaigns(database, party.merchantId, max.imposed) : [],
  }
}
