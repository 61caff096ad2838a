/** The audit log for those whose account it is about (contract/audit-log.md, "Reading"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { readCursor, writeCursor } from '../partner/lists.ts'
import { callerAccount, callerOf } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { auditors } from '../partner/roles.ts'
import { readFromTo } from '../text/span.ts'
import { readEntries } from './reads.ts'
import { EntriesPage, EntriesQuery } from './schemas.ts'
import { entryView } from './views.ts'

export type AuditLogRoutesDeps = ReadDeps

export const auditLogRoutes: FastifyPluginAsyncTypebox<AuditLogRoutesDeps> = async (app, { pageReads }) => {
  app.get(
    '/audit-log',
    {
      schema: {
        ...operation('Audit log', auditors, {
          operationId: 'listAuditEntries',
          summary: 'Who did what in the account',
          description:
            'Newest first, by number. The platform’s users read the entries of all accounts. With several filters one answer looks at ' +
            'up to 10,000 entries: it may then have fewer than `limit` and still a `nextCursor`.',
        }),
        querystring: EntriesQuery,
        response: { 200: EntriesPage, ...partnerErrors({ 404: 'For the platform’s users: there is no such account' }) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filters } = request.query
      const caller = callerOf(request)
      const search = { ...readFromTo(filters), ...searchOf(filters) }
      const scope = { list: 'audit-log', account: callerAccount(request), filters }
      const [before = null] = readCursor(scope, cursor) ?? []
      const database = await pageReads.begin(request, reply)
      const page = await readEntries(
        { database },
        {
          caller,
          accountId: filters.account,
          search,
          page: { before: before === null ? null : Number(before), limit },
        },
      )
      const isPlatform = caller.type === 'platform'
      return {
        data: page.entries.map(entry => entryView(entry, page.names, isPlatform)),
        nextCursor: page.next === null ? null : writeCursor(scope, [page.next]),
      }
    },
  )
}

type Asked = { action?: string; actor?: string; object?: string }

const searchOf = ({ action, actor, object }: Asked) => ({
  action: action ?? null,
  actor: actor ?? null,
  object: object === undefined ? null : objectOf(object),
})

function objectOf(text: string): { type: string; id: string | null } {
  const at = text.indexOf(':')
  return at === -1 ? { type: text, id: null } : { type: text.slice(0, at), id: text.slice(at + 1) }
}
