/** Routes with which the operator runs an audit, and reads the result of the last one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Clock } from '../clock.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import { sendProgress } from '../http/answer/line-answer.ts'
import { lineContent, nullable } from '../http/openapi/operations.ts'
import { count, flag, instant, text } from '../http/schemas.ts'
import { type AuditDeps, type AuditOptions, audit, findLastAudits } from '../upkeep/audit/audit.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

const fields = {
  ok: flag('Every check holds'),
  checks: Type.Array(
    Type.Object(
      {
        code: text('The check, for programs; it never changes', 'live-orders'),
        name: text('What must hold', 'no profile is on two live orders'),
        ok: flag('It does'),
        detail: Type.String({ description: 'What was found, in words' }),
        params: Type.Optional(
          Type.Record(Type.String(), Type.Integer(), { description: 'The figures in `detail`, when the check holds' }),
        ),
      },
      { title: 'AuditCheck', description: 'One check' },
    ),
    { description: 'Every check' },
  ),
}
const Audit = Type.Object(fields, { title: 'Audit', description: 'The result of the checks' })

const percent = count('Part of the work that is done, in per cent', 43)

const AuditLine = Type.Object(
  {
    progress: Type.Optional(
      Type.Object({ percent, step: text('What is being checked', 'orders') }, { description: 'How far it has come' }),
    ),
    error: Type.Optional(Type.String({ description: 'Why it stopped' })),
    ok: Type.Optional(fields.ok),
    checks: Type.Optional(fields.checks),
  },
  { title: 'AuditLine', description: 'Progress, or an error; the last line is the result' },
)

const LastAudits = Type.Object(
  {
    last: nullable(
      Type.Object(
        {
          ...fields,
          startedAt: instant('When it began'),
          finishedAt: instant('When it ended'),
        },
        { description: 'The last audit that was completed; null: there was none' },
      ),
    ),
    unfinished: nullable(
      Type.Object(
        {
          startedAt: instant('When it began'),
          savedAt: instant('When its progress was last saved'),
          percent,
          running: flag('true: it is running now; false: it was interrupted and can be resumed'),
        },
        { description: 'The audit that is running or was interrupted; null: there is none' },
      ),
    ),
  },
  { description: 'The last audits, in real time' },
)

const AuditQuery = Type.Object(
  {
    resume: Type.Boolean({
      default: false,
      description: 'true: continues the last audit if it was interrupted; otherwise begins a new one',
    }),
    progress: Type.Boolean({
      default: false,
      description:
        'true: the answer is NDJSON and also reports progress, so that the connection is never silent for long',
    }),
  },
  closed,
)

const runSchema = {
  ...operation(
    'Upkeep',
    'runAudit',
    'Check that all records agree',
    'Everything is checked again in small pieces; sales continue meanwhile. One audit runs at a time. It ends when the client ' +
      'closes the connection, and can then be resumed.',
  ),
  querystring: AuditQuery,
  response: {
    200: {
      description: 'The result of the checks',
      content: {
        'application/json': { schema: Audit },
        ...lineContent(AuditLine),
      },
    },
    ...operatorErrors({ 409: 'Another audit is running' }),
  },
}

export const auditAdminRoutes: FastifyPluginAsyncTypebox<AuditDeps & { clock: Clock }> = async (app, deps) => {
  // This route has no HEAD, because a HEAD request would run the whole audit for an answer without a body.
  app.get('/audit', { exposeHeadRoute: false, schema: runSchema }, async (request, reply) => {
    const { resume, progress } = request.query
    const options: AuditOptions = { resume, signal: disconnectSignal(reply) }
    if (!progress) return await audit(deps, deps.clock.now(), options)
    return sendProgress(reply, async report => {
      const onProgress = throttled((step: object) => report({ progress: step }))
      report(await audit(deps, deps.clock.now(), { ...options, onProgress }))
    })
  })

  app.get(
    '/audit/last',
    {
      schema: {
        ...operation(
          'Upkeep',
          'readLastAudit',
          'The last result of the audit, and how far the present one has come',
          'Reads what was kept; it checks nothing.',
        ),
        response: { 200: LastAudits, ...operatorErrors() },
      },
    },
    async () => {
      const { last, unfinished } = await findLastAudits(deps)
      return {
        last: last && {
          ...last.result,
          startedAt: last.startedAt.toISOString(),
          finishedAt: last.finishedAt.toISOString(),
        },
        unfinished: unfinished && {
          startedAt: unfinished.startedAt.toISOString(),
          savedAt: unfinished.savedAt.toISOString(),
          percent: unfinished.percent,
          running: unfinished.isRunning,
        },
      }
    },
  )
}

const reportEveryMs = 250

/** Calls `report` the first time, and then at most four times a second. */
function throttled<T>(report: (value: T) => void): (value: T) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return value => {
    if (performance.now() - reportedAtMs < reportEveryMs) return
    reportedAtMs = performance.now()
    report(value)
  }
}
