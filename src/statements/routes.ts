/** Routes with which a bank's systems and people read daily statements (contract/statements.md). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { bankOf } from '../access/request/authenticate.ts'
import type { Clock } from '../clock.ts'
import { isKnown } from '../http/answer/etag.ts'
import { sendLong } from '../http/answer/long-answer.ts'
import type { App } from '../http/app.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { IfNoneMatch } from '../http/openapi/operations.ts'
import { statementReaders } from '../partner/allowed-roles.ts'
import { finitePage, readCursor } from '../partner/lists.ts'
import { callerAccount } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { openFiles } from './file-store.ts'
import { type OpenDeps, readOpen } from './open.ts'
import { findLines, findStatements } from './read-store.ts'
import { readRange, readStatement, readStatementFile, readStatementFiles, type StatementFile } from './reads.ts'
import * as schemas from './schemas.ts'
import { fileCachingHeader, fileHeaders, statementView, tagOf } from './views.ts'

export type StatementRoutesDeps = ReadDeps & Omit<OpenDeps, 'reads'> & { clock: Clock }

const notFound = { 404: 'The bank has no such statement' }
const header = (description: string, example: string) => ({ type: 'string', description, examples: [example] })
const fileAnswer = {
  description: `The file. ${schemas.recordsDescription}`,
  content: { 'text/csv': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
  headers: {
    'content-disposition': header('Name of the file', 'attachment; filename="statement-2026-11-22.csv"'),
    'repr-digest': header('SHA-256 of the bytes (RFC 9530)', 'sha-256=:4psjir0w87vFOJlq69HbjiBA4ukS2JY6mee8RNlHSBY=:'),
    'cache-control': fileCachingHeader,
    etag: header(
      'The same bytes have the same tag',
      '"e29b238abd30f3bbc538996aebd1db8e2040e2e912d8963a99e7bc44d9474816"',
    ),
  },
}

/** Describes the answer 304: the client has the file already. */
const knownAnswer = { description: 'The tag of `If-None-Match` is known', headers: fileAnswer.headers }

const head = (operationId: string, summary: string, description: string) =>
  operation('Statements', statementReaders, { operationId, summary, description })

export const statementRoutes: FastifyPluginAsyncTypebox<StatementRoutesDeps> = async (app, deps) => {
  listStatementsRoute(app, deps)
  readOpenStatementRoute(app, deps)
  readLatestStatementRoute(app, deps)
  readStatementRoute(app, deps)
  listStatementLinesRoute(app, deps)
  exportStatementRoute(app, deps)
  exportStatementsRoute(app, deps)
}

function listStatementsRoute(app: App, deps: StatementRoutesDeps): void {
  const { pageReads, clock } = deps
  app.get(
    '/statements',
    {
      schema: {
        ...head(
          'listStatements',
          'Closed statements of some days',
          'Newest first. Days are those of the bank’s time zone.',
        ),
        querystring: schemas.StatementsQuery,
        response: { 200: schemas.StatementsPage, ...partnerErrors() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filters } = request.query
      const scope = { list: 'statements', account: callerAccount(request), filters }
      // The cursor contains the range of the first page. Otherwise the range would move when a day ends between two
      // pages.
      const [before = null, from, to] = readCursor(scope, cursor, ['number', 'day', 'day']) ?? []
      const database = await pageReads.begin(request, reply)
      const { bankId } = bankOf(request)
      const asked = from === undefined ? filters : { from: String(from), to: String(to) }
      const range = await readRange({ database, clock }, bankId, asked)
      const page = { before: before === null ? null : Number(before), limit: limit + 1 }
      const found = await findStatements(database, bankId, range, page)
      return finitePage(
        found,
        { scope, limit, positionOf: ({ number }) => [number, range.from, range.to] },
        statementView,
      )
    },
  )
}

function readOpenStatementRoute(app: App, deps: StatementRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/statements/open',
    {
      schema: {
        ...head(
          'readOpenStatement',
          'The statement that will be closed next',
          'With its content so far: every sale of its period (`from` to `to`) that was confirmed before the request, and ' +
            'late lines of earlier periods. It stays open after `to` until it is closed, usually about a minute later; ' +
            'meanwhile newer sales belong to the statement after it and are not shown, so compare `to` with your clock. ' +
            'A change of the time zone changes `to`. It has no id, number or hash yet.',
        ),
        response: { 200: schemas.Statement, ...partnerErrors({ 404: 'The bank has not sold anything yet' }) },
      },
    },
    async (request, reply) => {
      const reads = await pageReads.begin(request, reply)
      return statementView(await readOpen({ ...deps, reads }, bankOf(request).bankId))
    },
  )
}

