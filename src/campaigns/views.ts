/** Builds the response to changes of campaigns (contract/campaigns.md). */
import type { LockedCampaign } from './lifecycle/locking-store.ts'

/** The body of the answer to confirm, reject, create and all other transitions. */
export function resultView(campaign: LockedCampaign, message: string) {
  return {
    id: campaign.cashbackId,
    status: campaign.status,
    message,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  }
}
