/**
 * Makes the changes of campaigns that are due by the clock: a period starts or ends, or the wait after a received
 * compensation ends (contract/campaigns.md, "The period").
 */
import type { CampaignDeps } from '../deps.ts'
import { campaignNotFound } from '../not-found.ts'
import type { Actor } from './actor.ts'
import { makeDueTransitions } from './due-transitions.ts'
import { complete } from './lifecycle.ts'
import { type LockedCampaign, lockCampaign, lockDueCampaigns } from './locking-store.ts'
import { writeDecisions } from './transitions-store.ts'

/**
 * The maximum number of starts, of ends and of completions in one transaction. The transaction locks the lists of the
 * banks concerned, and other changes for these banks wait until it ends. A larger number would finish the due campaigns
 * sooner, but the process would be busy with their events, and requests to it would wait. With 200, the 99th percentile
 * of the times of other requests was three times as long (`bench -- clock`).
 */
const maxAtOnce = 40

/**
 * Brings up to `maxAtOnce` campaigns of each kind (starts, ends, completions) to the state that they should have now. A
 * campaign that has missed several transitions makes all of them. Several processes may do this at once, because each
 * locks its campaigns.
 *
 * @param waits whether to wait for campaigns that another transaction has locked, or to skip them
 * @returns whether more campaigns may be due. If `waits` is true and the result is false, all transitions that were due
 *   when the call began are made
 */
export function updateDueCampaigns(deps: CampaignDeps, waits: boolean): Promise<boolean> {
  const { database, clock, completeAfterMs } = deps
  return database.transaction(async transaction => {
    const before = clock.now()
    const receivedBefore = new Date(before.getTime() - completeAfterMs)
    const locked = await lockDueCampaigns(transaction, { now: before, receivedBefore, limit: maxAtOnce, waits })
    // Read the clock after the locks are taken. The new time is then later than all times that the transactions that
    // held the locks before have written.
    await makeDueTransitions(transaction, locked, { now: clock.now(), completeAfterMs })
    // If the statement locked as many campaigns as it may, more campaigns may be due. This count includes campaigns
    // that another process has already changed while this call waited for their locks.
    return locked.length >= maxAtOnce
  })
}

/**
 * Completes a campaign for the operator, before its wait after `compensationReceived` is over. A repeated call changes
 * nothing.
 *
 * @throws DomainError 'not-found' for an unknown campaign; 'campaign-state' when the campaign is neither waiting after
 *   `compensationReceived` nor completed
 */
export function completeCampaign(
  { database, clock }: Pick<CampaignDeps, 'database' | 'clock'>,
  { cashbackId, actor }: { cashbackId: string; actor: Actor },
): Promise<LockedCampaign> {
  return database.transaction(async transaction => {
    const campaign = await lockCampaign(transaction, cashbackId)
    if (!campaign) throw campaignNotFound('not-found')
    const decision = complete(campaign)
    if (decision.changes.length === 0) return campaign
    const [completed] = await writeDecisions(transaction, [{ campaign, decision }], { actor, now: clock.now() })
    return completed ?? campaign
  })
}
