/** Reports, reconciliation and settlement after the period, below `/portal` (behaviour.md, sections 3, 7 and 8). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { type CampaignRoutesDeps, onlyPartners } from '../campaigns/callers.ts'

export const reconciliationRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartners(app as unknown as FastifyInstance, deps)
}
