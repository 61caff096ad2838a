/** Builds the responses about merchants for banks (contract/campaigns.md, "Merchant records"). */
import type { Retailer } from './retailers-store.ts'

/** The merchant's private fields are null for every bank. */
export function retailerView(retailer: Retailer) {
  return {
    ...retailer,
    createdAt: retailer.createdAt.toISOString(),
    updateAt: retailer.updateAt.toISOString(),
    webhookUrl: null,
    apiUrl: null,
    login: null,
    rro: null,
    cardIssuing: null,
    dataSaleToWebhook: null,
    excludedBank: null,
  }
}
