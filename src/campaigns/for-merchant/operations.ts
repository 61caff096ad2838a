/**
 * Operations of merchants on their campaigns: read, launch, delete (contract/campaigns.md). `form/` creates and edits
 * campaigns.
 */
import type { MerchantCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import type { CampaignDeps } from '../deps.ts'
import { findAuthor } from '../form/campaign-store.ts'
import { actorOf } from '../lifecycle/actor.ts'
import { lockCampaignByClock } from '../lifecycle/due-transitions.ts'
import { decideOn, type Guard, requireExpected } from '../lifecycle/expected-version.ts'
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../lifecycle/locking-store.ts'
import { writeDecisions } from '../lifecycle/transitions-store.ts'
import { campaignNotFound } from '../not-found.ts'
import { type Details, findDetails } from './details-store.ts'

type Params = { merchant: MerchantCaller; cashbackId: string }
/** The campaign after the call, and a message that says what was done. */
export type Done = { campaign: LockedCampaign; message: string }

/** @throws DomainError 'forbidden' for another merchant's campaign */
export function requireOwn(campaign: { merchantId: string }, { merchantId }: MerchantCaller): void {
  if (campaign.merchantId !== merchantId) throw new DomainError('forbidden', 'The campaign belongs to another merchant')
}

/** @throws DomainError 'forbidden' for another merchant's campaign, and for a campaign that a bank has created */
export function requireAuthor(
  campaign: { merchantId: string; createdByBankId: string | null },
  merchant: MerchantCaller,
): void {
  requireOwn(campaign, merchant)
  if (campaign.createdByBankId !== null)
    throw new DomainError('forbidden', 'The campaign was created by a bank: only its author may do this')
}

/**
 * Checks that the merchant is the author of the campaign.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' as `requireAuthor`
 */
export async function requireAuthorOf({ database }: Pick<CampaignDeps, 'database'>, params: Params): Promise<void> {
  const campaign = await findAuthor(database, params.cashbackId)
  if (!campaign) throw campaignNotFound('not-found')
  requireAuthor(campaign, params.merchant)
}

/**
 * Reads one campaign with all details.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' for another merchant's campaign
 */
export async function readDetails({ database }: { database: Queryable }, params: Params): Promise<Details> {
  const details = await findDetails(database, params.cashbackId)
  if (!details) throw campaignNotFound('not-found')
  requireOwn(details, params.merchant)
  return details
}

/**
 * The merchant launches its campaign; banks that have not decided are left out.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' for another merchant's campaign; 'stale' as
 *   `requireExpected`; 'campaign-state' and 'no-bank-approved' as `lifecycle.launch`
 */
export async function launch(deps: CampaignDeps, params: Params & Guard): Promise<Done> {
  return deps.database.transaction(async transaction => {
    const campaign = await lockExisting(transaction, deps, params.cashbackId)
    requireOwn(campaign, params.merchant)
    const now = deps.clock.now()
    const decision = await decideOn(
      () => requireExpected(campaign, params),
      () => lifecycle.launch(campaign, now),
    )
    const leftOut = decision.changes.filter(({ subject }) => subject === 'bank').length
    const input = { actor: actorOf(params.merchant), now }
    const [launched] = await writeDecisions(transaction, [{ campaign, decision }], input)
    return { campaign: launched ?? campaign, message: launchMessage(leftOut) }
  })
}

function launchMessage(leftOut: number): string {
  if (leftOut === 0) return 'The launch of the campaign is confirmed'
  const banks = leftOut === 1 ? '1 bank that has not decided is' : `${leftOut} banks that have not decided are`
  return `The launch of the campaign is confirmed; ${banks} left out`
}

/**
 * The author deletes its campaign. A repeated call changes nothing and gives the same answer.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' as `requireAuthor`; 'campaign-state' when it is too late;
 *   'stale' as `requireExpected`
 */
export async function remove(deps: CampaignDeps, params: Params & Guard): Promise<Done> {
  return deps.database.transaction(async transaction => {
    const campaign = await lockExisting(transaction, deps, params.cashbackId)
    requireAuthor(campaign, params.merchant)
    const now = deps.clock.now()
    const decision = await decideOn(
      () => requireExpected(campaign, params),
      () => lifecycle.remove(campaign, now),
    )
    const message = 'The campaign is deleted'
    if (decision.changes.length === 0) return { campaign, message }
    const input = { actor: actorOf(params.merchant), now }
    const [removed] = await writeDecisions(transaction, [{ campaign, decision }], input)
    return { campaign: removed ?? campaign, message }
  })
}

async function lockExisting(transaction: Queryable, deps: CampaignDeps, cashbackId: string): Promise<LockedCampaign> {
  const campaign = await lockCampaignByClock(transaction, deps, cashbackId)
  if (!campaign) throw campaignNotFound('not-found')
  return campaign
}
