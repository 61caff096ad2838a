/** SQL with which the platform's operator reads campaigns of any merchant, without their terminals and customers. */
import type { Country } from '../campaigns/for-merchant/details-store.ts'
import { isAboutBank, newestAboutBank } from '../campaigns/history/about-bank-sql.ts'
import {
  type BankStatus,
  bankStatuses,
  type CampaignStatus,
  campaignStatuses,
  type ReportingStage,
} from '../campaigns/lifecycle/transitions.ts'
import { findListed, isPlain, type Listing } from '../campaigns/newest-page-store.ts'
import type { Queryable, Statement } from '../db/database.ts'
import { maxScanned, type Page } from '../http/paging.ts'

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

/** A field that is null sets no filter. */
export type CampaignSearch = {
  /** A regular expression of PostgreSQL. */
  namePattern: string | null
  cashbackId: string | null
  /** Without duplicates. */
  statuses: readonly CampaignStatus[]
  merchantCode: string | null
  bankCode: string | null
}

const merchantOf = (code: string) => `(select merchant_id from merchants where code = ${code})`
const bankOf = (code: string) => `(select bank_id from banks where code = ${code})`

/** Reads the most recently changed campaigns of each status by an index, for all merchants or for one. */
const lastChanged =
  (ofMerchant: string): Listing['newest'] =>
  (behind, max) =>
    `
    select p.* from unnest($5::text[]) as s (status) cross join lateral (
      select cashback_id, updated_at as at, name from campaigns where status = s.status ${ofMerchant} and ${behind('updated_at')}
      order by updated_at desc, cashback_id limit ${max}
    ) p`

/**
 * Finds the same rows as `lastChanged`. The database merges the sorted rows of all statuses, so it reads about `max`
 * rows in total instead of `max` rows of each status. Use it for a search by name: it takes a tenth of the time of
 * `lastChanged`, because such a search examines thousands of rows. Do not use it for a page without a search: planning
 * this query takes longer than reading so few rows.
 */
const lastChangedMerged =
  (statuses: readonly CampaignStatus[], ofMerchant: string): Listing['newest'] =>
  (behind, max) => {
    const ofEach = statuses.map(
      (_, index) => `(
        select cashback_id, updated_at as at, name from campaigns
        where status = ($5::text[])[${index + 1}] ${ofMerchant} and ${behind('updated_at')}
        order by updated_at desc, cashback_id limit ${max})`,
    )
    return `select p.* from (${ofEach.join(' union all ')}) as p`
  }

/** Reads the newest campaigns of a bank by an index, which has all campaigns of the bank in this order. */
const newestOfBank =
  (bank: string): Listing['newest'] =>
  behind =>
    `
    select cashback_id, created_at as at, name from campaign_banks
    where bank_id = ${bankOf(bank)} and campaign_status = any($5::text[]) and ${behind('created_at')}`

/**
 * Like `newestOfBank`, but only for campaigns in the given statuses. For each pair of a campaign's status and the
 * bank's own status in the campaign, an index finds the newest campaigns.
 */
const newestOfBankIn =
  (bank: string, statusesOfBank: string): Listing['newest'] =>
  (behind, max) =>
    `
    select p.* from unnest($5::text[]) as s (campaign_status) cross join unnest(${statusesOfBank}::text[]) as b (status)
    cross join lateral (
      select cashback_id, created_at as at, name from campaign_banks
      where bank_id = ${bankOf(bank)} and campaign_status = s.campaign_status and status = b.status and ${behind('created_at')}
      order by created_at desc, cashback_id limit ${max}
    ) p`

/**
 * Builds the SQL of a search. An index finds the campaigns by the id if it is given, otherwise by the bank, otherwise
 * by the merchant. The other conditions are checked on the campaigns found.
 */
function listingOf({ statuses, cashbackId, namePattern, merchantCode, bankCode }: CampaignSearch): Listing {
  const values: unknown[] = [statuses]
  const input = (value: unknown): string => `$${values.push(value) + 4}`
  const filters = namePattern === null ? [] : [`w.name ~ ${input(namePattern)}`]
  const merchant = merchantCode === null ? null : input(merchantCode)
  const bank = bankCode === null ? null : input(bankCode)
  const isAll = campaignStatuses.every(status => statuses.includes(status))
  const ofMerchant = merchant === null ? '' : `and merchant_id = ${merchantOf(merchant)}`
  let newest = filters.length === 0 ? lastChanged(ofMerchant) : lastChangedMerged(statuses, ofMerchant)
  if (cashbackId !== null) {
    const id = input(cashbackId)
    newest = behind => `
      select cashback_id, updated_at as at, name from campaigns
      where cashback_id = ${id} and status = any($5::text[]) and ${behind('updated_at')}`
  } else if (bank !== null) newest = isAll ? newestOfBank(bank) : newestOfBankIn(bank, input(bankStatuses))
  const isByMerchant = cashbackId === null && bank === null
  if (merchant !== null && !isByMerchant) filters.push(`c.merchant_id = ${merchantOf(merchant)}`)
  if (bank !== null && cashbackId !== null)
    filters.push(
      `exists (select from campaign_banks i where i.cashback_id = w.cashback_id and i.bank_id = ${bankOf(bank)})`,
    )
  const filter = filters.length === 0 ? null : filters.join(' and ')
  return {
    newest,
    isInOrder: bank !== null && isAll,
    filter,
    order: null,
    readsCampaigns: merchant !== null && !isByMerchant,
    values,
  }
}

