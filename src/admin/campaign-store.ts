/** All SQL of campaigns as the platform's operator sees them: of every merchant, without the long lists. */
import type { Country } from '../campaigns/details-store.ts'
import type { BankStatus, CampaignStatus, ReportingStage } from '../campaigns/lifecycle.ts'
import type { Queryable, Statement } from '../db/database.ts'

export type ListedCampaign = {
  cashbackId: string
  name: string
  status: CampaignStatus
  retailerId: string
  retailerCode: string
  retailerName: string
  retailerNameEn: string
  createdByType: 'bank' | 'retailer'
  dateFrom: Date
  dateTo: Date
  createdAt: Date
  updatedAt: Date
  banksInvited: number
  banksApproved: number
}

/** null: not asked for. */
export type CampaignSearch = {
  /** A regular expression of PostgreSQL. */
  namePattern: string | null
  cashbackId: string | null
  statuses: readonly CampaignStatus[] | null
  merchantCode: string | null
  bankCode: string | null
}

const conditions = `
  ($1::text is null or c.name ~ $1) and ($2::uuid is null or c.cashback_id = $2)
  and ($3::text[] is null or c.status = any($3)) and ($4::text is null or m.code = $4)
  and ($5::text is null or exists (
    select from campaign_banks i join banks b using (bank_id) where i.cashback_id = c.cashback_id and b.code = $5))`

/** One page of all campaigns, those first that changed last. */
export async function findCampaigns(
  database: Queryable,
  search: CampaignSearch,
  page: { limit: number; offset: number },
): Promise<{ campaigns: ListedCampaign[]; totalItems: number }> {
  const filters = [search.namePattern, search.cashbackId, search.statuses, search.merchantCode, search.bankCode]
  const campaigns = await database.query<ListedCampaign>(
    `select c.cashback_id as "cashbackId", c.name, c.status, c.merchant_id as "retailerId", m.code as "retailerCode",
            m.name as "retailerName", m.name_en as "retailerNameEn", case when c.created_by_bank_id is null then 'retailer' else 'bank' end as "createdByType",
            c.date_from as "dateFrom", c.date_to as "dateTo", c.created_at as "createdAt", c.updated_at as "updatedAt",
            (select count(*) from campaign_banks i where i.cashback_id = c.cashback_id) as "banksInvited",
            (select count(*) from campaign_banks i where i.cashback_id = c.cashback_id and i.status = 'approved') as "banksApproved"
     from campaigns c join merchants m using (merchant_id) where ${conditions}
     order by c.updated_at desc, c.cashback_id limit $6 offset $7`,
    [...filters, page.limit, page.offset],
  )
  const [counted] = await database.query<{ count: number }>(
    `select count(*) from campaigns c join merchants m using (merchant_id) where ${conditions}`,
    filters,
  )
  return { campaigns, totalItems: counted?.count ?? 0 }
}

export type CampaignBank = {
  id: string
  code: string
  name: string
  status: BankStatus
  stage: ReportingStage | null
  bankReportUploads: number
  merchantReportUploads: number
  expectedCompensation: number | null
  segmentCustomers: number
}

export type CampaignDetails = {
  status: CampaignStatus
  updatedAt: Date
  retailerId: string
  retailerCode: string
  retailerName: string
  retailerNameEn: string
  country: Country
  terminalsCount: number
  /** null until the merchant's money was received. */
  compensationReceivedAt: Date | null
  banks: CampaignBank[]
  /** JSON text of what changes only with an edit, without its closing brace. */
  card: string
}

const detailsStatement: Statement = {
  name: 'admin.campaign',
  text: `
    select c.status, c.updated_at as "updatedAt", c.merchant_id as "retailerId", m.code as "retailerCode",
      m.name as "retailerName", m.name_en as "retailerNameEn", c.compensation_received_at as "compensationReceivedAt", c.card,
      json_build_object('id', k.country_id, 'name', k.name, 'code', k.code, 'currency', json_build_object(
        'code', k.currency_code, 'name', k.currency_name, 'symbol', k.currency_symbol, 'icon', k.currency_icon)) as country,
      case when c.terminals_platform then coalesce(l.terminals_count, 0) else c.terminals_count end as "terminalsCount",
      (
        select coalesce(json_agg(json_build_object('id', b.bank_id, 'code', b.code, 'name', b.name, 'status', i.status,
          'stage', i.reporting_stage, 'bankReportUploads', i.bank_report_uploads,
          'merchantReportUploads', i.merchant_report_uploads, 'expectedCompensation', i.expected_compensation,
          'segmentCustomers', coalesce(s.customers_count, 0)) order by b.code), '[]')
        from campaign_banks i join banks b using (bank_id) left join campaign_segments s using (cashback_id, bank_id)
        where i.cashback_id = c.cashback_id
      ) as banks
    from campaigns c join merchants m using (merchant_id) join countries k using (country_id)
    left join merchant_terminal_lists l using (merchant_id)
    where c.cashback_id = $1`,
}

/** @returns null when there is no such campaign */
export async function findCampaign(database: Queryable, cashbackId: string): Promise<CampaignDetails | null> {
  const [details] = await database.query<CampaignDetails>(detailsStatement, [cashbackId])
  return details ?? null
}
