/**
 * Reads all details of one campaign for its merchant. One statement reads them, so that all belong to the same version.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import type { CampaignState } from '../lifecycle/lifecycle.ts'
import type { BankStatus, ReportingStage } from '../lifecycle/transitions.ts'

export type InvitedBank = {
  bankId: string
  name: string
  logoUrl: string
  status: BankStatus
  stage: ReportingStage | null
  bankReportUploads: number
  merchantReportUploads: number
}

export type Country = {
  id: string
  name: string
  code: string
  currency: { code: string; name: string; symbol: string; icon: string }
}

export type Details = Omit<CampaignState, 'banks'> & {
  version: number
  updatedAt: Date
  retailerName: string
  country: Country
  banks: InvitedBank[]
  /** The sum over all banks as decimal text; null before the first report. */
  expectedCompensation: string | null
  /** The number of customers in each bank's part of the segment. */
  segmentSizes: number[]
  terminalsPlatform: boolean
  terminalsCount: number
  /**
   * JSON text of the fields that only an edit changes. It has no closing brace, so that further fields can be added.
   */
  card: string
  /** JSON text of the campaign's current terminals. */
  terminals: string
}

const statement: Statement = {
  name: 'campaigns.details',
  text: `
    select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", c.created_by_bank_id as "createdByBankId", c.status,
      c.date_from as "dateFrom", c.date_to as "dateTo", c.merchant_compensation_percentage > 0 as "merchantPays", c.version,
      c.updated_at as "updatedAt", m.name as "retailerName", c.card,
      json_build_object('id', k.country_id, 'name', k.name, 'code', k.code, 'currency', json_build_object(
        'code', k.currency_code, 'name', k.currency_name, 'symbol', k.currency_symbol, 'icon', k.currency_icon)) as country,
      (
        select coalesce(json_agg(json_build_object(
          'bankId', b.bank_id, 'name', b.name, 'logoUrl', b.logo_url, 'status', i.status, 'stage', i.reporting_stage,
          'bankReportUploads', i.bank_report_uploads, 'merchantReportUploads', i.merchant_report_uploads)
          order by b.name collate "C", b.bank_id), '[]')
        from campaign_banks i join banks b using (bank_id) where i.cashback_id = c.cashback_id
      ) as banks,
      (
        select sum(expected_compensation)::text from campaign_banks i where i.cashback_id = c.cashback_id
      ) as "expectedCompensation",
      array(select customers_count from campaign_segments s where s.cashback_id = c.cashback_id) as "segmentSizes",
      c.terminals_platform as "terminalsPlatform",
      case when c.terminals_platform then coalesce(l.terminals_count, 0) else c.terminals_count end as "terminalsCount",
      case when c.terminals_platform then coalesce(l.terminals, '[]') else c.terminals end as terminals
    from campaigns c
    join merchants m using (merchant_id)
    join countries k using (country_id)
    left join merchant_terminal_lists l using (merchant_id)
    where c.cashback_id = $1`,
}

/** @returns null when there is no such campaign */
export async function findDetails(database: Queryable, cashbackId: string): Promise<Details | null> {
  const [details] = await database.query<Details>(statement, [cashbackId])
  return details ?? null
}
