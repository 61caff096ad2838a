/**
 * Removes report lines, segments and phone numbers that are too old, and checks that they were removed. Other old data
 * is removed by the code of its own folder.
 */
import { endedStatusesSql } from '../campaigns/lifecycle/transitions.ts'
import type { Check, Read, Within } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { hashReport } from '../reconciliation/file-store.ts'

/** Campaigns with one of these statuses never change again. So `updated_at` is the time when the campaign ended. */
const ended = `c.status in ${endedStatusesSql}`

/**
 * The tables with rows of reports. `key` orders the rows of one report, and `atOnce` is how many rows one statement
 * removes.
 */
const reportTables = [
  { table: 'report_lines', key: 'line', atOnce: 50_000 },
  { table: 'report_differences', key: 'place', atOnce: 50_000 },
  // A chunk is up to half a mebibyte.
  { table: 'report_chunks', key: 'chunk', atOnce: 200 },
] as const

/**
 * Marks one report of an old campaign as removed, so that nobody can read its lines, differences and file any longer.
 * `removeReportPiece` then deletes their rows. The hash of the file stays. @returns whether there was a report to mark
 */
export async function markReport(transaction: Queryable, params: { endedBefore: Date; now: Date }): Promise<boolean> {
  const [report] = await transaction.query<{ reportId: string; isHashed: boolean }>(
    `select r.report_id as "reportId", r.sha256 is not null as "isHashed" from reports r join campaigns c using (cashback_id)
     where r.lines_removed_at is null and ${ended} and c.updated_at < $1
     order by r.cashback_id, r.report_id limit 1 for update of r skip locked`,
    [params.endedBefore],
  )
  if (!report) return false
  if (!report.isHashed) await hashReport(transaction, report.reportId)
  await transaction.execute('update reports set lines_removed_at = $2, has_rows_left = true where report_id = $1', [
    report.reportId,
    params.now,
  ])
  return true
}

/** Removes some rows of a report that is marked as removed. @returns whether there was such a report */
export async function removeReportPiece(transaction: Queryable): Promise<boolean> {
  const [report] = await transaction.query<{ reportId: string }>(
    `select report_id as "reportId" from reports where has_rows_left
     order by cashback_id, report_id limit 1 for update skip locked`,
  )
  if (!report) return false
  for (const { table, key, atOnce } of reportTables) {
    const removed = await transaction.execute(
      `delete from ${table} where report_id = $1 and ${key} <= (
         select max(${key}) from (select ${key} from ${table} where report_id = $1 order by ${key} limit $2) piece)`,
      [report.reportId, atOnce],
    )
    if (removed === atOnce) return true
  }
  await transaction.execute('update reports set has_rows_left = false where report_id = $1', [report.reportId])
  return true
}

export function findOldSegments(
  database: Queryable,
  params: { endedBefore: Date; limit: number },
): Promise<{ cashbackId: string; bankId: string }[]> {
  return database.query(
    `select s.cashback_id as "cashbackId", s.bank_id as "bankId" from campaign_segments s join campaigns c using (cashback_id)
     where ${ended} and c.updated_at < $1 order by s.cashback_id, s.bank_id limit $2`,
    [params.endedBefore, params.limit],
  )
}

export async function removeSegment(
  transaction: Queryable,
  { cashbackId, bankId }: { cashbackId: string; bankId: string },
): Promise<void> {
  await transaction.execute('delete from campaign_segments where cashback_id = $1 and bank_id = $2', [
    cashbackId,
    bankId,
  ])
}

/**
 * Removes the phone numbers of profiles that were sold in orders with ids below `before`. Ids ascend with the time of
 * the orders, so these are the oldest ones. Examines at most `limit` orders per call and continues where the last call
 * ended. Unsold profiles keep their numbers, because they belong to nobody.
 *
 * @returns how many orders were examined, whatever their status
 */
export async function removeMsisdns(
  transaction: Queryable,
  params: { before: string; limit: number },
): Promise<number> {
  const [position] = await transaction.query<{ upTo: string }>(
    'select up_to_order_id as "upTo" from msisdn_removal for update',
  )
  const orders = await transaction.query<{ orderId: string; profileId: number; status: string }>(
    `select order_id as "orderId", profile_id as "profileId", status from orders
     where order_id > $1 and order_id < $2 order by order_id limit $3`,
    [position?.upTo, params.before, params.limit],
  )
  const last = orders.at(-1)
  if (!last) return 0
  const sold = orders.filter(({ status }) => status === 'confirmed').map(({ profileId }) => profileId)
  await transaction.execute(`update profiles set msisdn = '' where profile_id = any($1) and msisdn <> ''`, [sold])
  await transaction.execute('update msisdn_removal set up_to_order_id = $1', [last.orderId])
  return orders.length
}

/**
 * A check of `perkline audit` that one kind of data is not kept too long. `campaigns` and `orders` are functions. Each
 * makes the statement that finds violations in a range of campaigns or of orders.
 */
export type RetentionCheck = Check & { campaigns?: (within: Within) => Read; orders?: (within: Within) => Read }

const literal = (at: Date) => `'${at.toISOString()}'::timestamptz`

export const reportLinesCheck = (before: Date): RetentionCheck => ({
  code: 'report-lines-retention',
  name: 'no lines of reports are kept for longer than KEEP_REPORT_LINES_DAYS',
  holds: 'they go when their campaign has ended that long ago',
  campaigns: within => ({
    of: 'reports',
    from: `reports r join campaigns c using (cashback_id) where ${within('r.cashback_id')} and ${within('c.cashback_id')}
      and ${ended} and c.updated_at < ${literal(before)}`,
    rules: [
      {
        code: 'report-lines-retention',
        broken: `r.lines_removed_at is null or exists (select from report_lines l where l.report_id = r.report_id)
          or exists (select from report_differences d where d.report_id = r.report_id)
          or exists (select from report_chunks k where k.report_id = r.report_id)`,
        text: `'the lines of report ' || r.report_id || ' are kept'`,
      },
    ],
  }),
})

export const segmentsCheck = (before: Date): RetentionCheck => ({
  code: 'segments-retention',
  name: 'no segments are kept for longer than KEEP_SEGMENTS_DAYS',
  holds: 'they go when their campaign has ended that long ago',
  campaigns: within => ({
    of: 'campaign_segments',
    from: `campaign_segments s join campaigns c using (cashback_id) where ${within('s.cashback_id')} and ${within('c.cashback_id')}`,
    rules: [
      {
        code: 'segments-retention',
        broken: `${ended} and c.updated_at < ${literal(before)}`,
        text: `'the segment of campaign ' || cashback_id || ', bank ' || s.bank_id || ' is kept'`,
      },
    ],
  }),
})

/**
 * Checks that phone numbers were removed. @param beforeOrderId orders with a lower id are too old to keep their number
 */
export const msisdnCheck = (beforeOrderId: string): RetentionCheck => ({
  code: 'msisdn-retention',
  name: 'no phone numbers are kept for longer than KEEP_MSISDN_DAYS',
  holds: 'they go when the order is that old',
  orders: within => ({
    of: 'orders',
    from: `orders o join lateral (select msisdn from profiles p where p.profile_id = o.profile_id limit 1) p on true
      where ${within('o.order_id')} and o.order_id < '${beforeOrderId}'`,
    rules: [
      {
        code: 'msisdn-retention',
        broken: `o.status = 'confirmed' and p.msisdn <> ''`,
        text: `'the number of order ' || o.order_id || ' is kept'`,
      },
    ],
  }),
})
