/** `GET /portal/cashbacks/:id/history`: registered where every caller is a partner already. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { accountTypes } from '../access/caller.ts'
import { nullable } from '../http/openapi.ts'
import { partnerOf } from './callers.ts'
import type { CampaignDeps } from './deps.ts'
import { historyView, readHistory } from './history.ts'
import { bankStatuses, campaignStatuses, reportingStages, subjects, triggers } from './lifecycle.ts'
import { CampaignPath, cashbackErrors, instant, NoQuery, secured, uuid } from './schemas.ts'

const states = [...new Set([...campaignStatuses, ...bankStatuses, ...reportingStages])]
const state = (description: string) =>
  nullable(
    Type.String({ description: `${description}; for \`bankId\` its status or its reporting stage`, examples: states }),
  )

export const HistoryEntry = Type.Object({
  at: instant('When, by the platform’s clock'),
  actor: Type.Object(
    {
      type: Type.Enum([...accountTypes, 'clock'], {
        description: 'A bank, the merchant, the platform’s operator, or the clock',
      }),
      id: nullable(uuid('The bank or the merchant; null for others, and to a bank for other banks')),
      login: nullable(
        Type.String({
          description: 'The portal user’s login, or the clientId of a system; null where `id` is',
          examples: ['olena'],
        }),
      ),
    },
    { description: 'Who' },
  ),
  subject: Type.Enum([...subjects], { description: 'What has moved: the campaign, a bank’s part, or its reporting' }),
  bankId: nullable(uuid('Whose part or reporting; null for the campaign')),
  trigger: Type.Enum([...triggers], { description: 'What has caused it' }),
  from: state('Where it was; null: it began'),
  to: state('Where it went; null: it ended'),
  comment: nullable(Type.String({ description: 'What the actor had to say', examples: ['Not this season'] })),
})

export const historyRoutes: FastifyPluginAsyncTypebox<Pick<CampaignDeps, 'database'>> = async (app, deps) => {
  app.get(
    '/cashbacks/:cashbackId/history',
    {
      schema: {
        tags: ['Portal'],
        security: secured,
        operationId: 'readHistory',
        summary: 'Who did what, when, from which state to which',
        description:
          'In the order in which it happened. The merchant sees everything; a bank that is invited sees the campaign’s own steps ' +
          'and those of its part, not other banks’.',
        params: CampaignPath,
        querystring: NoQuery,
        response: {
          200: Type.Array(HistoryEntry, { description: 'Every step, the first one first' }),
          ...cashbackErrors({
            400: 'The id is no UUID, or the query is not empty',
            404: 'There is no such campaign, or the bank is not invited',
          }),
        },
      },
    },
    async request => {
      const entries = await readHistory(deps, { caller: partnerOf(request), ...request.params })
      return entries.map(historyView)
    },
  )
}
