/** A bank decides whether it takes part in a campaign (contract/campaigns.md, "Who decides when"). */
import type { BankCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { uuidForm } from '../../text/uuid.ts'
import type { CampaignDeps } from '../deps.ts'
import { actorOf } from '../lifecycle/actor.ts'
import { lockCampaignByClock } from '../lifecycle/due-transitions.ts'
import { decideOn, type Guard, requireSeen } from '../lifecycle/expected-version.ts'
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../lifecycle/locking-store.ts'
import { writeDecisions } from '../lifecycle/transitions-store.ts'
import { campaignNotFound } from '../not-found.ts'
import { asSeenByBank } from '../seen-by-bank-store.ts'

/** The campaign after the call, and a message that says what was done. */
export type Decided = { campaign: LockedCampaign; message: string }

type Params = { bank: BankCaller; cashbackId: string } & Guard
type Decide = (campaign: LockedCampaign, bank: lifecycle.BankState, now: Date) => lifecycle.Decision

/**
 * The bank takes part. A repeated call changes nothing and gives the campaign as it is then.
 *
 * @param params.cashbackId as the caller wrote it; a text that is no UUID is an unknown campaign
 * @throws DomainError 'invalid' when the campaign is unknown or the bank is not invited; 'campaign-state' when it is too late, or
 *   the bank has already rejected; 'stale' when the terms or the bank's part have changed since the bank saw them
 */
export async function confirm(deps: CampaignDeps, params: Params): Promise<Decided> {
  const campaign = await decide(deps, params, lifecycle.confirm, null)
  const message =
    campaign.createdByBankId === null
      ? 'Participation in the campaign is confirmed'
      : 'Participation is confirmed; the campaign was created by the bank and is auto-approved'
  return { campaign, message }
}

/**
 * The bank does not take part. A repeated call changes nothing and gives the campaign as it is then.
 *
 * @param params.cashbackId as the caller wrote it; a text that is no UUID is an unknown campaign
 * @param params.comment the reason; stored in the history
 * @throws DomainError 'invalid' when the campaign is unknown or the bank is not invited; 'campaign-state' when it is too late, or
 *   the bank has already confirmed; 'stale' when the terms or the bank's part have changed since the bank saw them
 */
export async function reject(deps: CampaignDeps, params: Params & { comment: string | null }): Promise<Decided> {
  const campaign = await decide(deps, params, lifecycle.reject, params.comment)
  return { campaign, message: 'Participation in the campaign is rejected' }
}

async function decide(
  deps: CampaignDeps,
  { bank, cashbackId, ...guard }: Params,
  ask: Decide,
  comment: string | null,
): Promise<LockedCampaign> {
  if (!uuidForm.test(cashbackId)) throw campaignNotFound('invalid')
  return deps.database.transaction(async transaction => {
    const { campaign, part } = await lockInvitation(transaction, deps, { cashbackId, bankId: bank.bankId })
    const now = deps.clock.now()
    const decision = await decideOn(
      () => requireSeen(transaction, campaign, bank.bankId, guard),
      () => ask(campaign, part, now),
    )
    if (decision.changes.length === 0) return asSeenByBank(transaction, campaign, bank.bankId)
    const [after] = await writeDecisions(transaction, [{ campaign, decision }], { actor: actorOf(bank), now, comment })
    return after ?? campaign
  })
}

/**
 * Locks a campaign to which the bank is invited.
 *
 * @throws DomainError 'invalid', with the same message for an unknown campaign and for a bank that is not invited
 */
async function lockInvitation(
  transaction: Queryable,
  deps: CampaignDeps,
  { cashbackId, bankId }: { cashbackId: string; bankId: string },
) {
  const campaign = await lockCampaignByClock(transaction, deps, cashbackId)
  const part = campaign?.banks.find(bank => bank.bankId === bankId)
  if (!campaign || !part) throw campaignNotFound('invalid')
  return { campaign, part }
}
