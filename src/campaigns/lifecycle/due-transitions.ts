/**
 * Makes the transitions of a campaign that are due by the clock (contract/campaigns.md, "The period"). A job does this.
 * A request also does it before it decides about a campaign, so that no decision is based on an outdated state.
 */
import type { Queryable } from '../../db/database.ts'
import type { CampaignDeps } from '../deps.ts'
import { clockActor } from './actor.ts'
import type { Decided } from './decided.ts'
import { passTime } from './lifecycle.ts'
import { type LockedCampaign, lockCampaign } from './locking-store.ts'
import { writeDecisions } from './transitions-store.ts'

/**
 * Brings locked campaigns to their state at `now`, even over several transitions.
 *
 * @returns the changed campaigns, in their new state
 */
export async function makeDueTransitions(
  transaction: Queryable,
  campaigns: readonly LockedCampaign[],
  { now, completeAfterMs }: { now: Date; completeAfterMs: number },
): Promise<LockedCampaign[]> {
  const decide = (locked: readonly LockedCampaign[]) =>
    locked.flatMap((campaign): Decided[] => {
      const decision = passTime(campaign, now, completeAfterMs)
      return decision ? [{ campaign, decision }] : []
    })
  const moved = new Map<string, LockedCampaign>()
  for (let due = decide(campaigns); due.length > 0; ) {
    const after = await writeDecisions(transaction, due, { actor: clockActor, now })
    for (const campaign of after) moved.set(campaign.cashbackId, campaign)
    due = decide(after)
  }
  return [...moved.values()]
}

/**
 * Locks a campaign and makes the transitions that are due at that moment. @returns null when the campaign is unknown
 */
export async function lockCampaignByClock(
  transaction: Queryable,
  { clock, completeAfterMs }: Pick<CampaignDeps, 'clock' | 'completeAfterMs'>,
  cashbackId: string,
): Promise<LockedCampaign | null> {
  const locked = await lockCampaign(transaction, cashbackId)
  if (!locked) return null
  const [moved] = await makeDueTransitions(transaction, [locked], { now: clock.now(), completeAfterMs })
  return moved ?? locked
}
