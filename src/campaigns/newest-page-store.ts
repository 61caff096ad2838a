/**
 * Reads a page of a campaign list; the time does not grow with the length of the list. An index gives the newest
 * campaigns of the requested statuses, up to `maxScanned`; only these are filtered and sorted. For a list without
 * filters that is sorted newest first, it reads only the campaigns up to the end of the page.
 */
import type { Queryable } from '../db/database.ts'
import { maxScanned, type Page, skipped } from '../http/paging.ts'

export type Listing = {
  /**
   * SQL that selects `cashback_id`, `at` and `name`, newest first. `behind` makes the condition that a row comes after
   * the cursor; its parameter is the column that has the row's time. `max` is the maximum number of rows.
   */
  newest(behind: (at: string) => string, max: string): string
  /**
   * Whether an index returns the rows of `newest` already sorted. Then `findListed` may run `newest` twice, because
   * this is faster than running it once and keeping its rows (`materialized`).
   */
  isInOrder: boolean
  /** An SQL condition on the rows of `newest`, which are named `w`, or on the campaign `c`; null: no filter. */
  filter: string | null
  /** The sort of the list; null: newest first. */
  order: { by: string; ascending: boolean } | null
  /**
   * Whether the filter or the sort reads columns of the campaign `c`. Reading `c` costs more than the row of `newest`.
   */
  readsCampaigns: boolean
  /** Values for `newest` and `filter`, from $5 on. */
  values: unknown[]
}

export type Listed = {
  ids: string[]
  /** How many of the rows that were read match the filter. */
  found: number
  /** Whether there are older campaigns that this statement has not read. */
  hasOlder: boolean
  /** Whether the list goes on after this page. */
  hasMore: boolean
  /** The cursor of the next page; null: this is the last one. */
  next: string | null
}

/** SQL for a cursor: the instant in microseconds, which a number holds exactly, and the id of the campaign. */
const cursor = `(extract(epoch from at) * 1000000)::bigint || '_' || cashback_id`
const cursorAt = `(timestamptz 'epoch' + $1::bigint / 1000000 * interval '1 second' + $1::bigint % 1000000 * interval '1 microsecond')`
const behind = (at: string): string =>
  `($1::bigint is null or (${at} <= ${cursorAt} and (${at} < ${cursorAt} or cashback_id > $2::uuid)))`

/** A lateral join looks up single campaigns. With a plain join the planner may read all campaigns. */
const campaigns = 'cross join lateral (select * from campaigns where cashback_id = w.cashback_id offset 0) c'

/** Whether the list is unfiltered and newest first, so that nothing after the end of the page needs to be read. */
export const isPlain = ({ filter, order }: Listing): boolean => filter === null && order === null

/**
 * The ids of one page. The statement has four steps:
 * - `looked`: the newest campaigns after the cursor, at most `max` ($3) and one more
 * - `found`: the campaigns among the first `max` of `looked` that match the filter
 * - `shown`: the campaigns of the page, sorted
 * - `ends`: rows number `max` and `max` + 1 of `looked`, if they exist. The next read continues after the first; the
 *   second shows that there are older campaigns
 *
 * Without a filter, `found` has `max` rows if `ends` has any. Then `found` is not counted.
 */
export async function findListed(database: Queryable, listing: Listing, page: Page): Promise<Listed> {
  const { newest, isInOrder, filter, order, readsCampaigns, values } = listing
  const from = skipped(page)
  const max = isPlain(listing) ? Math.min(from + page.pageSize, maxScanned) : maxScanned
  const stored = (is: boolean) => (is ? 'materialized' : 'not materialized')
  const [row] = await database.query<Row>(
    `with looked as ${stored(isPlain(listing) || !isInOrder)} (
       ${newest(behind, '$3 + 1')} order by at desc, cashback_id limit $3 + 1
     ), found as ${stored(filter !== null)} (
       select w.cashback_id, w.at, ${order?.by ?? 'w.at'} as key
       from (select * from looked limit $3) as w ${readsCampaigns ? campaigns : ''} where ${filter ?? 'true'}
     ), shown as materialized (
       select *, row_number() over () as n from (
         select * from found order by key ${order?.ascending ? 'asc' : 'desc'}, cashback_id offset $4 limit ${page.pageSize}
       ) as page
     ), ends as materialized (
       select at, cashback_id, $3 - 1 + row_number() over () as n from (select * from looked offset $3 - 1) as last
     )
     select exists (select from ends where n > $3) as "hasOlder",
       ${filter === null ? 'case when exists (select from ends) then $3 else (select count(*) from looked) end' : '(select count(*) from found)'} as found,
       array(select cashback_id from shown order by n) as ids, $4 + (select count(*) from shown) as last,
       (select ${cursor} from shown order by n desc limit 1) as "lastShown",
       (select ${cursor} from ends where n = $3) as "lastLooked"`,
    [...readCursor(page.after), max, from, ...values],
  )
  if (!row) throw new Error('A select without a table has one row')
  const { ids, found, hasOlder } = row
  const hasFurther = row.lastShown !== null && row.last < found
  // A list that is newest first goes on after the last campaign of this page, if more of the campaigns that were read
  // match. In all other cases, the cursor is behind all campaigns that were read. In another sort, some of them belong
  // on later pages, which users reach by page number, with the cursor of this page.
  const next = hasFurther && order === null ? row.lastShown : hasOlder ? row.lastLooked : null
  return { ids, found, hasOlder, hasMore: hasFurther || hasOlder, next }
}

type Row = {
  hasOlder: boolean
  found: number
  ids: string[]
  last: number
  lastShown: string | null
  lastLooked: string | null
}

function readCursor(after: string | undefined): [micros: string | null, cashbackId: string | null] {
  const [at = null, cashbackId = null] = after?.split('_') ?? []
  return [at, cashbackId]
}