/**
 * Reads one page of campaigns. A bank's campaigns are sorted by creation, newest first. All others are sorted by their
 * last change, latest first. `next` and `isComplete` are as in `ListingPagination` (`http/paging.ts`).
 *
 * @param database one snapshot: the ids, their campaigns and the total are read by three statements
 */
export async function findCampaigns(
  database: Queryable,
  search: CampaignSearch,
  page: Page,
): Promise<{
  campaigns: ListedCampaign[]
  totalItems: number
  isComplete: boolean
  hasMore: boolean
  next: string | null
}> {
  const listing = listingOf(search)
  const { ids, found, hasOlder, hasMore, next } = await findListed(database, listing, page)
  const campaigns = await database.query<ListedCampaign>(
    `select c.cashback_id as "cashbackId", c.name, c.status, c.merchant_id as "retailerId", m.code as "retailerCode",
            m.name as "retailerName", m.name_en as "retailerNameEn", case when c.created_by_bank_id is null then 'retailer' else 'bank' end as "createdByType",
            c.date_from as "dateFrom", c.date_to as "dateTo", c.created_at as "createdAt", c.updated_at as "updatedAt",
            (select count(*) from campaign_banks i where i.cashback_id = c.cashback_id) as "banksInvited",
            (select count(*) from campaign_banks i where i.cashback_id = c.cashback_id and i.status = 'approved') as "banksApproved"
     from unnest($1::uuid[]) with ordinality as page (cashback_id, n) join campaigns c using (cashback_id) join merchants m using (merchant_id)
     order by n`,
    [ids],
  )
  if (!isPlain(listing) || search.cashbackId !== null)
    return { campaigns, totalItems: found, isComplete: !hasOlder, hasMore, next }
  const totalItems = await countOf(database, search)
  return { campaigns, totalItems, isComplete: totalItems <= maxScanned, hasMore, next }
}

/**
 * Counts the campaigns of a merchant or of a bank. Without either, it counts all campaigns, up to one more than
 * `maxScanned`.
 */
async function countOf(database: Queryable, { statuses, merchantCode, bankCode }: CampaignSearch): Promise<number> {
  const [counted] =
    bankCode === null && merchantCode === null
      ? await database.query<{ count: number }>(
          `select count(*) from (select from campaigns where status = any($1::text[]) limit ${maxScanned + 1}) as counted`,
          [statuses],
        )
      : await database.query<{ count: number }>(
          `select coalesce(sum(campaigns), 0)::bigint as count from campaign_counts
           where campaign_status = any($1::text[]) and party_id = ${bankCode === null ? merchantOf('$2') : bankOf('$2')}`,
          [statuses, bankCode ?? merchantCode],
        )
  return counted?.count ?? 0
}

type CampaignBank = {
  id: string
  code: string
  name: string
  status: BankStatus
  stage: ReportingStage | null
  bankReportUploads: number
  merchantReportUploads: number
  expectedCompensation: number | null
  segmentCustomers: number
  hasSegment: boolean
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
  /** The time at which the merchant's payment was received; null before that. */
  compensationReceivedAt: Date | null
  banks: CampaignBank[]
  /**
   * JSON text of the fields that change only when the campaign is edited. It has no closing brace, because other fields
   * follow.
   */
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
          'segmentCustomers', coalesce(s.customers_count, 0), 'hasSegment', s.customers_count is not null or coalesce((
            select h.changes #>> '{customersCount,1}' is not null from campaign_history h
            where ${isAboutBank('i.cashback_id', 'i.bank_id')} and h.trigger = 'segment'
            order by ${newestAboutBank} limit 1), false)) order by b.code), '[]')
        from campaign_banks i join banks b using (bank_id) left join campaign_segments s using (cashback_id, bank_id)
        where i.cashback_id = c.cashback_id
      ) as banks
    from campaigns c join merchants m using (merchant_id) join countries k using (country_id)
    left join merchant_terminal_lists l using (merchant_id)
    where c.cashback_id = $1`,
}

/** Finds a campaign with its banks. @returns null when there is no such campaign */
export async function findCampaign(database: Queryable, cashbackId: string): Promise<CampaignDetails | null> {
  const [details] = await database.query<CampaignDetails>(detailsStatement, [cashbackId])
  return details ?? null
}
