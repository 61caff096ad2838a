/** SQL that reads a settlement act. It is one statement, so that all parts of the act show the same moment. */
import type { CampaignStatus, ReportingStage } from '../../campaigns/lifecycle/transitions.ts'
import type { Queryable, Statement } from '../../db/database.ts'
import type { CountsByKind } from '../differences.ts'
import type { ListedReport } from '../store.ts'

export type ActReport = Omit<ListedReport, 'side' | 'uploadedBy' | 'comment'> & {
  /**
   * The hash in hex. It is null for a report from an older version of the platform, and `hashReport` then computes it.
   */
  sha256: string | null
}

type ActBank = {
  id: string
  code: string
  name: string
  stage: ReportingStage
  compensation: string | null
  matched: number | null
  counts: (Partial<CountsByKind> | null)[]
  bankReport: ActReport | null
  merchantReport: ActReport | null
  acceptedAt: string | null
  settledAt: string | null
  receivedAt: string | null
}

export type Act = {
  cashbackId: string
  campaignName: string
  status: CampaignStatus
  dateFrom: string
  dateTo: string
  percentage: string
  merchantCompensationPercentage: string
  currency: string
  merchant: {
    id: string
    code: string
    name: string
    nameEn: string
    merchantCategoryCode: string[]
    domain: string[]
  }
  paidAt: string | null
  banks: ActBank[]
  totalCompensation: string
}

const reportOf = (column: string): string => `
  (select json_build_object('reportId', p.report_id, 'version', p.version, 'fileName', p.file_name, 'sizeBytes', p.size_bytes,
     'lines', p.lines, 'totalAmount', p.total_amount::numeric(20, 2)::text, 'totalCashback', p.total_cashback::numeric(20, 2)::text,
     'uploadedAt', p.uploaded_at, 'sha256', encode(p.sha256, 'hex'))
   from reports p where p.report_id = r.${column})`

const lastTransition = (trigger: string, ofBank: string): string =>
  `(select max(h.at) from campaign_history h where h.cashback_id = c.cashback_id and h.trigger = '${trigger}' and ${ofBank})`

const actStatement: Statement = {
  name: 'reports.act',
  text: `
    select c.cashback_id as "cashbackId", c.name as "campaignName", c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
      c.percentage::text, c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
      k.currency_code as currency, ${lastTransition('pay', 'h.bank_id is null')} as "paidAt",
      json_build_object('id', m.merchant_id, 'code', m.code, 'name', m.name, 'nameEn', m.name_en,
        'merchantCategoryCode', m.merchant_category_code, 'domain', m.domain) as merchant,
      b.banks, b.total::text as "totalCompensation"
    from campaigns c join merchants m using (merchant_id) join countries k using (country_id)
    cross join lateral (
      select coalesce(sum(i.expected_compensation), 0)::numeric(20, 2) as total, coalesce(json_agg(json_build_object(
        'id', i.bank_id, 'code', n.code, 'name', n.name, 'stage', i.reporting_stage,
        'compensation', i.expected_compensation::numeric(20, 2)::text, 'matched', r.matched,
        'counts', json_build_array(rb.broken_terms, rm.broken_terms, r.unmatched),
        'bankReport', ${reportOf('bank_report_id')}, 'merchantReport', ${reportOf('merchant_report_id')},
        'acceptedAt', ${lastTransition('accept-report', 'h.bank_id = i.bank_id')},
        'settledAt', ${lastTransition('settle', 'h.bank_id = i.bank_id')},
        'receivedAt', ${lastTransition('acknowledge', 'h.bank_id = i.bank_id')})
        order by n.name collate "C", n.bank_id), '[]') as banks
      from campaign_banks i join banks n using (bank_id) left join reconciliations r using (cashback_id, bank_id)
      left join reports rb on rb.report_id = r.bank_report_id left join reports rm on rm.report_id = r.merchant_report_id
      where i.cashback_id = c.cashback_id and i.reporting_stage is not null and ($2::uuid is null or i.bank_id = $2)
    ) b
    where c.cashback_id = $1`,
}

/**
 * @param bankId only this bank; null: every bank whose reconciliation has begun
 * @returns null when the campaign is unknown
 */
export async function findAct(database: Queryable, cashbackId: string, bankId: string | null): Promise<Act | null> {
  const [act] = await database.query<Act>(actStatement, [cashbackId, bankId])
  return act ?? null
}
