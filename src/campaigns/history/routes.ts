/** The route `GET /portal/cashbacks/:id/history`. Register it where only partners are let in. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { accountTypes } from '../../access/caller.ts'
import { partnerOf } from '../../access/request/callers.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import { nullable } from '../../http/openapi/operations.ts'
import { cashbackErrors, instant, NoQuery, secured, uuid } from '../../http/schemas.ts'
import { bankStatuses, campaignStatuses, reportingStages, subjects, triggers } from '../lifecycle/lifecycle.ts'
import { CampaignPath } from '../schemas.ts'
import { historyView, readHistory } from './history.ts'

const states = [...new Set([...campaignStatuses, ...bankStatuses, ...reportingStages])]
const state = (description: string) =>
  nullable(
    Type.String({ description: `${description}; for \`bankId\` its status or its reporting stage`, examples: states }),
  )

/** What an edit or a segment changed. */
const changes = Type.Unsafe<Record<string, readonly [unknown, unknown] | null> | null>({
  type: ['object', 'null'],
  description:
    'Old and new value of each field that an edit changed; a list with more than 100 elements, and always `terminals`, is shown by ' +
    'its length. null for `description` and the banners: they have changed. Of a segment it is `customersCount`, ' +
    'whose old value is ' +
    'null for the first one, and whose new value is null where a new segment has no part of the bank. null where nothing ' +
    'but the state changed.',
  additionalProperties: { type: ['array', 'null'], items: {}, minItems: 2, maxItems: 2 },
  examples: [{ percentage: [5, 20], description: null }],
})

export const HistoryEntry = Type.Object({
  at: instant('When, by the platform’s clock'),
  actor: Type.Object(
    {
      type: Type.Enum([...accountTypes, 'clock'], {
        title: 'ActorType',
        description: 'The bank, the merchant, the platform’s operator, or the clock',
      }),
      id: nullable(uuid('The bank or the merchant; null for others, and to a bank for other banks')),
      login: nullable(
        Type.String({
          description:
            'The portal user’s login, or the clientId of a system; null for the other side and for the clock',
          examples: ['olena'],
        }),
      ),
      name: nullable(
        Type.String({ description: 'Name of the bank or the merchant; null where `id` is', examples: ['Alpha Bank'] }),
      ),
      role: nullable(
        Type.String({ description: 'The role with which the actor called; null for the clock', examples: ['ADMIN'] }),
      ),
    },
    { description: 'Who' },
  ),
  subject: Type.Enum([...subjects], {
    title: 'HistorySubject',
    description: 'What changed: the campaign, a bank’s part, or its reporting',
  }),
  bankId: nullable(uuid('The bank whose part or reporting changed; null for the campaign')),
  trigger: Type.Enum([...triggers, 'edit', 'segment'], {
    title: 'HistoryTrigger',
    description: 'The cause. `edit` and `segment` change fields and leave the state as it is',
  }),
  from: state('The state before; null for the first entry'),
  to: state('The state after; null: removed'),
  changes,
  comment: nullable(Type.String({ description: 'The actor’s comment', examples: ['Not this season'] })),
})

export const historyRoutes: FastifyPluginAsyncTypebox<ReadDeps> = async (app, deps) => {
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
          'and those of its part, not other banks’, and no edits of `participantsIds`.',
        params: CampaignPath,
        querystring: NoQuery,
        response: {
          200: Type.Array(HistoryEntry, { description: 'Every step, oldest first' }),
          ...cashbackErrors({
            400: 'The id is not a UUID, or the query is not empty',
            404: 'There is no such campaign, or the bank is not invited',
          }),
        },
      },
    },
    async (request, reply) => {
      const database = await deps.pageReads.begin(request, reply)
      const entries = await readHistory({ database }, { caller: partnerOf(request), ...request.params })
      return entries.map(historyView)
    },
  )
}
