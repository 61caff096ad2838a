/**
 * The only place that knows status codes of errors and the bodies of the APIs: the cashback document's, the eSIM document's, and
 * the token endpoint's `{text}`.
 */
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { DomainError, type ErrorCode } from '../errors.ts'
import { faultMessages } from './validation.ts'

/** Does not compile when a code has no status. */
const statusOf: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  stale: 412,
  'too-many': 429,
  unavailable: 503,
}

const message = Type.Union([Type.String(), Type.Array(Type.String())], {
  description:
    'What is wrong: one text, or for faults of form one entry for each, beginning with the name of the field',
})

export const CashbackError = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status code' }),
    message,
    error: Type.String({ description: 'The HTTP reason' }),
  },
  { $id: 'Error', description: 'Any answer that is not a success' },
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
  { $id: 'Error', description: 'Any answer that is not a success' },
)

export const TokenError = Type.Object(
  { text: Type.String({ description: 'What is wrong' }) },
  { $id: 'TokenError', description: 'Why no token was issued' },
)

export type Api = 'token' | 'cashback' | 'esim'

/** Which API's error body a path gets; also paths that no route knows. */
export function apiOf(requested: string): Api {
  const path = requested.includes('%') ? decoded(requested) : requested
  if (path === '/esim/v1' || path.startsWith('/esim/v1/')) return 'esim'
  return path === '/getToken' || path.startsWith('/getToken/') ? 'token' : 'cashback'
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** The path as requested, without the query: that may hold what belongs in no log and no answer. */
export function pathOf(request: FastifyRequest): string {
  const target = request.raw.url?.split('?', 1)[0] ?? '/'
  // A proxy may send the whole address (RFC 9112, 3.2.2).
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/]*/i, '')
}

export function errorBody(request: FastifyRequest, statusCode: number, details: string | string[]): object {
  const error = STATUS_CODES[statusCode] ?? 'Error'
  const path = pathOf(request)
  switch (apiOf(path)) {
    case 'token':
      return { text: Array.isArray(details) ? details.join('; ') : details }
    case 'esim':
      return { statusCode, timestamp: new Date().toISOString(), path, method: request.method, error, message: details }
    case 'cashback':
      return { statusCode, message: details, error }
  }
}

/** Answers every fault of a request, of the domain, of the form, of the protocol or of ours. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode, details, retryAfterSeconds } = readError(error, request)
  if (statusCode === 500) request.log.error({ err: error }, 'unexpected error')
  // A connection that is lost and a disk that is full look the same to the caller, and not to the operator.
  if (statusCode === 503 && (error as Error).cause !== undefined) request.log.warn({ err: error }, 'unavailable')
  if (statusCode === 401) reply.header('www-authenticate', 'Bearer')
  // The framework ends the connection after a body that it refuses, and who is still sending that would never see the answer. It is
  // read for a while instead (`late-body.ts`).
  reply.removeHeader('connection')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  reply
    .code(statusCode)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(request, statusCode, details))
}

/** A body in a content coding (RFC 9110, 8.4): none is read here. */
export class EncodedBodyError extends Error {
  readonly statusCode = 415
}

type ReadError = { statusCode: number; details: string | string[]; retryAfterSeconds?: number | undefined }

function readError(error: unknown, request: FastifyRequest): ReadError {
  if (error instanceof DomainError)
    return { statusCode: statusOf[error.code], details: error.details, retryAfterSeconds: error.retryAfterSeconds }
  const { validation, statusCode, code } = error as FastifyError
  if (validation) return { statusCode: 400, details: faultMessages(validation as never) }
  if (statusCode === 413) return { statusCode, details: 'The body is larger than this operation takes' }
  if (error instanceof EncodedBodyError)
    return { statusCode: 415, details: 'The body must be sent as it is, without Content-Encoding' }
  if (statusCode === 415) return { statusCode, details: `The body must be ${bodyType(request)}` }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return { statusCode: 400, details: 'The body must be as long as Content-Length says' }
  if (code === 'FST_ERR_BAD_URL') return { statusCode: 400, details: 'The path must be percent-encoded UTF-8' }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { statusCode, details: STATUS_CODES[statusCode] ?? 'The request can’t be read' }
  return { statusCode: 500, details: `Something went wrong on our side; please tell us the request id ${request.id}` }
}

const bodyType = (request: FastifyRequest): string =>
  (request.routeOptions.config as { bodyType?: string }).bodyType ?? 'application/json'
