/** What the platform's operator does, below `/admin` (operations.md, "The command `perkline`"): the commands call these. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { type AccessAdminDeps, accessAdminRoutes } from './access-routes.ts'
import { authenticateOperator, type OperatorDeps } from './authenticate.ts'
import { type CampaignAdminDeps, campaignAdminRoutes } from './campaign-routes.ts'
import { type StockAdminDeps, stockAdminRoutes } from './stock-routes.ts'

export type AdminRoutesDeps = AccessAdminDeps & StockAdminDeps & CampaignAdminDeps & OperatorDeps

export const adminRoutes: FastifyPluginAsyncTypebox<AdminRoutesDeps> = async (app, deps) => {
  authenticateOperator(app as unknown as FastifyInstance, deps)
  app.addHook('onRoute', route => {
    // The operator's interface has one client, the command line, and no page of its own.
    route.schema = { ...route.schema, hide: true }
  })
  await app.register(accessAdminRoutes, { ...deps, prefix: '' })
  await app.register(stockAdminRoutes, { ...deps, prefix: '' })
  await app.register(campaignAdminRoutes, { ...deps, prefix: '' })
}
