/** Routes of the feed for partners’ systems and people (contract/events.md, "The feed"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { type AuthenticateDeps, callerOf } from '../access/request/authenticate.ts'
import { DomainError } from '../errors.ts'
import { requireForm } from '../form-errors.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import { schemaErrors } from '../http/input/schema-errors.ts'
import { closed, uuid } from '../http/schemas.ts'
import { everybody, integrationReaders } from '../partner/allowed-roles.ts'
import { callerAccount } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { eventTypes, testType } from './catalogue.ts'
import { type FeedDeps, type FeedPage as Page, readEvent, readFeed } from './feed.ts'
import { Event, EventTypes, FeedPage, FeedQuery } from './feed-schemas.ts'
import { requireTypeFilters } from './type-filters.ts'

export type EventRoutesDeps = AuthenticateDeps & { feed: FeedDeps }

const types = {
  data: eventTypes.map(({ type, description, recipients, schema }) => ({ type, description, recipients, schema })),
}

export const eventRoutes: FastifyPluginAsyncTypebox<EventRoutesDeps> = async (app, { feed, ...deps }) => {
  app.get(
    '/event-types',
    {
      schema: {
        ...operation('Events', everybody, {
          operationId: 'listEventTypes',
          summary: 'The types of events',
          description:
            `Every type with its recipients and the schema of its \`data\`. The list grows. \`${testType}\` is not in it: only the test of an ` +
            'endpoint sends this type, and nobody can subscribe to it.',
        }),
        response: { 200: EventTypes, ...partnerErrors() },
      },
    },
    (_request, reply) => sendBytes(reply, Buffer.from(JSON.stringify(types))),
  )
  app.get(
    '/events',
    {
      attachValidation: true,
      preValidation: async request => {
        const { type, ...others } = request.query as Record<string, unknown>
        const types = type === undefined ? {} : { type: [type].flat().flatMap(text => String(text).split(',')) }
        request.query = { ...others, ...types } as never
      },
      schema: {
        ...operation('Events', integrationReaders, {
          operationId: 'readEvents',
          summary: 'The account’s feed of events',
          description:
            'Oldest first. Ask again with `after` = `nextAfter` and the same `feedId`: each event comes once. With `type` an answer looks ' +
            'at 10,000 events at most, and `data` may be empty with `hasMore` true. An answer has at most 1 MiB.',
        }),
        querystring: FeedQuery,
        response: {
          200: FeedPage,
          ...partnerErrors({
            409: 'The operator has restored an older database: read all objects anew, then follow the feed that the body names',
            410: 'Events after `after` are over their retention; the body names the oldest one',
          }),
        },
      },
    },
    async (request, reply) => {
      const { after = '0', limit, type = [], wait, feedId } = request.query
      requireForm(schemaErrors(request, 'querystring'), [[['type'], () => requireTypeFilters(type, () => 'type')]])
      const page = await readFeed(feed, callerAccount(request), {
        // A higher position is after the end of every feed, too.
        after: after === 'now' ? after : Math.min(Number(after), Number.MAX_SAFE_INTEGER),
        limit,
        types: type,
        // The answer to HEAD has no body, so it need not wait for events.
        waitSeconds: request.method === 'HEAD' ? 0 : wait,
        feedId,
        signal: disconnectSignal(reply),
      })
      // The caller may have lost access while the request waited, so check it again.
      const caller = wait > 0 ? callerOf(request, deps) : null
      if (caller instanceof DomainError) throw caller
      return sendBytes(reply, pageBytes(page))
    },
  )
  app.get(
    '/events/:eventId',
    {
      schema: {
        ...operation('Events', integrationReaders, {
          operationId: 'readEvent',
          summary: 'One event',
          description: 'The same bytes as in the feed and at endpoints.',
        }),
        params: Type.Object({ eventId: uuid('The event', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11') }, closed),
        response: { 200: Event, ...partnerErrors({ 404: 'There is no such event' }) },
      },
    },
    async (request, reply) => {
      return sendBytes(reply, Buffer.from(await readEvent(feed, callerAccount(request), request.params.eventId)))
    },
  )
}

/**
 * Sends events exactly as they are stored. They are sent as bytes, because writing a long string takes Node.js 50%
 * longer.
 */
const sendBytes = (reply: Pick<FastifyReply, 'type' | 'serializer' | 'send'>, bytes: Buffer): Promise<never> =>
  reply.type('application/json; charset=utf-8').send(bytes) as never

/**
 * Writes all texts of a page into one buffer. Separate buffers for the texts, and then one for all of them, would use
 * much memory outside the heap, and garbage collection would take a third of the time of a large page.
 */
function pageBytes({ texts, count: _, ...rest }: Page): Buffer {
  const separated = texts.flatMap((text, index) => (index === 0 ? text : [',', text]))
  const parts = ['{"data":[', ...separated, `],${JSON.stringify(rest).slice(1)}`]
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  let length = 0
  for (const part of parts) length += bytes.write(part, length)
  return bytes
}
