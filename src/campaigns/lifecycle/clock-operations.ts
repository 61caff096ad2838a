/** What the clock does with campaigns (contract/campaigns.md, "The period"): periods start and end, and the last wait is over. */
import type { CampaignDeps } from '../deps.ts'
import { makeDueMoves } from './due-moves.ts'
import { complete } from './lifecycle.ts'
import {
  type Actor,
  campaignNotFound,
  type LockedCampaign,
  lockCampaign,
  lockDueCampaigns,
  writeDecisions,
} from './moves-store.ts'

/** Of each kind of move in one transaction: the banks' lists are locked no longer than that takes. */
const movedAtOnce = 200

/**
 * Carries out a piece of what is due: each campaign that it takes is brought as far as it has come by now, also over several moves.
 * Several processes share the work; none moves a campaign twice.
 *
 * @param waits false: campaigns that others are busy with are left to them; true: it waits for these, so that nothing that was due
 *   at the beginning is left when it has told that there is no more
 * @returns whether there may be more
 */
export function moveDueCampaigns(deps: CampaignDeps, waits: boolean): Promise<boolean> {
  const { database, clock, completeAfterMs } = deps
  return database.transaction(async transaction => {
    const before = clock.now()
    const receivedBefore = new Date(before.getTime() - completeAfterMs)
    const locked = await lockDueCampaigns(transaction, { now: before, receivedBefore, limit: movedAtOnce, waits })
    // Whoever held a lock until now has written what he did at an earlier time than this.
    await makeDueMoves(transaction, locked, { now: clock.now(), completeAfterMs })
    // Also those count that somebody else has moved while this waited: there may be others behind them.
    return locked.length >= movedAtOnce
  })
}

/**
 * The operator ends the wait after the compensation was received. Repeated, it changes nothing.
 *
 * @throws DomainError 'not-found'; 'invalid' while the campaign is not that far
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
