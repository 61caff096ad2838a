/** SQL of the portal's list of a bank's campaigns and of one campaign, without the long lists (terminals, customers). */

import type { Queryable, Statement } from '../../db/database.ts'
import { maxScanned, type Page } from '../../http/paging.ts'
import type { Country } from '../for-merchant/details-store.ts'
import type { CampaignState } from '../lifecycle/lifecycle.ts'
import type { BankStatus, CampaignStatus, ReportingStage } from '../lifecycle/transitions.ts'
import { bankStatuses, campaignStatuses } from '../lifecycle/transitions.ts'
import { findListed, isPlain, type Listing } from '../newest-page-store.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'

export const sortBys = ['createdAt', 'updatedAt', 'name', 'status', 'dateFrom', 'dateTo', 'percentage'] as const
export type SortBy = (typeof sortBys)[number]

/**
 * The filters and the sort of the list. A field that is null filters nothing. The lists of statuses have no duplicates.
 */
export type BankCampaignSearch = {
  /** A regular expression of PostgreSQL for the campaign's name. */
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
  createdAt: 'w.at',
  updatedAt: updatedForBank(
    '(select changed_at from campaign_banks where cashback_id = w.cashback_id and bank_id = $5)',
  ),
  name: 'w.name collate "C"',
  status: `array_position(array['${campaignStatuses.join("', '")}'], w.campaign_status)`,
  dateFrom: 'w.date_from',
  dateTo: 'w.date_to',
  percentage: 'w.percentage',
}

const ownPart = `
  i.status as "bankStatus", i.reporting_stage as stage, i.bank_report_uploads as "bankReportUploads",
  i.merchant_report_uploads as "merchantReportUploads", i.expected_compensation::text as "expectedCompensation"`

/**
 * Nearly all columns by which lists are filtered and sorted. The indexes that `newestOfAll` and `newestOfSome` read contain these
 * columns; the others are in `campaigns`.
 */
const listed = 'cashback_id, created_at as at, campaign_status, name, date_from, date_to, percentage'

/** Whether a search includes all default statuses, which apply when the query names none. */
const hasDefaultStatuses = ({ statuses, bankStatuses: own }: BankCampaignSearch): boolean =>
  campaignStatuses.every(status => status === 'deleted' || statuses.includes(status)) &&
  bankStatuses.every(status => own.includes(status))

/** The newest campaigns when all default statuses are requested. An index has all campaigns of a bank, newest first. */
const newestOfAll: Listing['newest'] = behind => `
  select ${listed} from campaign_banks
  where bank_id = $5 and campaign_status = any($6::text[]) and status = any($7::text[]) and ${behind('created_at')}`

/**
 * The newest campaigns of a few statuses. An index finds the newest campaigns of each pair of campaign status and bank
 * status.
 */
const newestOfSome: Listing['newest'] = (behind, max) => `
  select p.* from unnest($6::text[]) as s (campaign_status) cross join unnest($7::text[]) as b (status) cross join lateral (
    select ${listed} from campaign_banks
    where bank_id = $5 and campaign_status = s.campaign_status and status = b.status and ${behind('created_at')}
    order by created_at desc, cashback_id limit ${max}
  ) p`

function listingOf(bankId: string, search: BankCampaignSearch): Listing {
  const { statuses, bankStatuses, namePattern, createdByType, startsFrom, endsBy, sort } = search
  const values: unknown[] = [bankId, statuses, bankStatuses]
  const filters: string[] = []
  // `findListed` has four parameters of its own, so the first of `values` is $5.
  const asked = (value: unknown, condition: (input: string) => string) => {
    if (value !== null) filters.push(condition(`$${values.push(value) + 4}`))
  }
  asked(namePattern, input => `w.name ~ ${input}`)
  asked(createdByType, input => `(${input} = 'bank') = (c.created_by_bank_id is not null)`)
  asked(startsFrom, input => `w.date_from >= ${input}`)
  asked(endsBy, input => `w.date_to <= ${input}`)
  const isNewestFirst = sort.by === 'createdAt' && !sort.ascending
  const order = isNewestFirst ? null : { by: columns[sort.by], ascending: sort.ascending }
  const isAll = hasDefaultStatuses(search)
  return {
    newest: isAll ? newestOfAll : newestOfSome,
    isInOrder: isAll,
    filter: filters.length === 0 ? null : filters.join(' and '),
    order,
    readsCampaigns: [...filters, order?.by ?? ''].some(text => text.includes('c.')),
    values,
  }
}

