/** Segments of customers, below `/portal` (behaviour.md, sections 3, 7 and 8). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { type CampaignRoutesDeps, onlyMerchants } from '../campaigns/callers.ts'

export const segmentRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchants(app as unknown as FastifyInstance, deps)
}
