/** The settlement act, as data and as a PDF. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { onlyPartnersOfCampaigns, partnerOf } from '../../access/request/callers.ts'
import type { CampaignRoutesDeps } from '../../campaigns/request/deps.ts'
import { CampaignPath, campaignErrors } from '../../campaigns/schemas.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { disconnectSignal } from '../../http/answer/disconnect-signal.ts'
import { downloadHeaders } from '../../http/answer/download.ts'
import { limitKeyOf } from '../../http/limits/account.ts'
import { secured } from '../../http/schemas.ts'
import { isIanaName } from '../../text/time-zones.ts'
import { drawAct } from './draw-in-thread.ts'
import { readAct } from './read.ts'
import * as schemas from './schemas.ts'
import { actView } from './view.ts'

const common = { tags: ['Reconciliation'], security: secured, params: CampaignPath }
const description =
  'For each bank: the totals of both latest reports with the SHA-256 of each file, the differences that were ' +
  'accepted, the compensation, ' +
  'and the dates. A bank gets its own part. Before the merchant has confirmed settlement it is a draft.'
const errors = campaignErrors({
  400: 'The id is not a UUID, the query is invalid, or no reports are exchanged yet',
  404: 'There is no such campaign, or the bank is not invited to it',
})

export const actRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  onlyPartnersOfCampaigns(app, deps)

  app.get(
    '/cashbacks/:cashbackId/settlement-act',
    {
      schema: {
        ...common,
        operationId: 'readSettlementAct',
        summary: 'The settlement act',
        description,
        querystring: schemas.ActQuery,
        response: { 200: schemas.SettlementAct, ...errors },
      },
    },
    async request => {
      const { bankId } = request.query
      const params = { caller: partnerOf(request), ...request.params, bankId: bankId?.toLowerCase() }
      return actView(await readAct(deps, params))
    },
  )

  app.get(
    '/cashbacks/:cashbackId/settlement-act.pdf',
    {
      schema: {
        ...common,
        operationId: 'downloadSettlementAct',
        summary: 'The settlement act as a PDF',
        description:
          `${description} One page or more for each bank, the same for the bank and the merchant. If the merchant’s ` +
          'document has several banks, a sheet of its own at the end has the compensation to all of them. ' +
          'All times are in UTC.',
        querystring: schemas.ActPdfQuery,
        response: {
          200: {
            description: 'The document',
            content: {
              'application/pdf': {
                schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string', contentMediaType: 'application/pdf' }),
              },
            },
          },
          ...errors,
        },
      },
    },
    async (request, reply) => {
      const { bankId, language, timeZone } = request.query
      if (timeZone !== undefined) requireTimeZone(timeZone)
      const params = { caller: partnerOf(request), ...request.params, bankId: bankId?.toLowerCase() }
      const act = await readAct(deps, params)
      // Drawing takes processor time, so it counts as a costly read, of which a partner may run only a few at once.
      await deps.costlyReads.takePlace(request, reply)
      const name = `settlement-act-${act.cashbackId}${act.banks.length === 1 ? `-${act.banks[0]?.code}` : ''}.pdf`
      const input = {
        partner: limitKeyOf(request) ?? '',
        signal: disconnectSignal(reply),
      }
      const pdf = Buffer.from(await drawAct(act, { language }, input))
      reply.headers({ ...downloadHeaders(name), 'content-type': 'application/pdf' })
      return reply.send(pdf as unknown as NodeJS.ReadableStream)
    },
  )
}

function requireTimeZone(timeZone: string): void {
  if (!isIanaName(timeZone)) throw new DomainError('invalid', [broken('timeZone', 'time-zone')])
}
