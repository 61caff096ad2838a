/** What partners see of campaigns (cashback document, "Resources and their fields"). */
import type { LockedCampaign } from './moves-store.ts'

/** The operation result that confirm, reject, create and every other move answer with. */
export function resultView(campaign: LockedCampaign, message: string) {
  return {
    id: campaign.cashbackId,
    status: campaign.status,
    message,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  }
}