function readLatestStatementRoute(app: App, deps: StatementRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/statements/latest',
    {
      schema: {
        ...head('readLatestStatement', 'The newest closed statement', 'The one with the highest number.'),
        response: { 200: schemas.Statement, ...partnerErrors({ 404: 'No statement is closed yet' }) },
      },
    },
    async (request, reply) =>
      statementView(await readStatement(await pageReads.begin(request, reply), bankOf(request).bankId, 'latest')),
  )
}

function readStatementRoute(app: App, deps: StatementRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/statements/:statementId',
    {
      schema: {
        ...head('readStatement', 'A closed statement', 'It never changes.'),
        params: schemas.StatementPath,
        response: { 200: schemas.Statement, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => {
      const database = await pageReads.begin(request, reply)
      return statementView(await readStatement(database, bankOf(request).bankId, request.params.statementId))
    },
  )
}

function listStatementLinesRoute(app: App, deps: StatementRoutesDeps): void {
  const { pageReads } = deps
  app.get(
    '/statements/:statementId/lines',
    {
      schema: {
        ...head('listStatementLines', 'Lines of a closed statement', 'In their order, by `confirmedAt` and `orderId`.'),
        params: schemas.StatementPath,
        querystring: schemas.LinesQuery,
        response: { 200: schemas.LinesPage, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query
      const { statementId } = request.params
      const scope = { list: 'lines', account: callerAccount(request), filters: { statementId } }
      const [after = 0] = readCursor(scope, cursor, ['number']) ?? []
      const database = await pageReads.begin(request, reply)
      await readStatement(database, bankOf(request).bankId, statementId)
      const lines = await findLines(database, statementId, { after: Number(after), limit: limit + 1 })
      return finitePage(lines, { scope, limit, positionOf: ({ line }) => [line] }, line => line)
    },
  )
}

function exportStatementRoute(app: App, deps: StatementRoutesDeps): void {
  const { costlyReads } = deps
  app.get(
    '/statements/:statementId.csv',
    {
      schema: {
        ...head(
          'exportStatement',
          'A closed statement as a file',
          'For programs: RFC 4180, UTF-8, the same bytes at every download, and never compressed.',
        ),
        params: schemas.StatementPath,
        headers: IfNoneMatch,
        response: {
          200: fileAnswer,
          304: knownAnswer,
          ...partnerErrors(notFound),
        },
      },
    },
    async (request, reply) => {
      const { aside, signal } = await costlyReads.beginFile(request, reply)
      const { statementId } = request.params
      const file = await readStatementFile(aside, bankOf(request).bankId, statementId)
      return await sendFile(deps, { request, reply, signal }, file)
    },
  )
}

function exportStatementsRoute(app: App, deps: StatementRoutesDeps): void {
  const { costlyReads, clock } = deps
  app.get(
    '/statements.csv',
    {
      schema: {
        ...head('exportStatements', 'The files of some days', 'One after the other, oldest first, byte for byte.'),
        querystring: schemas.DaysQuery,
        headers: IfNoneMatch,
        response: { 200: fileAnswer, 304: knownAnswer, ...partnerErrors() },
      },
    },
    async (request, reply) => {
      const { aside, signal } = await costlyReads.beginFile(request, reply)
      const file = await readStatementFiles({ database: aside, clock }, bankOf(request).bankId, request.query)
      return await sendFile(deps, { request, reply, signal }, file)
    },
  )
}

/**
 * Answers with files of statements, or with 304.
 *
 * @param deps.database where their bytes are read
 * @param exchange.signal aborts when the client disconnects
 */
export async function sendFile(
  { database }: Pick<StatementRoutesDeps, 'database'>,
  exchange: { request: FastifyRequest; reply: FastifyReply; signal: AbortSignal },
  file: StatementFile,
): Promise<FastifyReply> {
  const { request, reply, signal } = exchange
  if (isKnown(request.headers['if-none-match'], tagOf(file))) return reply.headers(fileHeaders(file)).code(304).send()
  const writeTo = await openFiles(database, file.statementIds, signal)
  // Set the file's headers only now, so that an earlier error is sent without them.
  reply.headers(fileHeaders(file))
  sendLong(request, reply, { encoding: 'identity', writeTo })
  return reply
}