/**
 * One page of the campaigns to which the bank is invited. `next` and `isComplete` are as in `ListingPagination`.
 *
 * @param database one snapshot: the ids, their campaigns and the total are read by three statements
 */
export async function findBankCampaigns(
  database: Queryable,
  bankId: string,
  search: BankCampaignSearch,
  page: Page,
): Promise<{
  campaigns: BankCampaign[]
  totalItems: number
  isComplete: boolean
  hasMore: boolean
  next: string | null
}> {
  const listing = listingOf(bankId, search)
  const { ids, found, hasOlder, hasMore, next } = await findListed(database, listing, page)
  const campaigns = await database.query<BankCampaign>(
    `select c.cashback_id as "cashbackId", c.merchant_id as "retailerId", m.name as "retailerName",
            m.name_en as "retailerNameEn", c.created_by_bank_id as "createdByBankId", c.name, c.status, c.date_from as "dateFrom", c.date_to as "dateTo",
            c.percentage::text, c.merchant_compensation_percentage::text as "merchantCompensationPercentage",
            c.max_budget::text as "maxBudget", k.currency_code as currency,
            case when c.terminals_platform then coalesce(l.terminals_count, 0) else c.terminals_count end as "terminalsCount",
            c.created_at as "createdAt", ${updatedForBank('i.changed_at')} as "updatedAt", ${ownPart}
     from unnest($2::uuid[]) with ordinality as page (cashback_id, n)
     join campaign_banks i on i.cashback_id = page.cashback_id and i.bank_id = $1
     join campaigns c on c.cashback_id = page.cashback_id join merchants m using (merchant_id)
     join countries k using (country_id) left join merchant_terminal_lists l using (merchant_id)
     order by n`,
    [bankId, ids],
  )
  const totalItems = isPlain(listing) ? await countOf(database, bankId, search) : found
  return { campaigns, totalItems, isComplete: isPlain(listing) ? totalItems <= maxScanned : !hasOlder, hasMore, next }
}

async function countOf(database: Queryable, bankId: string, search: BankCampaignSearch): Promise<number> {
  const [counted] = await database.query<{ count: number }>(
    `select coalesce(sum(campaigns), 0)::bigint as count from campaign_counts
     where party_id = $1 and campaign_status = any($2::text[]) and bank_status = any($3::text[])`,
    [bankId, search.statuses, search.bankStatuses],
  )
  return counted?.count ?? 0
}

/** A campaign as one of its banks sees it, without terminals and customers, which may be many. */
export type BankCampaignDetails = Omit<CampaignState, 'banks'> &
  OwnPart & {
    updatedAt: Date
    retailerName: string
    retailerNameEn: string
    country: Country
    /**
     * JSON text of the fields that only an edit changes. It has no closing brace, so that further fields can be added.
     */
    card: string
    terminalsCount: number
    /** null: the merchant has formed no segment. */
    segment: { customersCount: number; formedAt: string; sourceFileName: string } | null
  }

const detailsStatement: Statement = {
  name: 'portal.bank-campaign',
  text: `
    select c.cashback_id as "cashbackId", c.merchant_id as "merchantId", c.created_by_bank_id as "createdByBankId", c.status,
      c.date_from as "dateFrom", c.date_to as "dateTo", c.merchant_compensation_percentage > 0 as "merchantPays",
      ${updatedForBank('i.changed_at')} as "updatedAt", m.name as "retailerName", m.name_en as "retailerNameEn", c.card,
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
