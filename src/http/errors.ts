/**
 * Maps error codes to status codes, and writes error bodies in the form of each API. The token endpoint, for example,
 * answers `{"text": "..."}`. Errors of the HTTP protocol already have a status when they arrive here. Only
 * `input/unreadable.ts` writes the body of an error itself, because there the input could not be parsed as a request.
 */
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { realNow } from '../clock.ts'
import { type BrokenRule, ruleCodes } from '../error-rules.ts'
import { DomainError, type ErrorCode, errorCodes, InvalidTokenError, type Problem } from '../errors.ts'
import { sizeText } from '../text/size.ts'
import { UnsupportedError } from './input/message-rules.ts'
import { SmallChunksError } from './input/small-chunks.ts'
import { schemaRules } from './input/validation.ts'
import { SlowUploadError } from './upload/upload.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the client can show an error beside the field that it belongs to, as the portal does. */
    wantsErrorRules(): boolean
  }
}

/** The status of each error code. The compiler reports a code without a status. */
const statusOf: Record<ErrorCode, number> = {
  invalid: 400,
  'campaign-state': 400,
  'no-bank-approved': 400,
  unauthenticated: 401,
  'mfa-needed': 401,
  forbidden: 403,
  'address-not-allowed': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  'request-in-progress': 409,
  'feed-restarted': 409,
  'limit-reached': 409,
  'external-id-mismatch': 409,
  'order-expired': 409,
  'order-cancelled': 409,
  'order-confirmed': 409,
  'order-not-confirmed': 409,
  'events-removed': 410,
  stale: 412,
  'too-large': 413,
  'wrong-type': 415,
  'key-reused': 422,
  'too-many': 429,
  'too-many-reservations': 429,
  internal: 500,
  unavailable: 503,
  'no-stock': 503,
  'off-sale': 503,
}

/** The error code for an error that has a status but no code of its own. Other statuses have no error code. */
const codeOfStatus: Record<number, ErrorCode> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'invalid',
  413: 'too-large',
  415: 'wrong-type',
  429: 'too-many',
  500: 'internal',
  503: 'unavailable',
}

/** The header with the error code, for APIs whose error bodies have no field for it (`carriesCode`). */
export const errorCodeHeader = 'perkline-error-code'

/**
 * The header with the broken rules (a JSON list in ASCII), which the portal's forms read when the body has no field for
 * the rules.
 */
const errorRulesHeader = 'perkline-error-rules'
/**
 * The maximum size of the rules without the two brackets of their list. With the brackets it is 4 KiB. Browsers and
 * proxies accept 16 KiB for all headers together.
 */
const maxRulesBytes = 4094

const message = Type.Union([Type.String(), Type.Array(Type.String())], {
  description:
    'What is wrong: one text, or for validation errors a list in which each entry begins with the name of its field',
})

export const CashbackError = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status code' }),
    message,
    error: Type.String({ description: 'The HTTP reason' }),
  },
  { $id: 'ApiError', description: 'An error' },
)

const code = Type.Enum([...errorCodes], {
  description: 'The reason, for programs. A code never changes its meaning; new codes may be added',
})

const orNull = <Value>(type: string, description: string, example: Value) =>
  Type.Unsafe<Value | null>({ type: [type, 'null'], description, examples: [example] })

const params = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
  description: 'Values of the rule',
  examples: [{ decimals: 2 }],
})

const FileProblem = Type.Object({
  line: orNull<number>('integer', 'Line of the file, its header being line 1; null: the file as a whole', 7),
  column: orNull<string>('string', 'Name of the column; null: the line as a whole', 'amount'),
  rule: Type.String({ description: 'The broken rule. Its meaning never changes', examples: ['decimal'] }),
  params,
  value: orNull<string>('string', 'The value; null: nothing to show', '12,5'),
})

const rules = Type.Optional(
  Type.Array(
    Type.Object({
      field: Type.String({ description: 'The field, as `message` names it', examples: ['terminals.0.terminal_id'] }),
      rule: Type.Enum([...ruleCodes], {
        description: 'The rule that its value breaks. A rule never changes its meaning; new ones may be added',
        examples: ['max-length'],
      }),
      params,
      line: Type.Optional(
        Type.Integer({ description: 'Where the field is one of a directory file: its line, from 1', examples: [7] }),
      ),
    }),
    { description: 'The broken rules of single fields; `message` says the same in English' },
  ),
)

const problems = Type.Optional(
  Type.Array(FileProblem, {
    description: 'The first broken rules of an uploaded file; `message` says the same in English',
  }),
)

