/**
 * All SQL that reads a partner's campaigns for a file. The file contains the same campaigns as the lists, newest first.
 * One statement reads all of them.
 */

import { readPiecewise } from '../../db/cursor.ts'
import type { Database } from '../../db/database.ts'
import { withLiterals } from '../../db/literals.ts'
import type { BankStatus, CampaignStatus, ReportingStage } from '../lifecycle/transitions.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'
import type { BankCampaignSearch } from './bank-table-store.ts'
import type { Party } from './home-store.ts'

/** Which campaigns the file contains. The bank's statuses are ignored for a merchant. */
export type ExportSearch = Omit<BankCampaignSearch, 'sort'>

/**
 * Percentages and money are decimal text. Fields that exist only for a bank are null for a merchant, and the reverse.
 */
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
  /** The compensation of the bank; for a merchant, the sum over all banks. */
  expectedCompensation: string | null
  createdAt: Date
  updatedAt: Date
}

const filters = `
  c.status = any($2::text[]) and ($3::text is null or c.name ~ $3)
  and ($4::text is null or ($4 = 'bank') = (c.created_by_bank_id is not null))
  and ($5::timestamptz is null or c.date_from >= $5) and ($6::timestamptz is null or c.date_to <= $6)`

const parts = {
  bank: {
    found: 'campaign_banks i join campaigns c using (cashback_id)',
    isOwn: 'i.bank_id = $1::uuid and i.status = any($7::text[])',
    at: 'i.created_at',
    columns: `${updatedForBank('i.changed_at')} as "updatedAt", i.status as "bankStatus", i.reporting_stage as stage, null as "banksInvited", null as "banksApproved",
      round(i.expected_compensation, 2)::text as "expectedCompensation"`,
  },
  retailer: {
    found: `campaigns c cross join lateral (
      select count(*) as invited, count(*) filter (where status = 'approved') as approved, sum(expected_compensation) as expected
      from campaign_banks where cashback_id = c.cashback_id) i`,
    isOwn: 'c.merchant_id = $1::uuid',
    at: 'c.created_at',
    columns: `c.updated_at as "updatedAt", null as "bankStatus", null as stage, i.invited as "banksInvited", i.approved as "banksApproved",
      round(i.expected, 2)::text as "expectedCompensation"`,
  },
}

/** Every campaign that matches, in batches, from one snapshot. */
export function readExported(
  database: Database,
  party: Party,
  search: ExportSearch,
  signal: AbortSignal,
): AsyncIterable<ExportedCampaign[]> {
  const { found, isOwn, at, columns } = parts[party.type]
  const { statuses, namePattern, createdByType, startsFrom, endsBy, bankStatuses } = search
  const text = `
    select c.cashback_id as "cashbackId", c.name, m.name as "retailerName",
      case when c.created_by_bank_id is null then 'retailer' else 'bank' end as "createdByType", c.status,
      c.date_from as "dateFrom", c.date_to as "dateTo", c.percentage::text,
      c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
      round(c.min_amount, 2)::text as "minAmount", round(c.max_amount, 2)::text as "maxAmount",
      round(c.max_budget, 2)::text as "maxBudget", k.currency_code as currency, c.created_at as "createdAt",
      ${columns}
    from ${found} join merchants m using (merchant_id) join countries k using (country_id)
    where ${isOwn} and ${filters}
    order by ${at} desc, c.cashback_id`
  const id = party.type === 'bank' ? party.bankId : party.merchantId
  return readPiecewise(
    database,
    withLiterals(text, [id, statuses, namePattern, createdByType, startsFrom, endsBy, bankStatuses]),
    signal,
  )
}
