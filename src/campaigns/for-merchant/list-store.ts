/**
 * Reads for the merchant's list: the sorted ids of all campaigns that match a filter, and the campaigns of one page.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import {
  type BankStatus,
  type CampaignStatus,
  campaignStatuses,
  type ReportingStage,
} from '../lifecycle/transitions.ts'

export const sortBys = ['createdAt', 'updatedAt', 'name', 'status', 'dateFrom', 'dateTo', 'percentage'] as const
export type SortBy = (typeof sortBys)[number]

/** The filter of a merchant's list. A field that is null filters nothing. */
export type ListFilter = {
  statuses: CampaignStatus[]
  /** A regular expression of PostgreSQL for the campaign's name. */
  namePattern: string | null
  sku: string[] | null
  startsFrom: Date | null
  endsBy: Date | null
}
export type ListSort = { by: SortBy; ascending: boolean }
export type ListRequest = { page: number; pageSize: number; filter: ListFilter; sort: ListSort }

/**
 * Two counters of changes to a merchant's campaigns. `arranged` counts changes of the fields that most lists are sorted
 * by. `touched` counts changes of any field.
 */
export type ListVersion = { arranged: number; touched: number }

export type ListItem = {
  cashbackId: string
  retailerId: string
  banks: { bankId: string; status: BankStatus; stage: ReportingStage | null }[]
  name: string
  description: string | null
  status: CampaignStatus
  dateFrom: Date
  dateTo: Date
  /** Decimal text. */
  percentage: string
  createdAt: Date
  updatedAt: Date
}

const versionStatement: Statement = {
  name: 'merchant-list.version',
  text: 'select arranged, touched from merchant_lists where merchant_id = $1',
}

/** A cheap read: if the version is new, some campaign of the merchant has changed. */
export async function readVersion(database: Queryable, merchantId: string): Promise<ListVersion> {
  const [row] = await database.query<ListVersion>(versionStatement, [merchantId])
  return row ?? { arranged: 0, touched: 0 }
}

/** SQL for the version of a merchant's list, always one row. A statement that joins it gets version and list from the same moment. */
const version = `
  select coalesce(max(arranged), 0) as arranged, coalesce(max(touched), 0) as touched from merchant_lists where merchant_id = $1`

const columns: Record<SortBy, string> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  name: 'name collate "C"',
  status: `array_position(array['${campaignStatuses.join("', '")}'], status)`,
  dateFrom: 'date_from',
  dateTo: 'date_to',
  percentage: 'percentage',
}

const idBytes = 16

/**
 * The sorted ids of the campaigns that match a filter, 16 bytes each, and the number of these campaigns (`total`).
 * `ids` may hold only the ids of the first campaigns.
 */
export type Order = ListVersion & { ids: Buffer; total: number }

const found = `
        from campaigns
        where merchant_id = $1 and status = any($2::text[])
          and ($3::text is null or name ~ $3)
          and ($4::text[] is null or sku && $4)
          and ($5::timestamptz is null or date_from >= $5)
          and ($6::timestamptz is null or date_to <= $6)`

/**
 * Whether counting the campaigns that match a filter is much faster than sorting them. It is not with a filter by name
 * or SKU, because counting must then read long texts, as sorting does.
 */
export const isQuicklyCounted = ({ namePattern, sku }: ListFilter): boolean => namePattern === null && sku === null

/**
 * Finds the sorted ids of a merchant's campaigns that match the filter, and the list's version. Campaigns with equal
 * values are sorted by their ids.
 *
 * @param params.max the maximum number of ids; null: all. Campaigns beyond it are only counted, which takes a third of
 *   the time of sorting all
 */
export async function findOrder(
  database: Queryable,
  params: { merchantId: string; filter: ListFilter; sort: ListSort; max: number | null },
): Promise<Order> {
  const { merchantId, filter, sort, max } = params
  const direction = sort.ascending ? 'asc' : 'desc'
  const statement: Statement = {
    name: `merchant-list.order-${sort.by}-${direction}`,
    text: `
      select coalesce(string_agg(uuid_send(cashback_id), ''), '') as ids, v.arranged, v.touched,
        case when $7::int is null then count(cashback_id) else (select count(*) ${found}) end as total
      from (${version}) v left join (
        select cashback_id ${found}
        order by ${columns[sort.by]} ${direction}, cashback_id limit $7
      ) listed on true
      group by v.arranged, v.touched`,
  }
  const { statuses, namePattern, sku, startsFrom, endsBy } = filter
  const values = [merchantId, statuses, namePattern, sku, startsFrom, endsBy, max]
  const [row] = await database.query<Order>(statement, values)
  if (!row) throw new Error('An aggregate has one row')
  return row
}

export const countIds = (ids: Buffer): number => ids.length / idBytes

/**
 * Reads the campaigns of a page. A bank's part is the text `id status stage`, and the stage is empty if there is none.
 * This is a third faster than JSON.
 */
const itemsStatement: Statement = {
  name: 'merchant-list.items',
  text: `
    select v.arranged, v.touched, item.*
    from (${version}) v left join (
      select n, c.cashback_id as "cashbackId", c.merchant_id as "retailerId", c.name, c.description, c.status,
        c.date_from as "dateFrom", c.date_to as "dateTo", c.percentage::text, c.created_at as "createdAt",
        c.updated_at as "updatedAt", (
          select string_agg(concat(b.bank_id, ' ', b.status, ' ', b.reporting_stage), ',' order by b.bank_id)
          from campaign_banks b where b.cashback_id = c.cashback_id
        ) as banks
      from unnest($2::uuid[]) with ordinality wanted (cashback_id, n) join campaigns c using (cashback_id)
    ) item on true
    order by n`,
}

/**
 * The campaigns of one page.
 *
 * @param params.ids the sorted ids from the start of the list, at least up to the end of the page
 */
export async function findItems(
  database: Queryable,
  params: { merchantId: string; ids: Buffer; page: number; pageSize: number },
): Promise<ListVersion & { items: ListItem[] }> {
  const { merchantId, ids, page, pageSize } = params
  const from = (page - 1) * pageSize * idBytes
  const wanted: string[] = []
  for (let at = from; at < Math.min(from + pageSize * idBytes, ids.length); at += idBytes)
    wanted.push(ids.toString('hex', at, at + idBytes))
  const rows = await database.query<Row>(itemsStatement, [merchantId, wanted])
  const [first] = rows
  if (!first) throw new Error('An aggregate has one row')
  const items = rows.filter(row => row.cashbackId !== null).map(row => ({ ...row, banks: readBanks(row.banks) }))
  return { arranged: first.arranged, touched: first.touched, items }
}

type Row = ListVersion & Omit<ListItem, 'cashbackId' | 'banks'> & { cashbackId: string; banks: string | null }

function readBanks(text: string | null): ListItem['banks'] {
  return (text?.split(',') ?? []).map(bank => {
    const [bankId = '', status, stage] = bank.split(' ')
    return { bankId, status: status as BankStatus, stage: (stage || null) as ReportingStage | null }
  })
}
