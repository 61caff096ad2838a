/**
 * Routes with which a merchant reads banks, its list of campaigns, and one campaign. Register them where only merchants
 * are let in.
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { merchantOf } from '../../access/request/authenticate.ts'
import type { App } from '../../http/app.ts'
import { schemaErrors } from '../../http/input/schema-errors.ts'
import { ref } from '../../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import type { CampaignDeps } from '../deps.ts'
import { findInvitableBanks } from '../form/campaign-store.ts'
import { CampaignPath } from '../schemas.ts'
import { detailsAnswer, notOwn, sendDetails } from './details-views.ts'
import { createMerchantLists } from './list.ts'
import { MerchantListQuery, readListRequest, withSkuList } from './list-query.ts'
import { readDetails } from './operations.ts'
import * as schemas from './schemas.ts'
import { pageText } from './views.ts'

const common = { tags: ['Merchants'], security: secured }

export const merchantReadRoutes: FastifyPluginAsyncTypebox<CampaignDeps> = async (app, deps) => {
  listConnectedBanksRoute(app, deps)
  listOwnCampaignsRoute(app, deps)
  readCampaignRoute(app, deps)
}

function listConnectedBanksRoute(app: App, deps: CampaignDeps): void {
  app.get(
    '/cashbacks/for-merchant/banks',
    {
      schema: {
        ...common,
        operationId: 'listConnectedBanks',
        summary: 'Banks that the merchant may invite',
        description: 'By name. Suspended banks and those that the merchant excludes are left out.',
        response: {
          200: Type.Array(ref(schemas.ConnectedBank), { description: 'The banks' }),
          ...cashbackErrors({ 400: 'The query is not empty' }),
        },
      },
    },
    async request => findInvitableBanks(deps.database, merchantOf(request).merchantId),
  )
}

function listOwnCampaignsRoute(app: App, deps: CampaignDeps): void {
  const lists = createMerchantLists(deps.database, pageText)
  app.get(
    '/cashbacks/for-merchant',
    {
      attachValidation: true,
      preValidation: async request => {
        request.query = withSkuList(request.query as Record<string, unknown>)
      },
      schema: {
        ...common,
        operationId: 'listOwnCampaigns',
        summary: 'The merchant’s campaigns, page by page',
        description:
          'Campaigns of the token’s merchant, including those that a bank has created for it. `retailerId`, `bankId` and ' +
          '`createdByType` are not accepted. Deleted ones are left out unless `status=deleted` or `generalStatus=closed` asks for ' +
          'them. Filters are combined; every filter narrows the list.',
        querystring: MerchantListQuery,
        response: {
          200: { ...ref(schemas.CampaignPage), description: 'The page' },
          ...cashbackErrors({ 400: 'A parameter is unknown, or a value is invalid' }),
        },
      },
    },
    async (request, reply) => {
      const input = readListRequest(request.query, schemaErrors(request, 'querystring'))
      const page = await lists.page(merchantOf(request).merchantId, input)
      return reply.type('application/json; charset=utf-8').send(page as never)
    },
  )
}

function readCampaignRoute(app: App, deps: CampaignDeps): void {
  app.get(
    '/cashbacks/for-merchant/:cashbackId',
    {
      schema: {
        ...common,
        operationId: 'readCampaign',
        summary: 'One campaign with its banks',
        description:
          'All fields of the campaign, every invited bank, what may be done now, and counts. The `ETag` identifies this version.',
        params: CampaignPath,
        response: {
          200: detailsAnswer('The campaign'),
          ...cashbackErrors({ ...notOwn, 400: 'The id is not a UUID, or the query is not empty' }),
        },
      },
    },
    async (request, reply) => {
      const input = { merchant: merchantOf(request), ...request.params }
      return sendDetails(reply, await readDetails(deps, input), { ...input, clock: deps.clock })
    },
  )
}
