/** All SQL of a partner's campaigns as a file: as the lists find them, the newest first, in pieces. */

import type { Queryable } from '../../db/database.ts'
import type { BankStatus, CampaignStatus, ReportingStage } from '../lifecycle/lifecycle.ts'
import type { BankCampaignSearch } from './bank-table-store.ts'
import type { Party } from './home-store.ts'

/** Of a merchant the bank's statuses are not looked at. */
export type ExportSearch = Omit<BankCampaignSearch, 'sort'>

/** Percentages and money are decimal text; what only the other side has is null. */
export type ExportedCampaign = {
  cashbackId: string
  name: string
  retailerName: string
  createdByType: 'bank' | 'retailer'
  status: CampaignStatus
  bankStatus: BankStatus | null
  stage: ReportingStage | null
  banksInvited: number | null
  banksApproved: number | null
  dateFrom: Date
  dateTo: Date
  percentage: string
  merchantCompensationPercentage: string
  minAmount: string
  maxAmount: string
  maxBudget: string | null
  currency: string
  /** Of a merchant the sum over its banks. */
  expectedCompensation: string | null
  createdAt: Date
  updatedAt: Date
  /** Where the next piece goes on. */
  createdText: string
}

const filters = `
  c.status = any($2::text[]) and ($3::text is null or c.name ~ $3)
  and ($4::text is null or ($4 = 'bank') = (c.created_by_bank_id is not null))
  and ($5::timestamptz is null or c.date_from >= $5) and ($6::timestamptz is null or c.date_to <= $6)`

const parts = {
  bank: {
    found: `campaign_banks i join campaigns c using (cashback_id) where i.bank_id = $1 and i.status = any($10::text[])`,
    at: 'i.created_at',
    columns: `i.status as "bankStatus", i.reporting_stage as stage, null as "banksInvited", null as "banksApproved",
      round(i.expected_compensation, 2)::text as "expectedCompensation"`,
    join: 'join campaign_banks i on i.cashback_id = c.cashback_id and i.bank_id = $1',
  },
  retailer: {
    found: `campaigns c where c.merchant_id = $1 and $10::text[] is not null`,
    at: 'c.created_at',
    columns: `null as "bankStatus", null as stage, i.invited as "banksInvited", i.approved as "banksApproved",
      round(i.expected, 2)::text as "expectedCompensation"`,
    join: `cross join lateral (
      select count(*) as invited, count(*) filter (where status = 'approved') as approved, sum(expected_compensation) as expected
      from campaign_banks where cashback_id = c.cashback_id) i`,
  },
}

/**
 * One piece.
 *
 * @param after the last campaign of the piece before; null: the first piece
 */
export function findExported(
  database: Queryable,
  party: Party,
  search: ExportSearch,
  after: Pick<ExportedCampaign, 'createdText' | 'cashbackId'> | null,
  limit: number,
): Promise<ExportedCampaign[]> {
  const { found, at, columns, join } = parts[party.type]
  const { statuses, namePattern, createdByType, startsFrom, endsBy, bankStatuses } = search
  return database.query<ExportedCampaign>(
    `select c.cashback_id as "cashbackId", c.name, m.name as "retailerName",
            case when c.created_by_bank_id is null then 'retailer' else 'bank' end as "createdByType", c.status,
            c.date_from as "dateFrom", c.date_to as "dateTo", c.percentage::text,
            c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
            round(c.min_amount, 2)::text as "minAmount", round(c.max_amount, 2)::text as "maxAmount",
            round(c.max_budget, 2)::text as "maxBudget", k.currency_code as currency, c.created_at as "createdAt",
            c.updated_at as "updatedAt", page.created_at::text as "createdText", ${columns}
     from (
       select cashback_id, ${at} as created_at from ${found} and ${filters}
         and ($7::timestamptz is null or (${at} <= $7 and (${at} < $7 or cashback_id > $8::uuid)))
       order by ${at} desc, cashback_id limit $9
     ) page join campaigns c using (cashback_id) ${join} join merchants m using (merchant_id) join countries k using (country_id)
     order by page.created_at desc, page.cashback_id`,
    [
      party.type === 'bank' ? party.bankId : party.merchantId,
      statuses,
      namePattern,
      createdByType,
      startsFrom,
      endsBy,
      after?.createdText ?? null,
      after?.cashbackId ?? null,
      limit,
      bankStatuses,
    ],
  )
}
