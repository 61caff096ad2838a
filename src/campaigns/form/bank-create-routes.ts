/** The route `POST /portal/cashbacks` (contract/portal.md, "Changes"). Register it where only partners are let in. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import { idempotent } from '../../http/idempotency-key.ts'
import { schemaErrors } from '../../http/input/schema-errors.ts'
import { locationHeader, ref } from '../../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { answerOnce } from '../../idempotency/request/once.ts'
import type { CampaignDeps } from '../deps.ts'
import { OperationResult } from '../schemas.ts'
import { resultView } from '../views.ts'
import { createAsBank } from './create.ts'
import { BankCreateBody, formConfig, formLimitBytes } from './schemas.ts'

export const bankCreateRoutes: FastifyPluginAsyncTypebox<CampaignDeps> = async (app, deps) => {
  app.post(
    '/cashbacks',
    {
      bodyLimit: formLimitBytes,
      config: { ...formConfig, ...idempotent },
      attachValidation: true,
      onRequest: async request => {
        bankOf(request)
      },
      schema: {
        operationId: 'createCampaignAsBank',
        tags: ['Portal'],
        summary: 'Create a campaign as a bank',
        description:
          'For banks. The form is that of a merchant’s campaign, with `retailerId` in place of `participantsIds`: the bank itself ' +
          'is the one that takes part. It is `pending` and starts the campaign by `POST /cashbacks/{cashbackId}/confirm`. ' +
          'Nobody can edit or delete such a campaign: what is wrong with it is rejected and created again. All errors of the body are ' +
          'returned at once.',
        security: secured,
        body: BankCreateBody,
        response: {
          201: {
            ...ref(OperationResult),
            description: 'The campaign is created',
            headers: locationHeader('/portal/cashbacks/7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'),
          },
          ...cashbackErrors({
            400: 'The body is invalid, or the merchant is unknown, suspended or excludes the bank',
            403: 'A merchant calls, or the role is not ADMIN or EDITOR',
          }),
        },
      },
    },
    async (request, reply) => {
      const form = { body: request.body, schemaErrors: schemaErrors(request) }
      return answerOnce(request, reply, { deps, status: 201 }, async lent => {
        const campaign = await createAsBank(lent, bankOf(request), form)
        reply.header('location', `${app.prefix}/cashbacks/${campaign.cashbackId}`)
        return resultView(campaign, 'The campaign is created and waits for the bank’s confirmation')
      })
    },
  )
}