const problemCount = Type.Optional(
  Type.Integer({ description: 'How many broken rules the uploaded file has in all', examples: [35] }),
)

export const PortalError = Type.Object(
  { ...CashbackError.properties, code, rules, problems, problemCount },
  { $id: 'PortalError', description: 'An error of the operations under `/portal`' },
)

export const OperatorError = Type.Object(
  { ...CashbackError.properties, code, rules, problems, problemCount },
  {
    $id: 'ApiError',
    description: 'An error',
  },
)

export const PartnerError = Type.Object(
  {
    ...CashbackError.properties,
    code,
    requestId: Type.String({
      description: 'The id of this request, as in the header `x-request-id`; quote it when you contact support',
      examples: ['0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63'],
    }),
    oldestSequence: Type.Optional(
      Type.Integer({ description: 'With `events-removed`: the oldest event that is stored', examples: [1201] }),
    ),
    feedId: Type.Optional(
      Type.String({
        description: 'With `feed-restarted`: the present feed',
        examples: ['7c0e3f52-8d1b-4c7e-9a40-5d2c8e1f7b63'],
      }),
    ),
    lastSequence: Type.Optional(
      Type.Integer({ description: 'With `feed-restarted`: the newest event of the present feed', examples: [17] }),
    ),
  },
  { $id: 'PartnerError', description: 'An error' },
)

export const EsimError = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status code' }),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened, UTC' }),
    path: Type.String({ description: 'The path as requested' }),
    method: Type.String({ description: 'The method as requested' }),
    error: Type.String({ description: 'The HTTP reason' }),
    message,
  },
  { $id: 'EsimError', description: 'An error' },
)

export const TokenError = Type.Object(
  { text: Type.String({ description: 'What is wrong' }) },
  { $id: 'TokenError', description: 'Why no token was issued' },
)

export type Api = 'token' | 'cashback' | 'esim' | 'partner' | 'portal' | 'operator'

const prefixes: readonly [prefix: string, api: Api][] = [
  ['/esim/v1', 'esim'],
  ['/partner/v1', 'partner'],
  ['/getToken', 'token'],
  ['/portal', 'portal'],
  ['/admin', 'operator'],
]

/** The API that a path belongs to, which decides the form of its error body. Unknown paths belong to `cashback`. */
export function apiOf(requested: string): Api {
  const path = requested.includes('%') ? decoded(requested) : requested
  const [, api = 'cashback'] =
    prefixes.find(([prefix]) => path.startsWith(prefix) && '/'.includes(path.charAt(prefix.length))) ?? []
  return api
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Whether the API's error bodies contain the code; otherwise a header carries it. */
export const carriesCode = (api: Api): boolean => api === 'portal' || api === 'operator' || api === 'partner'

/** The requested path without the query. The query may contain data that must not be in logs and answers. */
export function pathOf(request: FastifyRequest): string {
  const { url = '/' } = request.raw
  const query = url.indexOf('?')
  const target = query === -1 ? url : url.slice(0, query)
  // A proxy may request `https://host/path` instead of `/path` (RFC 9112, 3.2.2).
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/]*/i, '')
}

export type Failure = {
  statusCode: number
  details: string | string[]
  code?: ErrorCode | undefined
  rules?: readonly BrokenRule[] | undefined
  problems?: readonly Problem[] | undefined
  problemCount?: number | undefined
  facts?: DomainError['facts']
}

/** Answers with an error in the body of the path's API. The code is in the body or in a header. */
export function sendError(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
  const { statusCode, details, rules = [], code = codeOfStatus[statusCode] } = failure
  const error = STATUS_CODES[statusCode] ?? 'Error'
  const path = pathOf(request)
  const api = apiOf(path)
  const hasOwnBody = carriesCode(api)
  if (code !== undefined && !hasOwnBody) reply.header(errorCodeHeader, code)
  if (rules.length > 0 && (api === 'cashback' || api === 'partner') && request.wantsErrorRules())
    reply.header(errorRulesHeader, rulesHeader(rules))
  return reply.code(statusCode).type('application/json; charset=utf-8').serializer(JSON.stringify).send(bodyOf())

  function bodyOf(): object {
    if (api === 'token') return { text: Array.isArray(details) ? details.join('; ') : details }
    if (api === 'esim')
      return { statusCode, timestamp: realNow().toISOString(), path, method: request.method, error, message: details }
    if (api === 'partner')
      return {
        statusCode,
        message: details,
        error,
        ...(code !== undefined && { code }),
        requestId: request.id,
        ...failure.facts,
      }
    const { problems, problemCount } = failure
    const own = {
      ...(code !== undefined && { code }),
      ...(rules.length > 0 && { rules }),
      ...(problems !== undefined && { problems }),
      ...(problemCount !== undefined && { problemCount }),
    }
    return { statusCode, message: details, error, ...(hasOwnBody && own) }
  }
}

