/**
 * Limits the number and the total size of a merchant's pending campaigns (contract/limits.md, "Campaigns and stock"). A
 * campaign is pending while no bank has approved it yet. A lock makes checks for the same merchant run one after the
 * other, so that two requests at the same time cannot exceed a limit together.
 */

import type { Clock } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import { type BrokenRule, broken } from '../../error-rules.ts'
import type { TerminalList } from './terminal-list.ts'

export type PendingLimits = {
  campaigns: number
  /** The maximum size in bytes of all pending campaigns together, in the form in which banks get them. */
  bytes: number
}

/** The parts of a created or edited campaign from which its size is computed. */
type Content = {
  /** The JSON text of the terms without terminals (`cardText`), which banks get. */
  card: string
  terminalsPlatform: boolean
  /** The campaign's own list; undefined: an edit does not change it. */
  terminals: TerminalList | undefined
}
type Use = { campaigns: number; bytes: number; ofDirectory: number; ownTerminals: number; presentBytes: number }

/**
 * Counts the merchant's pending campaigns and adds up their sizes, without the campaign `$2`, which is being edited.
 * The sum includes campaigns that were deleted within the last day, by the platform's clock (`$4`), because they stay
 * in the banks' lists. Otherwise a merchant could make these lists longer and longer by creating and deleting
 * campaigns.
 *
 * Also measures the stored campaign `$2`, because an edit without `terminals` keeps the stored ones. The columns `card`
 * and `terminals` are not compressed, so PostgreSQL knows their lengths without reading the texts.
 */
const useStatement = `
  with directory as materialized (
    select coalesce((select octet_length(terminals) from merchant_terminal_lists where merchant_id = $1), 0) as bytes
  ), pending as (
    select ${sizeOf('c')} as bytes
    from campaigns c
    where merchant_id = $1 and status = 'awaitingBankApproval' and created_by_bank_id is null and cashback_id is distinct from $2
      and ${isUnapproved('c')}
    limit $3
  ), deleted as (
    select ${sizeOf('c')} as bytes
    from campaigns c
    where merchant_id = $1 and status = 'deleted' and updated_at <= $4 and updated_at > $4::timestamptz - interval '1 day' and created_by_bank_id is null
      and ${isUnapproved('c')}
    order by updated_at desc limit $3
  ), edited as (
    select octet_length(terminals) as terminals, ${sizeOf('c')} as bytes from campaigns c where cashback_id = $2
  )
  select (select count(*)::int from pending) as campaigns, (select coalesce(sum(bytes), 0)::float8 from (table pending union all table deleted) as kept) as bytes,
    (select bytes from directory) as "ofDirectory", coalesce((select terminals from edited), 0) as "ownTerminals",
    coalesce((select bytes from edited), 0) as "presentBytes"`

/** SQL for whether no bank has approved a campaign. */
function isUnapproved(campaign: string): string {
  return `not exists (select from campaign_banks b where b.cashback_id = ${campaign}.cashback_id and b.status = 'approved')`
}

/** SQL for the size of a campaign as banks get it. */
function sizeOf(campaign: string): string {
  const terminals = `case when ${campaign}.terminals_platform then (select bytes from directory) else octet_length(${campaign}.terminals) end`
  return `octet_length(${campaign}.card) + ${terminals}`
}

/**
 * The errors for limits that a new campaign would exceed. Until this transaction ends, other checks of the same
 * merchant wait.
 */
export async function newCampaignErrors(
  transaction: Queryable,
  limits: PendingLimits,
  { merchantId, content, clock }: { merchantId: string; content: Content; clock: Clock },
): Promise<BrokenRule[]> {
  const use = await lockUse(transaction, limits, { merchantId, cashbackId: null, clock })
  if (use.campaigns >= limits.campaigns) return [broken('participantsIds', 'max-pending', { max: limits.campaigns })]
  return sizeErrors(limits, use, content)
}

/**
 * The errors for limits that an edit of a pending campaign would exceed. An edit that does not make the campaign longer
 * is always accepted. Until this transaction ends, other checks of the same merchant wait.
 */
export async function editErrors(
  transaction: Queryable,
  limits: PendingLimits,
  params: { merchantId: string; cashbackId: string; content: Content; clock: Clock },
): Promise<BrokenRule[]> {
  return sizeErrors(limits, await lockUse(transaction, limits, params), params.content)
}

async function lockUse(
  transaction: Queryable,
  limits: PendingLimits,
  { merchantId, cashbackId, clock }: { merchantId: string; cashbackId: string | null; clock: Clock },
): Promise<Use> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended($1, 22))', [merchantId])
  const [use] = await transaction.query<Use>(useStatement, [
    merchantId,
    cashbackId,
    limits.campaigns,
    // Read the clock only after the wait for the lock. Then campaigns that were deleted during the wait are counted.
    clock.now(),
  ])
  if (!use) throw new Error('An aggregate has one row')
  return use
}

function sizeErrors(limits: PendingLimits, use: Use, { card, terminalsPlatform, terminals }: Content): BrokenRule[] {
  const own = terminals?.text?.reduce((sum, piece) => sum + piece.byteLength, 0) ?? use.ownTerminals
  const bytes = Buffer.byteLength(card) + (terminalsPlatform ? use.ofDirectory : own)
  const mebibytes = Math.floor(limits.bytes / (1024 * 1024))
  const fits = use.bytes + bytes <= limits.bytes || bytes <= use.presentBytes
  return fits ? [] : [broken('terminals', 'max-pending-size', { mebibytes })]
}
