/** What merchants do with their campaigns (cashback document, "Merchant side"), below `/cashbacks/for-merchant`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { merchantOf } from '../http/authenticate.ts'
import { ref } from '../http/openapi.ts'
import { bodyOptional } from '../http/optional-body.ts'
import { type CampaignRoutesDeps, onlyMerchants } from './callers.ts'
import { findInvitableBanks } from './campaign-store.ts'
import { createAsMerchant } from './create.ts'
import type { Details } from './details-store.ts'
import { edit } from './edit.ts'
import { CreateBody, EditBody, formLimitBytes } from './form-schemas.ts'
import { entityTag } from './if-match.ts'
import { createMerchantLists } from './merchant-list.ts'
import { MerchantListQuery, readListRequest, withSkuList } from './merchant-list-query.ts'
import * as operations from './merchant-operations.ts'
import * as schemas from './merchant-schemas.ts'
import { detailsText, pageText } from './merchant-views.ts'
import { schemaFaults } from './schema-faults.ts'
import { CampaignPath, cashbackErrors, NoQuery, OperationResult, secured } from './schemas.ts'
import { resultView } from './views.ts'

const common = { tags: ['Merchants'], security: secured }
const notOwn = {
  403: 'A bank calls, the role does not permit changes, or the campaign belongs to another merchant',
  404: 'There is no such campaign',
}
const etag = { type: 'string', description: 'Version of the campaign, for `If-Match`', examples: ['"7"'] }
const details = (description: string) => ({ ...ref(schemas.CampaignDetails), description, headers: { etag } })

export const merchantRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchants(app as unknown as FastifyInstance, deps)
  const lists = createMerchantLists(deps.database, pageText)

  app.get(
    '/cashbacks/for-merchant/banks',
    {
      schema: {
        ...common,
        operationId: 'listConnectedBanks',
        summary: 'Banks that the merchant may invite',
        description: 'By name. Suspended banks and those that the merchant excludes are left out.',
        querystring: NoQuery,
        response: {
          200: Type.Array(ref(schemas.ConnectedBank), { description: 'The banks' }),
          ...cashbackErrors({ 400: 'The query is not empty' }),
        },
      },
    },
    async request => findInvitableBanks(deps.database, merchantOf(request).merchantId),
  )

  app.get(
    '/cashbacks/for-merchant',
    {
      attachValidation: true,
      preValidation: async request => {
        request.query = withSkuList(request.query as Record<string, unknown>) as never
      },
      schema: {
        ...common,
        operationId: 'listOwnCampaigns',
        summary: 'The merchant’s campaigns, page by page',
        description:
          'Those of the merchant of the token, also those that a bank has created for it: `retailerId`, `bankId` and ' +
          '`createdByType` are not taken. Deleted ones are left out unless `status=deleted` or `generalStatus=closed` asks for ' +
          'them. Filters are combined; every filter narrows the list.',
        querystring: MerchantListQuery,
        response: {
          200: { ...ref(schemas.CampaignPage), description: 'The page' },
          ...cashbackErrors({ 400: 'A parameter or value is not as described' }),
        },
      },
    },
    async (request, reply) => {
      const asked = readListRequest(request.query as never, schemaFaults(request, 'querystring'))
      const page = await lists.page(merchantOf(request).merchantId, asked)
      return reply.type('application/json; charset=utf-8').send(page as never)
    },
  )

  app.post(
    '/cashbacks/for-merchant',
    {
      bodyLimit: formLimitBytes,
      attachValidation: true,
      schema: {
        ...common,
        operationId: 'createCampaign',
        summary: 'Create a campaign and invite banks',
        description:
          'The campaign belongs to the merchant of the token and waits for the decisions of the banks. Who created it is known ' +
          'from the token: `creatorId`, `createdByType` and `retailerId` are not taken. All faults of the body are told at once.',
        querystring: NoQuery,
        body: CreateBody,
        response: {
          201: { ...ref(OperationResult), description: 'The campaign is created' },
          ...cashbackErrors({ 400: 'The body is not as described', 413: 'The body is larger than 16 MiB' }),
        },
      },
    },
    async (request, reply) => {
      const form = { body: request.body, schemaFaults: schemaFaults(request) }
      const campaign = await createAsMerchant(deps, merchantOf(request), form)
      return reply.code(201).send(resultView(campaign, 'The campaign is created and its banks are invited'))
    },
  )

  app.get(
    '/cashbacks/for-merchant/:cashbackId',
    {
      schema: {
        ...common,
        operationId: 'readCampaign',
        summary: 'One campaign with its banks',
        description:
          'Everything of the campaign, every invited bank, what its state permits now, and counts. The `ETag` names its version.',
        params: CampaignPath,
        querystring: NoQuery,
        response: {
          200: details('The campaign'),
          ...cashbackErrors({ ...notOwn, 400: 'The id is no UUID, or the query is not empty' }),
        },
      },
    },
    async (request, reply) => {
      const asked = { merchant: merchantOf(request), ...request.params }
      return sendDetails(reply, await operations.readDetails(deps, asked), deps)
    },
  )

  app.patch(
    '/cashbacks/for-merchant/:cashbackId',
    {
      bodyLimit: formLimitBytes,
      attachValidation: true,
      schema: {
        ...common,
        operationId: 'editCampaign',
        summary: 'Change some fields of a campaign',
        description:
          'Fields that the body leaves out stay. While the campaign awaits banks and none has approved, every field may change; ' +
          'once one has approved, `description`, the banners, and `terminals` and `participantsIds` by adding; once launched and ' +
          'until the period ends, `description`, the banners, and `terminals` by adding (`permissions.editableFields`). Another ' +
          'field may be sent with the value that it has. All faults are told at once, and with a fault nothing is changed. ' +
          'A bank that is added to a campaign that awaits the merchant makes it await the banks again. `creatorId`, ' +
          '`createdByType` and `retailerId` are ignored.',
        headers: schemas.EditHeaders,
        params: CampaignPath,
        querystring: NoQuery,
        body: EditBody,
        response: {
          200: details('The campaign as it is now'),
          ...cashbackErrors({
            ...notOwn,
            400: 'The body is not as described, or a field may not be changed now',
            403: 'A bank calls, the role does not permit changes, or the merchant is not the author of the campaign',
            412: 'The campaign has changed since it was read (`If-Match`)',
            413: 'The body is larger than 16 MiB',
          }),
        },
      },
    },
    async (request, reply) => {
      const asked = { merchant: merchantOf(request), ...request.params }
      const form = { body: request.body, schemaFaults: schemaFaults(request) }
      await edit(deps, { ...asked, ...form, ifMatch: request.headers['if-match'] })
      return sendDetails(reply, await operations.readDetails(deps, asked), deps)
    },
  )

  app.delete(
    '/cashbacks/for-merchant/:cashbackId',
    {
      preValidation: bodyOptional,
      schema: {
        ...common,
        operationId: 'deleteCampaign',
        summary: 'Delete a campaign',
        description:
          'Possible for the author before the campaign is active, until exactly 48 hours before `dateFrom`. The campaign stays ' +
          'readable with the status `deleted`. Repeated, it gives the same answer.',
        params: CampaignPath,
        querystring: NoQuery,
        body: schemas.NoBody,
        response: {
          200: { ...ref(OperationResult), description: 'The campaign is deleted' },
          ...cashbackErrors({
            400: 'The id is no UUID, it is too late, or the campaign’s status does not permit it',
            403: 'A bank calls, the role does not permit changes, or the merchant is not the author of the campaign',
            404: notOwn[404],
          }),
        },
      },
    },
    async request => {
      const done = await operations.remove(deps, { merchant: merchantOf(request), ...request.params })
      return resultView(done.campaign, done.message)
    },
  )

  app.post(
    '/cashbacks/for-merchant/:cashbackId/confirm',
    {
      preValidation: bodyOptional,
      schema: {
        ...common,
        operationId: 'launchCampaign',
        summary: 'Launch a campaign',
        description:
          'Possible once at least one bank has approved: when every bank has decided, or early; then banks that have not decided ' +
          'are `expired`. A campaign that a bank created starts by that bank’s confirmation instead.',
        params: CampaignPath,
        querystring: NoQuery,
        body: schemas.NoBody,
        response: {
          201: { ...ref(OperationResult), description: 'The campaign is `approved` and starts at `dateFrom`' },
          ...cashbackErrors({
            ...notOwn,
            400: 'The id is no UUID, no bank has approved, or the campaign’s status does not permit it',
          }),
        },
      },
    },
    async (request, reply) => {
      const done = await operations.launch(deps, { merchant: merchantOf(request), ...request.params })
      return reply.code(201).send(resultView(done.campaign, done.message))
    },
  )
}

/** The text as it is: the long lists in it were written when they changed. */
function sendDetails(reply: FastifyReply, campaign: Details, { clock }: CampaignRoutesDeps): FastifyReply {
  return reply
    .header('etag', entityTag(campaign.version))
    .type('application/json; charset=utf-8')
    .send(detailsText(campaign, clock.now()))
}
