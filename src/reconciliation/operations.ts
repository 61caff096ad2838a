/** Operations of a merchant and its banks after the reports are uploaded (contract/reconciliation.md, "Stages"). */
import type { BankCaller, MerchantCaller } from '../caller.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { requireOwn } from '../campaigns/for-merchant/operations.ts'
import { bankNotInvited } from '../campaigns/history/parties.ts'
import { actorOf } from '../campaigns/lifecycle/actor.ts'
import { lockCampaignByClock } from '../campaigns/lifecycle/due-transitions.ts'
import { decideOn, type Guard, requireExpected, requireSeen } from '../campaigns/lifecycle/expected-version.ts'
import * as lifecycle from '../campaigns/lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../campaigns/lifecycle/locking-store.ts'
import { writeDecisions } from '../campaigns/lifecycle/transitions-store.ts'
import { campaignNotFound } from '../campaigns/not-found.ts'
import { asSeenByBank } from '../campaigns/seen-by-bank-store.ts'
import type { Queryable } from '../db/database.ts'

export type Partner = BankCaller | MerchantCaller
/** A bank's part in a campaign, and the caller. */
export type PartParams = { caller: Partner; cashbackId: string; bankId: string }
type AsMerchant = { caller: MerchantCaller; cashbackId: string; bankId: string } & Guard
/** The campaign after the call, and a message that says what was done. */
export type Done = { campaign: LockedCampaign; message: string }

/**
 * The merchant accepts the bank's report. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found' and 'forbidden' as `lockPart`; 'campaign-state' when there is no report to accept; 'stale' when the
 *   campaign has changed since the merchant saw it
 */
export function acceptReport(deps: CampaignDeps, params: AsMerchant): Promise<Done> {
  return changePart(
    deps,
    params,
    (_, bank) => lifecycle.acceptReport(bank),
    'The report is accepted: reconciliation is complete',
  )
}

/**
 * The merchant confirms settlement with the bank. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found' and 'forbidden' as `lockPart`; 'campaign-state' before the reconciliation is complete; 'stale' when
 *   the campaign has changed since the merchant saw it
 */
export function settle(deps: CampaignDeps, params: AsMerchant): Promise<Done> {
  return changePart(deps, params, lifecycle.settle, 'Settlement with the bank is confirmed')
}

/**
 * Records that the bank has received the merchant's share. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found' for an unknown campaign, and when the bank is not invited; 'campaign-state' before the merchant has
 *   paid; 'stale' when the terms or the bank's part have changed since the bank saw them
 */
export function acknowledge(
  deps: CampaignDeps,
  params: { caller: BankCaller; cashbackId: string } & Guard,
): Promise<Done> {
  const part = { ...params, bankId: params.caller.bankId }
  return changePart(deps, part, lifecycle.acknowledge, 'The bank has received the compensation')
}

/**
 * Records that the merchant has paid its share to every bank. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'forbidden' for another merchant's campaign; 'campaign-state' when no
 *   payment is awaited; 'stale' when the campaign has changed since the merchant saw it
 */
export function pay(deps: CampaignDeps, params: { caller: MerchantCaller; cashbackId: string } & Guard): Promise<Done> {
  return deps.database.transaction(async transaction => {
    const campaign = await lockExisting(transaction, deps, params)
    return write(
      deps,
      transaction,
      campaign,
      params,
      () => lifecycle.pay(campaign),
      'The compensation is marked as paid',
    )
  })
}

function changePart(
  deps: CampaignDeps,
  params: PartParams & Guard,
  decide: (campaign: LockedCampaign, bank: lifecycle.BankState) => lifecycle.Decision,
  message: string,
): Promise<Done> {
  return deps.database.transaction(async transaction => {
    const { campaign, bank } = await lockPart(transaction, deps, params)
    return write(deps, transaction, campaign, params, () => decide(campaign, bank), message)
  })
}

async function write(
  { clock }: CampaignDeps,
  transaction: Queryable,
  campaign: LockedCampaign,
  { caller, ...guard }: { caller: Partner } & Guard,
  decide: () => lifecycle.Decision,
  message: string,
): Promise<Done> {
  const requireVersion = () =>
    caller.type === 'bank' ? requireSeen(transaction, campaign, caller.bankId, guard) : requireExpected(campaign, guard)
  const decision = await decideOn(requireVersion, decide)
  if (decision.changes.length === 0) {
    const isBank = caller.type === 'bank'
    return { campaign: isBank ? await asSeenByBank(transaction, campaign, caller.bankId) : campaign, message }
  }
  const params = { actor: actorOf(caller), now: clock.now() }
  const [after] = await writeDecisions(transaction, [{ campaign, decision }], params)
  return { campaign: after ?? campaign, message }
}

/**
 * Locks a campaign, and returns it with one bank's part.
 *
 * @throws DomainError 'not-found' for an unknown campaign, and when the bank is not invited; 'forbidden' to a merchant that does not
 *   own the campaign
 */
export async function lockPart(
  transaction: Queryable,
  deps: CampaignDeps,
  params: PartParams,
): Promise<{ campaign: LockedCampaign; bank: lifecycle.BankState }> {
  const campaign = await lockExisting(transaction, deps, params)
  const bank = campaign.banks.find(({ bankId }) => bankId === params.bankId)
  if (bank) return { campaign, bank }
  if (params.caller.type === 'bank') throw campaignNotFound('not-found')
  throw bankNotInvited()
}

async function lockExisting(
  transaction: Queryable,
  deps: CampaignDeps,
  { caller, cashbackId }: { caller: Partner; cashbackId: string },
): Promise<LockedCampaign> {
  const campaign = await lockCampaignByClock(transaction, deps, cashbackId)
  if (!campaign) throw campaignNotFound('not-found')
  if (caller.type === 'retailer') requireOwn(campaign, caller)
  return campaign
}
