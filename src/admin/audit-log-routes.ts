/**
 * Routes with which the operator reads, exports and checks the audit log. The commands `perkline audit-log` call them
 * (contract/audit-log.md, "Checking").
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { chainBeforeRead } from '../audit-log/chain-store.ts'
import { checkLog } from '../audit-log/check.ts'
import { type CheckpointDeps, makeCheckpoint } from '../audit-log/checkpoints.ts'
import { readableAccount } from '../audit-log/reads.ts'
import { listEntries, sendLog } from '../audit-log/request/answers.ts'
import { withOrigin } from '../audit-log/request/origin.ts'
import { EntriesPage, EntriesQuery, LogLines, LogQuery } from '../audit-log/schemas.ts'
import { faultReasons } from '../audit-log/verifier.ts'
import { platformAccount } from '../caller.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { nullable } from '../http/openapi/operations.ts'
import { count, flag, instant, text } from '../http/schemas.ts'
import { readFromTo } from '../text/span.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

/** The maximum size of the checkpoints in a request. It is enough for one checkpoint an hour for some years. */
const anchorBytes = 16 * 1024 * 1024

const VerifyBody = Type.Object(
  {
    anchors: Type.Optional(
      Type.String({
        description: 'Checkpoints from outside of the database, as `AUDIT_ANCHOR_FILE` has them',
        examples: [''],
      }),
    ),
  },
  closed,
)

const Verified = Type.Object(
  {
    ok: flag('Everything fits'),
    entries: count('Entries that were checked', 4711),
    checkedFrom: nullable(
      Type.Object(
        { seq: count('Its number', 1), at: instant('When it happened', '2026-11-21T08:00:00.000Z') },
        { title: 'CheckedFrom', description: 'The first entry that was checked; null: none' },
      ),
    ),
    checkedUntil: nullable(
      Type.Object(
        { seq: count('Its number', 4711), at: instant('When it happened', '2026-11-21T08:00:00.000Z') },
        { title: 'CheckedUntil', description: 'The last entry that fits; null: none' },
      ),
    ),
    fault: nullable(
      Type.Object(
        {
          seq: count('The number of the entry', 17),
          reason: Type.Enum([...faultReasons], { title: 'LogFault', description: 'What is wrong with the entry' }),
        },
        { title: 'FoundFault', description: 'The first entry that does not fit; null: all fit' },
      ),
    ),
    covered: Type.Object(
      {
        checkpoints: count('How many checkpoints confirm what was checked', 12),
        until: nullable(count('The last entry that one of them covers; null: none does', 4700)),
        uncovered: count('How many of the checked entries lie behind it', 11),
      },
      {
        title: 'CoveredByCheckpoints',
        description: 'What the checkpoints of `anchors` cover; without `anchors`, those that the database itself has',
      },
    ),
    unnumbered: count(
      'Entries that were recorded but not checked, because they could not be numbered: the database may be read-only',
      0,
    ),
    incomplete: count('Notes of `anchors` that break off, such as a full disk leaves them: they were skipped', 0),
  },
  { description: 'What the check found' },
)

/** The header of an export that says how many entries are missing in it. The command `audit-log export` reads it. */
const unnumberedHeader = 'perkline-unnumbered'
const Unnumbered = Type.Integer({
  description:
    'Entries of any account and time that were recorded but could not be numbered, so they are in no file: the database may be read-only',
  examples: [0],
})

const Made = Type.Object(
  {
    seq: count('The last entry that it covers', 4711),
    hash: text('The hash of the log up to there, in hexadecimal digits', '5d41402abc4b2a76b9719d911017c592'),
    at: instant('When it was made', '2026-11-21T08:00:00.000Z'),
    anchored: nullable(flag('Whether it was appended to `AUDIT_ANCHOR_FILE`; null: this process has no such file')),
  },
  { description: 'The checkpoint' },
)

export const auditLogAdminRoutes: FastifyPluginAsyncTypebox<
  ReadDeps & { checkpoints: CheckpointDeps; auditYears: number }
> = async (app, { pageReads, costlyReads, checkpoints, auditYears }) => {
  app.get(
    '/audit-log',
    {
      schema: {
        ...operation('Upkeep', 'findAuditEntries', 'Who did what', 'Entries of all accounts, newest first, by number.'),
        querystring: EntriesQuery,
        response: { 200: EntriesPage, ...operatorErrors({ 404: 'There is no such account' }) },
      },
    },
    async (request, reply) => {
      const database = await pageReads.begin(request, reply)
      if (request.query.cursor === undefined) await chainBeforeRead(checkpoints.database)
      const { query } = request
      return database.snapshot(snapshot => listEntries({ database: snapshot, reader: platformAccount, query }))
    },
  )

  app.get(
    '/audit-log/export',
    {
      schema: {
        ...operation(
          'Upkeep',
          'exportWholeAuditLog',
          'The audit log as a file',
          'Each line is a JSON object. The lines of one account have its own chain only.',
        ),
        querystring: LogQuery,
        response: {
          200: { ...LogLines, headers: { [unnumberedHeader]: Unnumbered } },
          ...operatorErrors({ 404: 'There is no such account' }),
        },
      },
    },
    async (request, reply) => {
      const span = readFromTo(request.query)
      const database = await costlyReads.begin(request, reply)
      const account = await readableAccount(database, platformAccount, request.query.account)
      reply.header(unnumberedHeader, await chainBeforeRead(checkpoints.database))
      return sendLog(reply, database, { account, span })
    },
  )

  app.post(
    '/audit-log/verify',
    {
      bodyLimit: anchorBytes,
      config: { ...bodyOptional, isSearch: true },
      schema: {
        ...operation(
          'Upkeep',
          'verifyAuditLog',
          'Check the chain of the audit log',
          'All of it, entry by entry. The answer comes from the platform that is to be checked: proof is a check of an exported file ' +
            'against checkpoints that lie elsewhere.',
        ),
        body: VerifyBody,
        response: { 200: Verified, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const database = await costlyReads.begin(request, reply)
      const unnumbered = await chainBeforeRead(checkpoints.database)
      const checked = await checkLog({ database }, { notes: request.body.anchors ?? null, years: auditYears })
      return { ...checked, unnumbered }
    },
  )

  app.post(
    '/audit-log/checkpoint',
    {
      schema: {
        ...operation('Upkeep', 'makeAuditCheckpoint', 'Sign how far the audit log has come', 'As happens every hour.'),
        response: { 200: Made, ...operatorErrors() },
      },
    },
    async request => {
      const { origin } = withOrigin({}, request)
      const { seq, hash, at, isAnchored } = await makeCheckpoint(checkpoints, origin)
      return { seq, hash: hash.toString('hex'), at: at.toISOString(), anchored: isAnchored }
    },
  )
}
