/**
 * Routes with which people in the portal work on campaigns, below `/portal` (contract/portal.md, "Changes"): a bank
 * creates a campaign, and both sides read the history.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { onlyPartnersOfCampaigns } from '../access/request/callers.ts'
import { bankCreateRoutes } from '../campaigns/form/bank-create-routes.ts'
import { historyRoutes } from '../campaigns/history/routes.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'

export const campaignPortalRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartnersOfCampaigns(app, deps)
  await app.register(bankCreateRoutes, { ...deps, prefix: '' })
  await app.register(historyRoutes, { ...deps, prefix: '' })
}
