/** Routes that read the history of a campaign, below `/portal`. Register them where only partners are let in. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { partnerOf } from '../../access/request/callers.ts'
import type { App } from '../../http/app.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import { secured } from '../../http/schemas.ts'
import { CampaignPath, campaignErrors } from '../schemas.ts'
import type { HistoryCursorDeps } from './cursors.ts'
import { readDecisions, readHistory } from './history.ts'
import { aboutPages, BankDecision, HistoryAnswer, HistoryQuery } from './schemas.ts'
import { decisionView, historyLinks, historyPageView } from './views.ts'

const unknown = 'There is no such campaign, or the bank is not invited'
const common = { tags: ['Portal'], security: secured, params: CampaignPath }

type Deps = ReadDeps & HistoryCursorDeps

export const historyRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  readHistoryRoute(app, deps)
  readDecisionsRoute(app, deps)
}

function readHistoryRoute(app: App, { pageReads, historyCursors }: Deps): void {
  app.get(
    '/cashbacks/:cashbackId/history',
    {
      schema: {
        ...common,
        operationId: 'readHistory',
        summary: 'Who did what, when, from which state to which',
        description:
          `${aboutPages} The merchant sees everything; a bank that is invited sees the campaign’s own steps ` +
          'and those of its part, not other banks’, and no edits of `participantsIds`.',
        querystring: HistoryQuery,
        response: {
          200: HistoryAnswer,
          ...campaignErrors({ 400: 'The id is not a UUID, or the query is invalid', 404: unknown }),
        },
      },
    },
    async (request, reply) => {
      const { cashbackId } = request.params
      const params = { caller: partnerOf(request), cashbackId, before: request.query.before }
      const page = await pageReads.read(request, reply, database => readHistory({ database, historyCursors }, params))
      reply.headers(historyLinks(page, `/portal/cashbacks/${cashbackId}/history`))
      return historyPageView(page)
    },
  )
}

function readDecisionsRoute(app: App, { pageReads }: ReadDeps): void {
  app.get(
    '/cashbacks/:cashbackId/decisions',
    {
      schema: {
        ...common,
        operationId: 'readDecisions',
        summary: 'When each bank decided, and its comment',
        description:
          'The step of the history by which each invited bank got its present status, oldest first; without pending banks. A bank ' +
          'sees its own.',
        response: {
          200: Type.Array(BankDecision, { description: 'The decisions' }),
          ...campaignErrors({ 400: 'The id is not a UUID, or the query is not empty', 404: unknown }),
        },
      },
    },
    async (request, reply) => {
      const params = { caller: partnerOf(request), ...request.params }
      const decisions = await pageReads.read(request, reply, database => readDecisions({ database }, params))
      return decisions.map(decisionView)
    },
  )
}
