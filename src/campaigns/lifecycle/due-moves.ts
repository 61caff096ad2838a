/**
 * What the clock has brought about is done before anything else is decided about a campaign, by its job or by whoever comes first
 * (contract/campaigns.md, "The period"): nobody meets a campaign in a state that its period has left already.
 */
import type { Queryable } from '../../db/database.ts'
import type { CampaignDeps } from '../deps.ts'
import { passTime } from './lifecycle.ts'
import { clockActor, type Decided, type LockedCampaign, lockCampaign, writeDecisions } from './moves-store.ts'

/**
 * Brings locked campaigns as far as they have come by `now`, also over several moves.
 *
 * @returns those that have moved, as they are now
 */
export async function makeDueMoves(
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

/** Locks a campaign, as it is by the clock at that moment. @returns null when there is none */
export async function lockCampaignByClock(
  transaction: Queryable,
  { clock, completeAfterMs }: Pick<CampaignDeps, 'clock' | 'completeAfterMs'>,
  cashbackId: string,
): Promise<LockedCampaign | null> {
  const locked = await lockCampaign(transaction, cashbackId)
  if (!locked) return null
  const [moved] = await makeDueMoves(transaction, [locked], { now: clock.now(), completeAfterMs })
  return moved ?? locked
}
