/**
 * Limits the pending campaigns of a merchant, those that no bank has approved yet, in number and size
 * (contract/limits.md, "Campaigns and stock"). A lock makes checks for the same merchant run one after the other, so
 * that two requests at the same time cannot exceed a limit together.
 */

import type { Queryable } from '../../db/database.ts'
import { type BrokenRule, broken } from '../../error-rules.ts'
import type { TerminalList } from './terminal-list.ts'

export type PendingLimits = {
  campaigns: number
  /** The maximum for terminals and banners together. */
  bytes: number
}

type Content = {
  terminals: TerminalList | undefined
  bannerSmall: string | null | undefined
  bannerBig: string | null | undefined
}
type Use = { campaigns: number; bytes: number; ownTerminals: number }

/**
 * Counts the merchant's pending campaigns and adds up their sizes, except for the campaign `$2`, which is being edited.
 * Also measures the stored terminals of `$2`, because an edit that gives no terminals keeps them.
 */
const useStatement = `
  select count(*)::int as campaigns, coalesce(sum(bytes), 0)::float8 as bytes,
    coalesce((select octet_length(terminals) from campaigns where cashback_id = $2), 0) as "ownTerminals"
  from (
    select octet_length(terminals) + coalesce(octet_length(banner_small), 0) + coalesce(octet_length(banner_big), 0) as bytes
    from campaigns c
    where merchant_id = $1 and status = 'awaitingBankApproval' and created_by_bank_id is null and cashback_id is distinct from $2
      and not exists (select from campaign_banks b where b.cashback_id = c.cashback_id and b.status = 'approved')
    limit $3
  ) pending`

/** The limits that a new campaign would break. Until this transaction ends, other checks of the same merchant wait. */
export async function newCampaignErrors(
  transaction: Queryable,
  limits: PendingLimits,
  { merchantId, content }: { merchantId: string; content: Content },
): Promise<BrokenRule[]> {
  const use = await lockUse(transaction, limits, merchantId, null)
  if (use.campaigns >= limits.campaigns) return [broken('participantsIds', 'max-pending', { max: limits.campaigns })]
  return sizeErrors(limits, use, content)
}

/**
 * The limits that a pending campaign would break with new terminals or banners. Until this transaction ends, other
 * checks of the same merchant wait.
 */
export async function editErrors(
  transaction: Queryable,
  limits: PendingLimits,
  params: { merchantId: string; cashbackId: string; content: Content },
): Promise<BrokenRule[]> {
  return sizeErrors(limits, await lockUse(transaction, limits, params.merchantId, params.cashbackId), params.content)
}

async function lockUse(
  transaction: Queryable,
  limits: PendingLimits,
  merchantId: string,
  cashbackId: string | null,
): Promise<Use> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended($1, 22))', [merchantId])
  const [use] = await transaction.query<Use>(useStatement, [merchantId, cashbackId, limits.campaigns])
  if (!use) throw new Error('An aggregate has one row')
  return use
}

function sizeErrors(limits: PendingLimits, use: Use, { terminals, bannerSmall, bannerBig }: Content): BrokenRule[] {
  const ofTerminals = terminals?.text?.reduce((sum, piece) => sum + piece.byteLength, 0) ?? use.ownTerminals
  const bytes = ofTerminals + Buffer.byteLength(bannerSmall ?? '') + Buffer.byteLength(bannerBig ?? '')
  const mebibytes = Math.floor(limits.bytes / (1024 * 1024))
  return use.bytes + bytes <= limits.bytes ? [] : [broken('terminals', 'max-pending-size', { mebibytes })]
}
