/** What merchants do with their campaigns (cashback document, "Merchant side"), below `/cashbacks/for-merchant`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { merchantOf } from '../http/authenticate.ts'
import { ref } from '../http/openapi.ts'
import { type CampaignRoutesDeps, onlyMerchants } from './callers.ts'
import { createAsMerchant } from './create.ts'
import { CreateBody } from './form-schemas.ts'
import { actorOf } from './moves-store.ts'
import { schemaFaults } from './schema-faults.ts'
import { cashbackErrors, NoQuery, OperationResult, secured } from './schemas.ts'
import { resultView } from './views.ts'

/** A form with 50,000 terminals and two banners must fit. */
export const formLimitBytes = 16 * 1024 * 1024

export const merchantRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchants(app as unknown as FastifyInstance, deps)

  app.post(
    '/cashbacks/for-merchant',
    {
      bodyLimit: formLimitBytes,
      attachValidation: true,
      schema: {
        operationId: 'createCampaign',
        tags: ['Merchants'],
        summary: 'Create a campaign and invite banks',
        description:
          'The campaign belongs to the merchant of the token and waits for the decisions of the banks. Who created it is known ' +
          'from the token: `creatorId`, `createdByType` and `retailerId` are not taken. All faults of the body are told at once.',
        security: secured,
        querystring: NoQuery,
        body: CreateBody,
        response: {
          201: { ...ref(OperationResult), description: 'The campaign is created' },
          ...cashbackErrors({ 400: 'The body is not as described', 413: 'The body is larger than 16 MiB' }),
        },
      },
    },
    async (request, reply) => {
      const { merchantId } = merchantOf(request)
      const actor = actorOf(merchantOf(request))
      const given = { merchantId, actor, body: request.body, schemaFaults: schemaFaults(request) }
      const campaign = await createAsMerchant(deps, given)
      return reply.code(201).send(resultView(campaign, 'The campaign is created and its banks are invited'))
    },
  )
}
