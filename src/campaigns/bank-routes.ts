/** What banks do with campaigns and merchants (cashback document, "Bank side"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { type CampaignRoutesDeps, onlyBanks } from './callers.ts'

export const bankRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyBanks(app as unknown as FastifyInstance, deps)
}
