/**
 * The examples in the documents: one for each body and status, recorded from a platform with the sample data (`npm run
 * examples`). For errors only the text is recorded. The errors that every operation answers alike are written here.
 */
import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { type Api, apiOf } from '../errors.ts'
import type { Schema } from './schemas.ts'

export type Media = { schema: Schema; example?: unknown }

/** The recorded examples by operation id, and within an operation by `request` or by the status of the answer. */
export type Examples = Record<string, Record<string, unknown>>

/** The recorded error texts by operation id, and within an operation by status. */
export type ErrorExamples = Record<string, Record<string, ErrorExample>>
export type ErrorExample = [code: string, message: string | string[]]

export const examplesUrl = new URL('examples.json', import.meta.url)
export const errorExamplesUrl = new URL('error-examples.json', import.meta.url)

let recorded: Examples | undefined
let recordedErrors: ErrorExamples | undefined

/** Returns the example for a body. @param status of the answer, or `request` for the body of the request */
export function exampleOf(
  operationId: string,
  status: string,
  of?: { path: string; method: string; type: string },
): unknown {
  recorded ??= JSON.parse(readFileSync(examplesUrl, 'utf8')) as Examples
  const example = recorded[operationId]?.[status]
  // A picture has no example, because an example here is text.
  if (example !== undefined || of === undefined) return of?.type.startsWith('image/') ? undefined : example
  if (of.type !== 'application/json' || Number(status) < 400) return undefined
  recordedErrors ??= JSON.parse(readFileSync(errorExamplesUrl, 'utf8')) as ErrorExamples
  return errorBody(of, Number(status), recordedErrors[operationId]?.[status] ?? shared[Number(status)])
}

/** Texts for errors that are the same for all operations, or that the recorded calls never cause. */
const shared: Record<number, ErrorExample> = {
  400: ['invalid', ['foo must be omitted']],
  401: ['unauthenticated', 'The bearer token is not valid or has expired'],
  403: ['forbidden', 'Your role does not allow this operation'],
  404: ['not-found', 'There is nothing at this path'],
  408: ['invalid', 'The body took too long'],
  409: ['conflict', 'Another request changes the same'],
  412: [
    'stale',
    'The campaign has changed since it was read, or If-Match is not the quoted tag of a version: read it again',
  ],
  413: ['too-large', 'The body is larger than this operation takes'],
  415: ['wrong-type', 'The body must be application/json'],
  422: ['key-reused', 'This Idempotency-Key was used for another request'],
  429: ['too-many', 'Too many requests: wait for Retry-After seconds'],
  500: [
    'internal',
    'Something went wrong on our side; please tell us the request id 0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63',
  ],
  503: ['unavailable', 'The database is temporarily unavailable; try again'],
}

function errorBody(of: { path: string; method: string }, statusCode: number, example?: ErrorExample): unknown {
  const { path, method } = of
  const [code, message] = example ?? ['invalid', STATUS_CODES[statusCode] ?? '']
  const error = STATUS_CODES[statusCode] ?? ''
  const bodies: Record<Api, unknown> = {
    token: { text: String(message) },
    cashback: { statusCode, message, error },
    esim: { statusCode, timestamp: '2026-11-21T08:15:00.000Z', path, method, error, message },
    portal: { statusCode, message, error, code },
    operator: { statusCode, message, error, code },
    partner: { statusCode, message, error, code, requestId: '0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63' },
  }
  return bodies[apiOf(path)]
}
