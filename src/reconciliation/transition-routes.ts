/**
 * Routes for the steps after the reports: acceptance, settlement, payment, and confirmation that the payment arrived.
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bankOf, merchantOf } from '../access/request/authenticate.ts'
import { onlyBanksOfCampaigns, onlyMerchantsOfCampaigns } from '../access/request/callers.ts'
import { BankGuardHeaders, GuardHeaders, guardOf, stale } from '../campaigns/guard-schemas.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { CampaignPath, campaignErrors, OperationResult, repeatedStep } from '../campaigns/schemas.ts'
import { resultView } from '../campaigns/views.ts'
import type { App } from '../http/app.ts'
import { idempotent } from '../http/idempotency-key.ts'
import { ref } from '../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../http/schemas.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import * as operations from './operations.ts'
import * as schemas from './schemas.ts'

const common = { tags: ['Reconciliation'], security: secured }
const noCampaign = 'There is no such campaign, or the bank is not invited to it'
const wrongStage = (what: string) => `An id is not a UUID, the query or the body is not empty, or ${what}`

export const merchantTransitionRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyMerchantsOfCampaigns(app, deps)
  acceptReportRoute(app, deps)
  confirmSettlementRoute(app, deps)
  confirmPaymentRoute(app, deps)
}

function acceptReportRoute(app: App, deps: CampaignRoutesDeps): void {
  app.post(
    '/cashbacks/:cashbackId/banks/:bankId/accept-report',
    {
      config: { ...idempotent },
      schema: {
        ...common,
        operationId: 'acceptReport',
        summary: 'Accept the bank’s report',
        description: `Reconciliation with this bank is then complete, even if differences remain. ${repeatedStep}`,
        headers: GuardHeaders,
        params: schemas.PartPath,
        response: {
          200: { ...ref(OperationResult), description: 'The report is accepted' },
          ...campaignErrors({
            400: wrongStage('the merchant’s answer to a report is not awaited'),
            404: noCampaign,
            412: stale,
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { caller: merchantOf(request), ...partOf(request) }
      return answerTransition(request, reply, deps, async lent => operations.acceptReport(lent, input))
    },
  )
}

function confirmSettlementRoute(app: App, deps: CampaignRoutesDeps): void {
  app.post(
    '/cashbacks/:cashbackId/banks/:bankId/settle',
    {
      config: { ...idempotent },
      schema: {
        ...common,
        operationId: 'confirmSettlement',
        summary: 'Confirm settlement with the bank',
        description:
          'Possible once reconciliation with this bank is complete. With the last bank the campaign awaits the payment of the ' +
          `compensation, or is \`completed\` when the merchant bears 0 %. ${repeatedStep}`,
        headers: GuardHeaders,
        params: schemas.PartPath,
        response: {
          200: { ...ref(OperationResult), description: 'Settlement is confirmed' },
          ...campaignErrors({
            400: wrongStage('reconciliation with this bank is not complete'),
            404: noCampaign,
            412: stale,
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { caller: merchantOf(request), ...partOf(request) }
      return answerTransition(request, reply, deps, async lent => operations.settle(lent, input))
    },
  )
}

function confirmPaymentRoute(app: App, deps: CampaignRoutesDeps): void {
  app.post(
    '/cashbacks/:cashbackId/compensation-paid',
    {
      config: { ...idempotent },
      schema: {
        ...common,
        operationId: 'confirmPayment',
        summary: 'Mark the compensation as paid',
        description: `Possible once settlement with every bank is confirmed. ${repeatedStep}`,
        headers: GuardHeaders,
        params: CampaignPath,
        response: {
          200: { ...ref(OperationResult), description: 'The compensation is marked as paid' },
          ...campaignErrors({ 400: wrongStage('no payment is awaited'), 404: 'There is no such campaign', 412: stale }),
        },
      },
    },
    async (request, reply) => {
      const input = { caller: merchantOf(request), ...request.params, ...guardOf(request) }
      return answerTransition(request, reply, deps, async lent => operations.pay(lent, input))
    },
  )
}

export const bankTransitionRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyBanksOfCampaigns(app, deps)

  app.post(
    '/cashbacks/:cashbackId/compensation-received',
    {
      config: { ...idempotent },
      schema: {
        ...common,
        operationId: 'acknowledgeCompensation',
        summary: 'Acknowledge that the compensation has arrived',
        description:
          'Possible once the merchant has marked it as paid. With the last bank the campaign is `compensationReceived`, and ' +
          `\`completed\` some time later. ${repeatedStep}`,
        headers: BankGuardHeaders,
        params: CampaignPath,
        response: {
          200: { ...ref(OperationResult), description: 'The compensation is acknowledged' },
          ...cashbackErrors({
            400: wrongStage('nothing was paid to the bank yet'),
            404: 'There is no such campaign, or the bank is not invited',
            412: stale,
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { caller: bankOf(request), ...request.params, ...guardOf(request) }
      return answerTransition(request, reply, deps, async lent => operations.acknowledge(lent, input))
    },
  )
}

type PartRequest = Parameters<typeof guardOf>[0] & { params: { cashbackId: string; bankId: string } }

const partOf = ({ params, headers }: PartRequest) => ({
  ...guardOf({ headers }),
  cashbackId: params.cashbackId,
  bankId: params.bankId,
})

function answerTransition(
  request: unknown,
  reply: unknown,
  deps: CampaignRoutesDeps,
  transition: (lent: CampaignRoutesDeps) => Promise<operations.Done>,
): Promise<FastifyReply> {
  return answerOnce(request as FastifyRequest, reply as FastifyReply, { deps, status: 200 }, async lent => {
    const { campaign, message } = await transition(lent)
    return resultView(campaign, message)
  })
}
