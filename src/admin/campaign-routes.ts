/** The operator's side of campaigns: the customer directory, and the end of the last wait. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { completeCampaign } from '../campaigns/clock-operations.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { CampaignPath } from '../campaigns/schemas.ts'
import { resultView } from '../campaigns/views.ts'
import { importCustomers } from '../segments/customers.ts'
import { operatorOf } from './authenticate.ts'
import { csvRoute, takeCsvFiles, withCsvFile } from './csv-route.ts'

export type CampaignAdminDeps = Pick<CampaignDeps, 'database' | 'clock'>

const ImportQuery = Type.Object({ bank: Type.String({ minLength: 1, maxLength: 64 }) }, { additionalProperties: false })

export const campaignAdminRoutes: FastifyPluginAsyncTypebox<CampaignAdminDeps> = async (app, deps) => {
  await app.register(importRoute, { ...deps, prefix: '' })

  app.post('/campaigns/:cashbackId/complete', { schema: { params: CampaignPath } }, async request => {
    const actor = operatorOf(request as FastifyRequest)
    const campaign = await completeCampaign(deps, { ...request.params, actor })
    return resultView(campaign, 'The campaign is completed')
  })
}

/** On its own, as it alone takes a file. */
const importRoute: FastifyPluginAsyncTypebox<CampaignAdminDeps> = async (app, deps) => {
  takeCsvFiles(app as unknown as FastifyInstance)

  app.post('/customers', { ...csvRoute, schema: { querystring: ImportQuery } }, async (request, reply) =>
    withCsvFile(request as FastifyRequest, reply as FastifyReply, source =>
      importCustomers(deps, { ...request.query, source }),
    ),
  )
}
