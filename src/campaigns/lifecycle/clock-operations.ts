/** What happens to campaigns by time (contract/campaigns.md, "The period"): periods start and end, and the last wait ends. */
import type { CampaignDeps } from '../deps.ts'
import { makeDueTransitions } from './due-transitions.ts'
import { complete } from './lifecycle.ts'
import {
  type Actor,
  campaignNotFound,
  type LockedCampaign,
  lockCampaign,
  lockDueCampaigns,
  writeDecisions,
} from './transitions-store.ts'

/** Maximum of each kind of transition in one transaction. The transaction locks the banks' lists until it ends. */
const maxAtOnce = 200

/**
 * Makes a limited number of due transitions. Each campaign gets its state at this time, even over several transitions. Several
 * processes share the work, and no campaign is changed twice.
 *
 * @param waits false: skips campaigns that others have locked; true: waits for them, so that everything that was due at the
 *   beginning is done when it returns false
 * @returns whether there may be more
 */
export function moveDueCampaigns(deps: CampaignDeps, waits: boolean): Promise<boolean> {
  const { database, clock, completeAfterMs } = deps
  return database.transaction(async transaction => {
    const before = clock.now()
    const receivedBefore = new Date(before.getTime() - completeAfterMs)
    const locked = await lockDueCampaigns(transaction, { now: before, receivedBefore, limit: maxAtOnce, waits })
    // Read the clock after the locks: whoever held them before has written with an earlier time.
    await makeDueTransitions(transaction, locked, { now: clock.now(), completeAfterMs })
    // Count also campaigns that somebody else has changed during the wait, because more may follow them.
    return locked.length >= maxAtOnce
  })
}

/**
 * The operator ends the wait after the compensation was received. A repeated call changes nothing.
 *
 * @throws DomainError 'not-found'; 'invalid' when the campaign has not reached that wait
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
