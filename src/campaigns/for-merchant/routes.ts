/** All routes of merchants for campaigns (contract/campaigns.md), below `/cashbacks/for-merchant`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { onlyMerchantsOfCampaigns } from '../../access/request/callers.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { merchantChangeRoutes } from './change-routes.ts'
import { merchantReadRoutes } from './read-routes.ts'

export const merchantRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchantsOfCampaigns(app, deps)
  await app.register(merchantReadRoutes, deps)
  await app.register(merchantChangeRoutes, deps)
}
