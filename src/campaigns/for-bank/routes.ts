/** Routes of banks: decide about campaigns, and read merchants (contract/campaigns.md, "Who decides when"). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import { onlyBanksOfCampaigns } from '../../access/request/callers.ts'
import { DomainError } from '../../errors.ts'
import { polledAnswerHeaders, sendPolled } from '../../http/answer/polled-answer.ts'
import type { App } from '../../http/app.ts'
import { isText } from '../../http/input/json.ts'
import { bodyOptional } from '../../http/input/optional-body.ts'
import { IfNoneMatch, ref } from '../../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { BankGuardHeaders, guardOf, stale } from '../guard-schemas.ts'
import { campaignNotFound } from '../not-found.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { OperationResult, repeatedStep } from '../schemas.ts'
import { resultView } from '../views.ts'
import { bankListRoutes } from './list-routes.ts'
import { confirm, type Decided, reject } from './operations.ts'
import { listRetailers, readRetailer } from './retailers-store.ts'
import * as schemas from './schemas.ts'
import { retailerView } from './views.ts'

const common = { tags: ['Banks'], security: secured }
const notDecidable =
  'The campaign is unknown, the bank is not invited or the id is not a UUID (one message for all three); the body is not as ' +
  'described; the bank has already decided otherwise, or the campaign no longer awaits decisions'

export const bankRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyBanksOfCampaigns(app, deps)
  await app.register(bankListRoutes, deps)
  confirmParticipationRoute(app, deps)
  rejectParticipationRoute(app, deps)
  listRetailersRoute(app, deps)
  readRetailerRoute(app, deps)
}

function confirmParticipationRoute(app: App, deps: CampaignRoutesDeps): void {
  app.post(
    '/cashbacks/:cashbackId/confirm',
    {
      config: bodyOptional,
      preValidation: refuseUnkeptId,
      schema: {
        ...common,
        operationId: 'confirmParticipation',
        summary: 'Take part in a campaign',
        description:
          'Possible while the bank is `pending` and the campaign awaits approval. A campaign that the bank created itself is ' +
          `approved at once; any other goes to the merchant when every invited bank has decided. ${repeatedStep}`,
        headers: BankGuardHeaders,
        params: schemas.DecisionPath,
        body: schemas.ConfirmBody,
        response: {
          201: { ...ref(OperationResult), description: 'The bank takes part' },
          ...cashbackErrors({ 400: notDecidable, 412: stale }),
        },
      },
    },
    async (request, reply) => {
      const decided = await confirm(deps, { bank: bankOf(request), ...request.params, ...guardOf(request) })
      return reply.code(201).send(decidedView(decided))
    },
  )
}

function rejectParticipationRoute(app: App, deps: CampaignRoutesDeps): void {
  app.post(
    '/cashbacks/:cashbackId/reject',
    {
      config: bodyOptional,
      preValidation: refuseUnkeptId,
      schema: {
        ...common,
        operationId: 'rejectParticipation',
        summary: 'Decline to take part in a campaign',
        description:
          'Possible while the bank is `pending` and the campaign awaits approval. A campaign that the bank created itself ' +
          'becomes `declined`; a merchant’s campaign may keep its status: the bank’s own status shows the decision. ' +
          `${repeatedStep} Its \`comment\` is not kept.`,
        headers: BankGuardHeaders,
        params: schemas.DecisionPath,
        body: schemas.RejectBody,
        response: {
          201: { ...ref(OperationResult), description: 'The bank does not take part' },
          ...cashbackErrors({ 400: notDecidable, 412: stale }),
        },
      },
    },
    async (request, reply) => {
      const comment = request.body.comment ?? null
      const input = { bank: bankOf(request), ...request.params, ...guardOf(request) }
      const decided = await reject(deps, { ...input, comment })
      return reply.code(201).send(decidedView(decided))
    },
  )
}

function listRetailersRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/retailers',
    {
      schema: {
        ...common,
        operationId: 'listRetailers',
        summary: 'All merchants of the platform',
        description:
          'Sorted by name. Suspended merchants are left out. Poll with `If-None-Match`: 304 means that nothing has changed.',
        headers: IfNoneMatch,
        response: {
          200: Type.Array(ref(schemas.Retailer), { description: 'The merchants', headers: polledAnswerHeaders }),
          304: {
            description: 'Unchanged since the answer that `If-None-Match` names. It has no body',
            headers: polledAnswerHeaders,
          },
          ...cashbackErrors({ 400: 'The query is not empty' }),
        },
      },
    },
    async (request, reply) => {
      const retailers = (await listRetailers(deps.database)).map(retailerView)
      return sendPolled(request, reply, reply.serialize(retailers) as string)
    },
  )
}

function readRetailerRoute(app: App, deps: CampaignRoutesDeps): void {
  app.get(
    '/retailers/:id',
    {
      schema: {
        ...common,
        operationId: 'readRetailer',
        summary: 'One merchant',
        description: 'The same record as in the list.',
        params: schemas.RetailerPath,
        response: {
          200: { ...ref(schemas.Retailer), description: 'The merchant' },
          ...cashbackErrors({
            400: 'The id is not a UUID, or the query is not empty',
            404: 'There is no such merchant, or it is suspended',
          }),
        },
      },
    },
    async request => {
      const retailer = await readRetailer(deps.database, request.params.id)
      if (!retailer) throw new DomainError('not-found', 'The merchant was not found')
      return retailerView(retailer)
    },
  )
}

/**
 * Refuses an id with characters that the database cannot store, such as a NUL, in the same way as an unknown campaign.
 * Without this check, the response would say that the path does not exist.
 */
const refuseUnkeptId = async ({ params }: { params: unknown }): Promise<void> => {
  if (!Object.values(Object(params)).every(id => isText(String(id)))) throw campaignNotFound('invalid')
}

const decidedView = ({ campaign, message }: Decided) => resultView(campaign, message)
