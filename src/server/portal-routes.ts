/**
 * The portal's own operations, below `/portal`. The pages of banks and merchants also call the operations of partners.
 * The pages of the operator's staff also call `/admin`.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type SessionDeps, sessionRoutes } from '../access/session-routes.ts'
import { portalBankCampaignRoutes } from '../campaigns/for-people/bank-table-routes.ts'
import { directoryRoutes } from '../campaigns/for-people/directory-routes.ts'
import { portalCampaignFileRoutes } from '../campaigns/for-people/file-routes.ts'
import { portalHomeRoutes } from '../campaigns/for-people/home-routes.ts'
import { portalCampaignRoutes } from '../campaigns/for-people/routes.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { type PortalEsimDeps, portalEsimRoutes } from '../esim/sold/routes.ts'
import { type PeoplePortalDeps, peoplePortalRoutes } from '../people/routes.ts'

export type PortalRoutesDeps = CampaignRoutesDeps & SessionDeps & PortalEsimDeps & PeoplePortalDeps

export const portalRoutes: FastifyPluginAsyncTypebox<PortalRoutesDeps> = async (app, deps) => {
  // This plugin is registered with a prefix. The plugins below must not add that prefix again.
  await app.register(sessionRoutes, { ...deps, prefix: '' })
  await app.register(peoplePortalRoutes, { ...deps, prefix: '' })
  await app.register(directoryRoutes, { ...deps, prefix: '' })
  await app.register(portalHomeRoutes, { ...deps, prefix: '' })
  await app.register(portalBankCampaignRoutes, { ...deps, prefix: '' })
  await app.register(portalCampaignRoutes, { ...deps, prefix: '' })
  await app.register(portalCampaignFileRoutes, { ...deps, prefix: '' })
  await app.register(portalEsimRoutes, { ...deps, prefix: '' })
}
