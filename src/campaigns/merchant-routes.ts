/** What merchants do with their campaigns (contract/campaigns.md), below `/cashbacks/for-merchant`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { type CampaignRoutesDeps, onlyMerchants } from './callers.ts'
import { merchantChangeRoutes } from './merchant-change-routes.ts'
import { merchantReadRoutes } from './merchant-read-routes.ts'

export const merchantRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchants(app as unknown as FastifyInstance, deps)
  await app.register(merchantReadRoutes, deps)
  await app.register(merchantChangeRoutes, deps)
}
