/** Reports, reconciliation and settlement after the period, below `/portal` (contract/reconciliation.md). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { createUploadLimit } from '../http/upload/file-upload.ts'
import { actRoutes } from './act/routes.ts'
import { readRoutes } from './read-routes.ts'
import { bankTransitionRoutes, merchantTransitionRoutes } from './transition-routes.ts'
import { bankUploadRoutes, merchantUploadRoutes } from './upload-routes.ts'

const uploadsAtOnce = 8

export const reconciliationRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  const places = createUploadLimit(uploadsAtOnce)
  for (const routes of [bankUploadRoutes, merchantUploadRoutes])
    await app.register(routes, { ...deps, places, prefix: '' })
  for (const routes of [bankTransitionRoutes, merchantTransitionRoutes, readRoutes, actRoutes])
    await app.register(routes, { ...deps, prefix: '' })
}
