/** The route with which the operator completes a campaign without waiting for `COMPLETE_AFTER_DAYS`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { completeCampaign } from '../campaigns/lifecycle/clock-job.ts'
import { CampaignPath, OperationResult } from '../campaigns/schemas.ts'
import { resultView } from '../campaigns/views.ts'
import { ref } from '../http/openapi/operations.ts'
import { operatorOf } from './request/authenticate.ts'
import { operation, operatorErrors } from './request/documents.ts'

export type CampaignAdminDeps = Pick<CampaignDeps, 'database' | 'clock'>

export const campaignAdminRoutes: FastifyPluginAsyncTypebox<CampaignAdminDeps> = async (app, deps) => {
  app.post(
    '/campaigns/:cashbackId/complete',
    {
      schema: {
        ...operation(
          'Campaigns',
          'completeCampaign',
          'Complete a campaign early',
          'Possible once the compensation was received; without it the campaign is completed `COMPLETE_AFTER_DAYS` later, 30 by ' +
            'default. A repeated call changes nothing.',
        ),
        params: CampaignPath,
        response: { 200: ref(OperationResult), ...operatorErrors({ 404: 'There is no such campaign' }) },
      },
    },
    async request => {
      const actor = operatorOf(request)
      const campaign = await completeCampaign(deps, { ...request.params, actor })
      return resultView(campaign, 'The campaign is completed')
    },
  )
}
