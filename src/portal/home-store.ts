/** All SQL of what waits for somebody. */
import type { BankStatus, CampaignState, CampaignStatus } from '../campaigns/lifecycle.ts'
import type { Queryable } from '../db/database.ts'

export type Party = { type: 'bank'; bankId: string } | { type: 'retailer'; merchantId: string }

/** Money is decimal text; `expected` is what the merchant owes, null before a report exists. */
export type OpenCampaign = Omit<CampaignState, 'banks'> & {
  name: string
  merchantName: string
  merchantNameEn: string
  currency: string
  /** Of all banks together. */
  expected: string | null
  banks: (CampaignState['banks'][number] & { name: string; expected: string | null })[]
}

const textsOf = (names: readonly string[]): string => `('${names.join("', '")}')`
const awaitingApproval = ['awaitingBankApproval', 'awaitingMerchantApproval'] as const satisfies CampaignStatus[]
/** The states in which somebody can do something. */
const openStatuses: readonly CampaignStatus[] = [
  ...awaitingApproval,
  'awaitingCompensationConfirmation',
  'awaitingCompensationPayment',
  'paymentConfirmed',
]

/**
 * Where a partner's campaigns are found, and where its own turn is likely: only so that these are read first; what can be done is the
 * lifecycle's decision.
 */
const parts = {
  bank: {
    from: `campaign_banks o join campaigns c using (cashback_id)`,
    own: `o.bank_id = $1 and o.status in ('pending', 'approved') and o.reporting_stage is distinct from 'acknowledged'`,
    turn: `o.status = 'pending' or o.reporting_stage in ('awaitingBankReconciliation', 'awaitingUpdatedBankReconciliation')
      or (o.reporting_stage = 'settled' and c.status = 'paymentConfirmed')`,
  },
  retailer: {
    from: 'campaigns c',
    own: 'c.merchant_id = $1',
    turn: `c.status = 'awaitingCompensationPayment'
      or (c.created_by_bank_id is null and c.status in ${textsOf(awaitingApproval)} and exists (
        select from campaign_banks i where i.cashback_id = c.cashback_id and i.status = 'approved'))
      or (c.status = 'awaitingCompensationConfirmation' and exists (
        select from campaign_banks i where i.cashback_id = c.cashback_id
          and i.reporting_stage in ('awaitingMerchantReconciliationConfirmation', 'awaitingCompensationConfirmation')))`,
  },
}

const idOf = (party: Party): string => (party.type === 'bank' ? party.bankId : party.merchantId)

/** Campaigns of a partner in which something may wait: those first in which it is its turn, in them those that end first. */
export function findOpenCampaigns(database: Queryable, party: Party, limit: number): Promise<OpenCampaign[]> {
  const { from, own, turn } = parts[party.type]
  return database.query<OpenCampaign>(
    `select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", m.name as "merchantName", m.name_en as "merchantNameEn",
            c.created_by_bank_id as "createdByBankId", c.name, c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.merchant_compensation_percentage > 0 as "merchantPays", k.currency_code as currency, (
              select sum(expected_compensation)::text from campaign_banks i where i.cashback_id = c.cashback_id
            ) as expected, (
              select coalesce(json_agg(json_build_object('bankId', i.bank_id, 'name', b.name, 'status', i.status,
                'stage', i.reporting_stage, 'expected', i.expected_compensation::text) order by b.name collate "C", b.bank_id), '[]')
              from campaign_banks i join banks b using (bank_id) where i.cashback_id = c.cashback_id
            ) as banks
     from (
       select c.cashback_id, coalesce(${turn}, false) as is_turn from ${from}
       where ${own} and c.status in ${textsOf(openStatuses)} order by 2 desc, c.date_to, c.cashback_id limit $2
     ) open join campaigns c using (cashback_id) join merchants m using (merchant_id) join countries k using (country_id)
     order by open.is_turn desc, c.date_to, c.cashback_id`,
    [idOf(party), limit],
  )
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

/** Those of a merchant that are not over, the ones that end first. */
export function findImposedCampaigns(
  database: Queryable,
  merchantId: string,
  limit: number,
): Promise<ImposedCampaign[]> {
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

/**
 * How many campaigns a partner has in each status; those that it has none in are left out.
 *
 * @param most only the newest so many are counted
 */
export function countByStatus(
  database: Queryable,
  party: Party,
  most: number,
): Promise<{ status: CampaignStatus; bankStatus: BankStatus | null; count: number }[]> {
  return party.type === 'bank'
    ? database.query(
        `select c.status, i.status as "bankStatus", count(*) from (
           select cashback_id, status from campaign_banks where bank_id = $1 order by created_at desc, cashback_id limit $2
         ) i join campaigns c using (cashback_id) group by 1, 2`,
        [party.bankId, most],
      )
    : database.query(
        `select status, null as "bankStatus", count(*) from (
           select status from campaigns where merchant_id = $1 order by created_at desc, cashback_id desc limit $2
         ) newest group by status`,
        [party.merchantId, most],
      )
}
