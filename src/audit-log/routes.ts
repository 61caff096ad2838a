/** Routes with which an account reads its audit log (contract/audit-log.md, "Reading"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../http/app.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { auditors } from '../partner/allowed-roles.ts'
import { finitePage, readCursor } from '../partner/lists.ts'
import { callerAccount } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { readFromTo } from '../text/span.ts'
import { findCheckpoints } from './lines-store.ts'
import { readableAccount, withHeads } from './reads.ts'
import { listEntries, sendLog } from './request/answers.ts'
import { CheckpointsPage, CheckpointsQuery, EntriesPage, EntriesQuery, LogLines, LogQuery } from './schemas.ts'
import { checkpointView } from './views.ts'

/** `masterKeys` decrypt the key that signs checkpoints. */
export type AuditLogRoutesDeps = ReadDeps & { masterKeys: readonly Buffer[] }

const noAccount = { 404: 'For the platform’s users: there is no such account' }

export const auditLogRoutes: FastifyPluginAsyncTypebox<AuditLogRoutesDeps> = async (app, deps) => {
  listAuditEntriesRoute(app, deps)
  exportAuditLogRoute(app, deps)
  listAuditCheckpointsRoute(app, deps)
}

function listAuditEntriesRoute(app: App, deps: AuditLogRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/audit-log',
    {
      schema: {
        ...operation('Audit log', auditors, {
          operationId: 'listAuditEntries',
          summary: 'Who did what in the account',
          description:
            'Newest first, by number. The platform’s users read the entries of all accounts. With several filters one answer examines ' +
            'up to 10,000 entries. So it may have fewer entries than `limit` and still a `nextCursor`.',
        }),
        querystring: EntriesQuery,
        response: { 200: EntriesPage, ...partnerErrors(noAccount) },
      },
    },
    async (request, reply) => {
      const { query } = request
      const reader = callerAccount(request)
      return pageReads.read(request, reply, database => listEntries({ database, reader, query }))
    },
  )
}

function exportAuditLogRoute(app: App, deps: AuditLogRoutesDeps): void {
  const { costlyReads } = deps
  app.get(
    '/audit-log.jsonl',
    {
      schema: {
        ...operation('Audit log', auditors, {
          operationId: 'exportAuditLog',
          summary: 'The audit log as a file',
          description:
            'Every entry from the first to the last one of the period, oldest first and without gaps. Each line is a JSON object. ' +
            'The lines of one account have its own chain only.',
        }),
        querystring: LogQuery,
        response: { 200: LogLines, ...partnerErrors(noAccount) },
      },
    },
    async (request, reply) => {
      const reader = callerAccount(request)
      const span = readFromTo(request.query)
      const database = await costlyReads.begin(request, reply)
      const account = await readableAccount(database, reader, request.query.account)
      return sendLog(reply, database, { account, span })
    },
  )
}

function listAuditCheckpointsRoute(app: App, deps: AuditLogRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/audit-log/checkpoints',
    {
      schema: {
        ...operation('Audit log', auditors, {
          operationId: 'listAuditCheckpoints',
          summary: 'Checkpoints of the audit log',
          description:
            'Newest first. Each has the hash of the whole log. A partner also gets the number and the hash of its own last entry at ' +
            'that time, with a signed note of its own chain; the platform’s users get the signed note of the whole log.',
        }),
        querystring: CheckpointsQuery,
        response: { 200: CheckpointsPage, ...partnerErrors() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filters } = request.query
      const reader = callerAccount(request)
      const scope = { list: 'audit-checkpoints', account: reader, filters }
      const [before = null] = readCursor(scope, cursor, ['time']) ?? []
      const database = await pageReads.begin(request, reply)
      const page = { before: before === null ? null : new Date(before), limit: limit + 1 }
      const found = await findCheckpoints(database, readFromTo(filters), page)
      const rows = await withHeads(database, deps, reader, found)
      return finitePage(rows, { scope, limit, positionOf: row => [row.checkpoint.at.toISOString()] }, checkpointView)
    },
  )
}
