/** All SQL of campaigns as a bank's people see them: without the long lists. */
import type { Country } from '../campaigns/details-store.ts'
import type { BankStatus, CampaignState, CampaignStatus, ReportingStage } from '../campaigns/lifecycle.ts'
import { campaignStatuses } from '../campaigns/lifecycle.ts'
import { type Page, skipped } from '../campaigns/paging.ts'
import type { Queryable, Statement } from '../db/database.ts'

export const sortBys = ['createdAt', 'updatedAt', 'name', 'status', 'dateFrom', 'dateTo', 'percentage'] as const
export type SortBy = (typeof sortBys)[number]

/** null: not asked for. */
export type BankCampaignSearch = {
  /** A regular expression of PostgreSQL. */
  namePattern: string | null
  statuses: readonly CampaignStatus[]
  bankStatuses: readonly BankStatus[]
  createdByType: 'bank' | 'retailer' | null
  startsFrom: Date | null
  endsBy: Date | null
  sort: { by: SortBy; ascending: boolean }
}

/** The calling bank's part in a campaign. */
export type OwnPart = {
  bankStatus: BankStatus
  stage: ReportingStage | null
  bankReportUploads: number
  merchantReportUploads: number
  /** Decimal text. */
  expectedCompensation: string | null
}

export type BankCampaign = OwnPart & {
  cashbackId: string
  retailerId: string
  retailerName: string
  retailerNameEn: string
  createdByBankId: string | null
  name: string
  status: CampaignStatus
  dateFrom: Date
  dateTo: Date
  percentage: string
  merchantCompensationPercentage: string
  maxBudget: string | null
  currency: string
  terminalsCount: number
  createdAt: Date
  updatedAt: Date
}

const columns: Record<SortBy, string> = {
  createdAt: 'c.created_at',
  updatedAt: 'c.updated_at',
  name: 'c.name collate "C"',
  status: `array_position(array['${campaignStatuses.join("', '")}'], c.status)`,
  dateFrom: 'c.date_from',
  dateTo: 'c.date_to',
  percentage: 'c.percentage',
}

const ownPart = `
  i.status as "bankStatus", i.reporting_stage as stage, i.bank_report_uploads as "bankReportUploads",
  i.merchant_report_uploads as "merchantReportUploads", i.expected_compensation::text as "expectedCompensation"`

const conditions = `
  i.bank_id = $1 and c.status = any($2::text[]) and i.status = any($3::text[]) and ($4::text is null or c.name ~ $4)
  and ($5::text is null or ($5 = 'bank') = (c.created_by_bank_id is not null))
  and ($6::timestamptz is null or c.date_from >= $6) and ($7::timestamptz is null or c.date_to <= $7)`

/** One page of the campaigns in which the bank takes part. */
export async function findBankCampaigns(
  database: Queryable,
  bankId: string,
  search: BankCampaignSearch,
  page: Page,
): Promise<{ campaigns: BankCampaign[]; totalItems: number }> {
  const { statuses, bankStatuses, namePattern, createdByType, startsFrom, endsBy, sort } = search
  const filters = [bankId, statuses, bankStatuses, namePattern, createdByType, startsFrom, endsBy]
  const order = `${columns[sort.by]} ${sort.ascending ? 'asc' : 'desc'}, c.cashback_id`
  const campaigns = await database.query<BankCampaign>(
    `select c.cashback_id as "cashbackId", c.merchant_id as "retailerId", m.name as "retailerName",
            m.name_en as "retailerNameEn", c.created_by_bank_id as "createdByBankId", c.name, c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.percentage::text, c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
            c.max_budget::text as "maxBudget", k.currency_code as currency,
            case when c.terminals_platform then coalesce(l.terminals_count, 0) else c.terminals_count end as "terminalsCount",
            c.created_at as "createdAt", c.updated_at as "updatedAt", ${ownPart}
     from (
       select cashback_id from campaign_banks i join campaigns c using (cashback_id)
       where ${conditions} order by ${order} limit $8 offset $9
     ) page join campaign_banks i on i.cashback_id = page.cashback_id and i.bank_id = $1
     join campaigns c on c.cashback_id = page.cashback_id join merchants m using (merchant_id)
     join countries k using (country_id) left join merchant_terminal_lists l using (merchant_id)
     order by ${order}`,
    [...filters, page.pageSize, skipped(page)],
  )
  const [counted] = await database.query<{ count: number }>(
    `select count(*) from campaign_banks i join campaigns c using (cashback_id) where ${conditions}`,
    filters,
  )
  return { campaigns, totalItems: counted?.count ?? 0 }
}

/** A campaign as one of its banks sees it, but for terminals and customers, of which there may be many. */
export type BankCampaignDetails = Omit<CampaignState, 'banks'> &
  OwnPart & {
    /** Of the whole campaign. */
    version: number
    updatedAt: Date
    retailerName: string
    retailerNameEn: string
    country: Country
    /** JSON text of what changes only with an edit, without its closing brace. */
    card: string
    terminalsCount: number
    /** null: the merchant has formed none. */
    segment: { customersCount: number; formedAt: string; sourceFileName: string } | null
  }

const detailsStatement: Statement = {
  name: 'portal.bank-campaign',
  text: `
    select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", c.created_by_bank_id as "createdByBankId", c.status,
      c.date_from as "dateFrom", c.date_to as "dateTo", c.merchant_compensation_percentage > 0 as "merchantPays",
      c.version, c.updated_at as "updatedAt", m.name as "retailerName", m.name_en as "retailerNameEn", c.card,
      json_build_object('id', k.country_id, 'name', k.name, 'code', k.code, 'currency', json_build_object(
        'code', k.currency_code, 'name', k.currency_name, 'symbol', k.currency_symbol, 'icon', k.currency_icon)) as country,
      case when c.terminals_platform then coalesce(l.terminals_count, 0) else c.terminals_count end as "terminalsCount",
      (
        select json_build_object('customersCount', s.customers_count, 'formedAt', s.formed_at, 'sourceFileName', s.source_file_name)
        from campaign_segments s where s.cashback_id = i.cashback_id and s.bank_id = i.bank_id
      ) as segment, ${ownPart}
    from campaign_banks i join campaigns c using (cashback_id) join merchants m using (merchant_id)
    join countries k using (country_id) left join merchant_terminal_lists l using (merchant_id)
    where i.cashback_id = $1 and i.bank_id = $2`,
}

/** @returns null when there is no such campaign, or the bank is not invited */
export async function findBankCampaign(
  database: Queryable,
  cashbackId: string,
  bankId: string,
): Promise<BankCampaignDetails | null> {
  const [details] = await database.query<BankCampaignDetails>(detailsStatement, [cashbackId, bankId])
  return details ?? null
}
