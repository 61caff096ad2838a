/**
 * Routes with which a merchant creates, edits, deletes and launches campaigns. Register them where only merchants are
 * let in.
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { merchantOf } from '../../access/request/authenticate.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { idempotent } from '../../http/idempotency-key.ts'
import { schemaErrors } from '../../http/input/schema-errors.ts'
import { locationHeader, ref } from '../../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { answerOnce } from '../../idempotency/request/once.ts'
import { uuidForm } from '../../text/uuid.ts'
import type { CampaignDeps } from '../deps.ts'
import { createAsMerchant } from '../form/create.ts'
import { edit } from '../form/edit.ts'
import { maxEdits } from '../form/edits-per-day-store.ts'
import { CreateBody, EditBody, formConfig, formLimitBytes } from '../form/schemas.ts'
import { GuardHeaders, guardOf, stale } from '../guard-schemas.ts'
import { CampaignPath, OperationResult } from '../schemas.ts'
import { resultView } from '../views.ts'
import { detailsAnswer, notOwn, sendDetails } from './details-views.ts'
import * as operations from './operations.ts'

const common = { tags: ['Merchants'], security: secured }
const onlyAuthor = 'A bank calls, the role does not permit changes, or the merchant is not the author of the campaign'

/** Checks the author before a large body is read. */
const requireAuthorOf = (deps: CampaignDeps) => async (request: FastifyRequest) => {
  const { cashbackId } = request.params as { cashbackId: string }
  if (!uuidForm.test(cashbackId)) throw new DomainError('invalid', [broken('cashbackId', 'uuid')])
  await operations.requireAuthorOf(deps, { merchant: merchantOf(request), cashbackId })
}

export const merchantChangeRoutes: FastifyPluginAsyncTypebox<CampaignDeps> = async (app, deps) => {
  createCampaignRoute(app, deps)
  editCampaignRoute(app, deps)
  deleteCampaignRoute(app, deps)
  launchCampaignRoute(app, deps)
}

function createCampaignRoute(app: App, deps: CampaignDeps): void {
  app.post(
    '/cashbacks/for-merchant',
    {
      bodyLimit: formLimitBytes,
      config: { ...formConfig, ...idempotent },
      attachValidation: true,
      schema: {
        ...common,
        operationId: 'createCampaign',
        summary: 'Create a campaign and invite banks',
        description:
          'The campaign belongs to the merchant of the token and waits for the decisions of the banks. The author is known ' +
          'from the token: `creatorId`, `createdByType` and `retailerId` are not accepted. All validation errors are ' +
          'returned at once.',
        body: CreateBody,
        response: {
          201: {
            ...ref(OperationResult),
            description: 'The campaign is created',
            headers: locationHeader('/cashbacks/for-merchant/7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'),
          },
          ...cashbackErrors({
            400: 'The body is invalid',
          }),
        },
      },
    },
    async (request, reply) => {
      const form = { body: request.body, schemaErrors: schemaErrors(request) }
      return answerOnce(request, reply, { deps, status: 201 }, async lent => {
        const campaign = await createAsMerchant(lent, merchantOf(request), form)
        reply.header('location', `/cashbacks/for-merchant/${campaign.cashbackId}`)
        return resultView(campaign, 'The campaign is created and its banks are invited')
      })
    },
  )
}

function editCampaignRoute(app: App, deps: CampaignDeps): void {
  app.patch(
    '/cashbacks/for-merchant/:cashbackId',
    {
      bodyLimit: formLimitBytes,
      config: { ...formConfig, beforeBody: requireAuthorOf(deps) },
      attachValidation: true,
      schema: {
        ...common,
        operationId: 'editCampaign',
        summary: 'Change some fields of a campaign',
        description:
          'Fields that the body leaves out keep their values. While the campaign awaits banks and none has approved, every ' +
          'field may change; ' +
          'once one has approved, `description`, the banners, and `terminals` and `participantsIds` by adding; once launched and ' +
          'until the period ends, `description`, the banners, and `terminals` by adding (`permissions.editableFields`). ' +
          'With `terminalsPlatform` true no terminals can be added here, because they are those of the platform’s directory. ' +
          'Other fields may be sent with their present values. All validation errors are returned at once, and nothing is ' +
          'changed. ' +
          'Adding a bank to a campaign in `awaitingMerchantApproval` returns it to `awaitingBankApproval`. `creatorId`, ' +
          '`createdByType` and `retailerId` are ignored. A campaign that a bank created cannot be edited or deleted (403). ' +
          `A campaign takes ${maxEdits} edits a day (UTC) that change something.`,
        headers: GuardHeaders,
        params: CampaignPath,
        body: EditBody,
        response: {
          200: detailsAnswer('The campaign as this edit has left it'),
          ...cashbackErrors({
            ...notOwn,
            400: 'The body is invalid, or a field may not be changed now',
            403: onlyAuthor,
            412: stale,
            429: 'Too many requests, or the campaign was edited too often today; try again after `Retry-After` seconds',
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { merchant: merchantOf(request), ...request.params }
      const form = { body: request.body, schemaErrors: schemaErrors(request) }
      const edited = await edit(deps, { ...input, ...form, ...guardOf(request) })
      return sendDetails(reply, edited, { ...input, clock: deps.clock })
    },
  )
}

function deleteCampaignRoute(app: App, deps: CampaignDeps): void {
  app.delete(
    '/cashbacks/for-merchant/:cashbackId',
    {
      schema: {
        ...common,
        operationId: 'deleteCampaign',
        summary: 'Delete a campaign',
        description:
          'Possible for the author before the campaign is active, until exactly 48 hours before `dateFrom`. The campaign stays ' +
          'readable with the status `deleted`. A repeated call returns the same answer.',
        headers: GuardHeaders,
        params: CampaignPath,
        response: {
          200: { ...ref(OperationResult), description: 'The campaign is deleted' },
          ...cashbackErrors({
            400: 'The id is not a UUID, it is too late, or the campaign’s status does not permit it',
            403: onlyAuthor,
            404: notOwn[404],
            412: stale,
          }),
        },
      },
    },
    async request => {
      const done = await operations.remove(deps, {
        merchant: merchantOf(request),
        ...request.params,
        ...guardOf(request),
      })
      return resultView(done.campaign, done.message)
    },
  )
}

function launchCampaignRoute(app: App, deps: CampaignDeps): void {
  app.post(
    '/cashbacks/for-merchant/:cashbackId/confirm',
    {
      config: { ...idempotent },
      schema: {
        ...common,
        operationId: 'launchCampaign',
        summary: 'Launch a campaign',
        description:
          'Possible once at least one bank has approved: when every bank has decided, or early; then banks that have not decided ' +
          'are `expired`. A campaign that a bank created starts by that bank’s confirmation instead.',
        headers: GuardHeaders,
        params: CampaignPath,
        response: {
          201: { ...ref(OperationResult), description: 'The campaign is `approved` and starts at `dateFrom`' },
          ...cashbackErrors({
            ...notOwn,
            400: 'The id is not a UUID, no bank has approved, or the campaign’s status does not permit it',
            412: stale,
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { merchant: merchantOf(request), ...request.params, ...guardOf(request) }
      return answerOnce(request, reply, { deps, status: 201 }, async lent => {
        const done = await operations.launch(lent, input)
        return resultView(done.campaign, done.message)
      })
    },
  )
}
