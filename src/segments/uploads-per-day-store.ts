/**
 * Limits the segments that a merchant forms per day: many small files would reveal who is a bank's customer
 * (contract/campaigns.md, "Segments").
 */
import type { Queryable } from '../db/database.ts'
import { secondsLeftToday, todaySql } from '../db/today-sql.ts'
import { DomainError } from '../errors.ts'
import { retryAfter } from '../work/counting.ts'

/**
 * How many uploads of segments are allowed on one day, for one campaign and for all campaigns of a merchant. Days are
 * UTC days of real time; the sandbox clock has no effect.
 */
const maxOfCampaign = 20
const maxOfMerchant = 100

type Upload = { merchantId: string; cashbackId: string }

/** @throws DomainError 'too-many' when the campaign or the merchant has reached its maximum of segments for today */
export async function requireUploadLeft(database: Queryable, { merchantId, cashbackId }: Upload): Promise<void> {
  const [used] = await database.query<{ ofCampaign: number; ofMerchant: number; secondsLeft: number }>(
    `select coalesce(sum(uploads) filter (where cashback_id = $2), 0)::int as "ofCampaign",
       coalesce(sum(uploads), 0)::int as "ofMerchant",
       ${secondsLeftToday} as "secondsLeft"
     from segment_uploads where merchant_id = $1 and day = ${todaySql}`,
    [merchantId, cashbackId],
  )
  if (!used || (used.ofCampaign < maxOfCampaign && used.ofMerchant < maxOfMerchant)) return
  const text =
    used.ofCampaign < maxOfCampaign
      ? `Segments can be formed ${maxOfMerchant} times a day: go on tomorrow (UTC)`
      : `The segment of a campaign can be formed ${maxOfCampaign} times a day: go on tomorrow (UTC)`
  throw new DomainError('too-many', text, retryAfter(used.secondsLeft))
}

/**
 * Makes other uploads of the same merchant wait until this transaction ends. To prevent a deadlock, call it before
 * locking the campaign: an upload locks the merchant's lists at its end, but locking a campaign may start the campaign,
 * and the start locks these lists earlier.
 */
export async function lockUploads(transaction: Queryable, merchantId: string): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended($1, 23))', [merchantId])
}

/**
 * Counts a segment that is being formed. Call `lockUploads` before.
 *
 * @throws as `requireUploadLeft`
 */
export async function countUpload(transaction: Queryable, upload: Upload): Promise<void> {
  const { merchantId, cashbackId } = upload
  await requireUploadLeft(transaction, upload)
  await transaction.execute(`delete from segment_uploads where merchant_id = $1 and day < ${todaySql}`, [merchantId])
  await transaction.execute(
    `insert into segment_uploads as u (merchant_id, day, cashback_id, uploads) values ($1, ${todaySql}, $2, 1)
     on conflict (merchant_id, day, cashback_id) do update set uploads = u.uploads + 1`,
    [merchantId, cashbackId],
  )
}
