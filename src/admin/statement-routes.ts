/** Daily statements of all banks, for the operator (contract/statements.md). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { platformAccount } from '../caller.ts'
import type { App } from '../http/app.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { flag, text, uuid } from '../http/schemas.ts'
import { finitePage, listParameters, nextCursor, readCursor } from '../partner/lists.ts'
import {
  findAnyStatement,
  listAllStatements,
  readBankFiles,
  readBankId,
  type StatementOfBank,
} from '../statements/operator-reads.ts'
import { type StatementRoutesDeps, sendFile } from '../statements/routes.ts'
import { DaysQuery, recordsDescription, Statement, StatementPath } from '../statements/schemas.ts'
import { verifyStatements } from '../statements/verify.ts'
import { fileCachingHeader, statementView } from '../statements/views.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

const bankCode = Type.String({ minLength: 1, maxLength: 64, description: 'Code of the bank', examples: ['alpha'] })
const days = DaysQuery.properties
const maxListed = 1_000
const AllStatementsQuery = Type.Object(
  {
    bank: Type.Optional(bankCode),
    ...days,
    limit: Type.Integer({
      minimum: 1,
      maximum: maxListed,
      default: maxListed,
      description: 'Maximum number of statements to return',
    }),
    cursor: listParameters.cursor,
  },
  closed,
)
const bank = Type.Object(
  { id: uuid('The bank'), code: text('Its code', 'alpha'), name: text('Its name', 'Alpha Bank') },
  { title: 'BankReference', description: 'The bank' },
)
const OfBank = Type.Object({ bank, ...Statement.properties }, { title: 'BankStatement', description: 'A statement' })

const AllStatements = Type.Object(
  {
    data: Type.Array(OfBank, { description: 'Newest first, at most `limit`' }),
    nextCursor,
    missing: Type.Array(
      Type.Object(
        {
          bank,
          day: Type.String({
            format: 'date',
            description: 'The oldest day that should be closed',
            examples: ['2026-11-22'],
          }),
          to: Type.String({
            format: 'date-time',
            description: 'When that day ended',
            examples: ['2026-11-22T22:00:00.000Z'],
          }),
        },
        { title: 'MissingStatement' },
      ),
      { description: 'Banks with a day that should be closed and is not' },
    ),
  },
  { description: 'Statements' },
)

const Verified = Type.Object(
  {
    ok: flag('Every check holds'),
    checks: Type.Array(
      Type.Object(
        {
          code: text('The check, for programs; it never changes', 'statement-chain'),
          name: text('What must hold', 'statements have no gap'),
          ok: flag('It does'),
          detail: Type.String({ description: 'What was found, in words' }),
        },
        { title: 'StatementCheck' },
      ),
      { description: 'Every check' },
    ),
  },
  { description: 'The result' },
)

const notFound = { 404: 'There is no such bank or statement' }
const file = {
  200: {
    description: `The files, one after the other. ${recordsDescription}`,
    content: { 'text/csv': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
    headers: {
      'content-disposition': {
        type: 'string',
        description: 'Name of the file',
        examples: ['attachment; filename="a.csv"'],
      },
      'repr-digest': {
        type: 'string',
        description: 'SHA-256 of the bytes',
        examples: ['sha-256=:apTWJIsMaJji58nL2Jn2wBTzmc0GRjTAF9L+O27DiXU=:'],
      },
      'cache-control': fileCachingHeader,
      etag: {
        type: 'string',
        description: 'The same bytes have the same tag',
        examples: ['"6a94d6248b0c6898e2e7c9cbd899f6c014f399cd064634c017d2fe3b6ec38975"'],
      },
    },
  },
}

type StatementAdminDeps = ReadDeps & Pick<StatementRoutesDeps, 'database' | 'clock'>

export const statementAdminRoutes: FastifyPluginAsyncTypebox<StatementAdminDeps> = async (app, deps) => {
  listAllStatementsRoute(app, deps)
  verifyStatementsRoute(app, deps)
  readAnyStatementRoute(app, deps)
  exportAllStatementsRoute(app, deps)
}

function listAllStatementsRoute(app: App, deps: StatementAdminDeps): void {
  const { pageReads, clock } = deps
  app.get(
    '/statements',
    {
      schema: {
        ...operation(
          'Statements',
          'listAllStatements',
          'Statements of all banks',
          'With the days that should be closed and are not.',
        ),
        querystring: AllStatementsQuery,
        response: { 200: AllStatements, ...operatorErrors(notFound) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filters } = request.query
      const scope = { list: 'admin-statements', account: platformAccount, filters }
      // The cursor contains the dates `from` and `to` of the first page. Later pages use the same dates, even if a day
      // has ended meanwhile.
      const [day, bankId, from, to] = readCursor(scope, cursor, ['day', 'id', 'day', 'day'])?.map(String) ?? []
      const after = day === undefined || bankId === undefined ? null : { day, bankId }
      const asked = from === undefined || to === undefined ? filters : { from, to }
      const page = { after, limit: limit + 1 }
      const { range, statements, missing } = await pageReads.read(request, reply, database =>
        listAllStatements({ database, clock }, { ...asked, bankCode: filters.bank }, page),
      )
      const positionOf = ({ day, bank }: StatementOfBank) => [day, bank.id, range.from, range.to]
      const view = ({ bank, ...statement }: StatementOfBank) => ({ bank, ...statementView(statement) })
      return {
        ...finitePage(statements, { scope, limit, positionOf }, view),
        missing: missing.map(({ to, ...rest }) => ({ ...rest, to: to.toISOString() })),
      }
    },
  )
}

function verifyStatementsRoute(app: App, deps: StatementAdminDeps): void {
  const { costlyReads } = deps
  app.get(
    '/statements/verify',
    {
      schema: {
        ...operation(
          'Statements',
          'verifyStatements',
          'Check statements',
          'Files, their chain, numbers, sums, and that each sale is on one.',
        ),
        querystring: Type.Object({ bank: Type.Optional(bankCode) }, closed),
        response: { 200: Verified, ...operatorErrors(notFound) },
      },
    },
    async (request, reply) => {
      const database = await costlyReads.begin(request, reply)
      const { bank } = request.query
      return verifyStatements(database, bank === undefined ? null : await readBankId(database, bank))
    },
  )
}

function readAnyStatementRoute(app: App, deps: StatementAdminDeps): void {
  const { pageReads } = deps
  app.get(
    '/statements/:statementId',
    {
      schema: {
        ...operation('Statements', 'readAnyStatement', 'A closed statement of any bank', 'It never changes.'),
        params: StatementPath,
        response: { 200: OfBank, ...operatorErrors(notFound) },
      },
    },
    async (request, reply) => {
      const { bank, ...statement } = await findAnyStatement(
        await pageReads.begin(request, reply),
        request.params.statementId,
      )
      return { bank, ...statementView(statement) }
    },
  )
}

function exportAllStatementsRoute(app: App, deps: StatementAdminDeps): void {
  const { costlyReads, clock } = deps
  app.get(
    '/statements.csv',
    {
      schema: {
        ...operation(
          'Statements',
          'exportAllStatements',
          'The files of a bank’s statements',
          'One after the other, oldest first, byte for byte.',
        ),
        querystring: Type.Object({ bank: bankCode, ...days }, closed),
        response: { ...file, ...operatorErrors(notFound) },
      },
    },
    async (request, reply) => {
      const { bank, ...asked } = request.query
      const { aside, signal } = await costlyReads.beginFile(request, reply)
      const found = await readBankFiles({ database: aside, clock }, bank, asked)
      return await sendFile(deps, { request, reply, signal }, found)
    },
  )
}
