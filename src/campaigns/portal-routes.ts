/** What a portal does with campaigns themselves, below `/portal` (contract/portal.md, "Changes"): a bank creates one, both sides read the history. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { bankCreateRoutes } from './bank-create-routes.ts'
import { type CampaignRoutesDeps, onlyPartners } from './callers.ts'
import { historyRoutes } from './history-routes.ts'

export const campaignPortalRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartners(app as unknown as FastifyInstance, deps)
  await app.register(bankCreateRoutes, { ...deps, prefix: '' })
  await app.register(historyRoutes, { ...deps, prefix: '' })
}