/** Answers every error of a request: of the domain, of validation, of the protocol, and unexpected ones. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { retryAfterSeconds, ...failure } = readError(error, request)
  const { statusCode } = failure
  if (statusCode === 500) request.log.error({ err: error }, 'unexpected error')
  // Log the cause: a lost connection and a full disk look the same to the caller, but not to the operator.
  if (statusCode === 503 && (error as Error).cause !== undefined) request.log.warn({ err: error }, 'unavailable')
  if (statusCode === 401)
    reply.header('www-authenticate', error instanceof InvalidTokenError ? 'Bearer error="invalid_token"' : 'Bearer')
  // Fastify closes the connection after a body that it refuses. A client that is still sending would then never see the answer.
  // Instead we drain the body for a while (`late-body.ts`).
  reply.removeHeader('connection')
  // After these errors the end of the body is unknown, so the connection must close.
  const isEndUnknown = error instanceof UnsupportedError || error instanceof SmallChunksError
  // Node.js would close the connection without saying so, because the header was removed.
  if (isEndUnknown || !reply.raw.shouldKeepAlive) reply.header('connection', 'close')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  sendError(request, reply, failure)
}

/** A body with a content coding (RFC 9110, 8.4). We accept none. */
export class EncodedBodyError extends Error {
  readonly statusCode = 415
}

/** The value of the header: a JSON list of as many rules as fit into it. */
function rulesHeader(rules: readonly BrokenRule[]): string {
  const items = rules.map(rule => JSON.stringify(rule).replace(/[^\x20-\x7e]/g, escaped))
  while (items.join().length > maxRulesBytes) items.pop()
  return `[${items.join()}]`
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The status with which an error is answered. */
export const statusOfError = (error: unknown, request: FastifyRequest): number => readError(error, request).statusCode

const bodyLimitOf = ({ routeOptions: { bodyLimit = 0 } }: FastifyRequest): number => bodyLimit

type ReadError = Failure & { retryAfterSeconds?: number | undefined }

function readError(error: unknown, request: FastifyRequest): ReadError {
  if (error instanceof DomainError) {
    const { code, details, rules, problems, problemCount, facts, retryAfterSeconds } = error
    return { statusCode: statusOf[code], code, details, rules, problems, problemCount, facts, retryAfterSeconds }
  }
  // Node.js reports a broken connection like any other error of a stream. Nobody can read the answer to it.
  if (hasBrokenOff(request, error)) return { statusCode: 400, code: 'invalid', details: 'The connection broke off' }
  const { validation, statusCode, code } = error as FastifyError
  if (validation) return readError(new DomainError('invalid', schemaRules(validation)), request)
  if (statusCode === 413) return { statusCode, details: `The body is larger than ${sizeText(bodyLimitOf(request))}` }
  if (error instanceof SlowUploadError) return { statusCode: 408, details: error.message }
  if (error instanceof EncodedBodyError)
    return { statusCode: 415, details: 'The body must be sent as it is, without Content-Encoding' }
  if (statusCode === 415) return { statusCode, details: `The body must be ${bodyType(request)}` }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return { statusCode: 400, details: 'The body must be as long as Content-Length says' }
  if (error instanceof UnsupportedError) return { statusCode: error.statusCode, details: error.message }
  if (code === 'FST_ERR_BAD_URL') return { statusCode: 400, details: 'The path must be percent-encoded UTF-8' }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { statusCode, details: STATUS_CODES[statusCode] ?? 'The request can’t be read' }
  return { statusCode: 500, details: `Something went wrong on our side; please tell us the request id ${request.id}` }
}

const prematureClose = 'ERR_STREAM_PREMATURE_CLOSE'
const brokenOffCodes = new Set(['ECONNRESET', prematureClose])

/** Whether the caller disconnected while we read the body, or while we prepared a streamed answer. */
function hasBrokenOff({ raw }: FastifyRequest, error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return raw.complete ? raw.socket.destroyed && code === prematureClose : raw.destroyed && brokenOffCodes.has(code)
}

const bodyType = (request: FastifyRequest): string =>
  (request.routeOptions.config as { bodyType?: string }).bodyType ?? 'application/json'
