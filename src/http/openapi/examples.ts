/**
 * The examples of the documents: one for each body and status. Those of successes were recorded from a platform with the sample data
 * (`npm run examples`), those of errors are what every operation answers alike.
 */
import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { type Api, apiOf } from '../errors.ts'
import type { Schema } from './schemas.ts'

export type Media = { schema: Schema; example?: unknown }

/** By operation, then `request` or the status. */
export type Examples = Record<string, Record<string, unknown>>

export const examplesUrl = new URL('examples.json', import.meta.url)

let recorded: Examples | undefined

/** @param status of the answer, or `request` for the body of the request */
export function exampleOf(operationId: string, status: string, of?: { path: string; type: string }): unknown {
  recorded ??= JSON.parse(readFileSync(examplesUrl, 'utf8')) as Examples
  const example = recorded[operationId]?.[status]
  // A picture is no text.
  if (example !== undefined || of === undefined) return of?.type.startsWith('image/') ? undefined : example
  return of.type === 'application/json' && Number(status) >= 400 ? errorExample(of.path, Number(status)) : undefined
}

const messages: Record<number, [code: string, message: string | string[]]> = {
  400: ['invalid', ['foo must be omitted']],
  401: ['unauthenticated', 'The bearer token is not valid or has expired'],
  403: ['forbidden', 'Your role does not allow this operation'],
  404: ['not-found', 'There is nothing at this path'],
  408: ['invalid', 'The body took too long'],
  409: ['conflict', 'Another request changes the same'],
  412: ['stale', 'The campaign has changed since it was read: read it again'],
  413: ['too-large', 'The body is larger than this operation takes'],
  415: ['wrong-type', 'The body must be application/json'],
  422: ['key-reused', 'This Idempotency-Key was used for another request'],
  429: ['too-many', 'Too many requests: wait for Retry-After seconds'],
  500: ['internal', 'Internal error. Quote request id 0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63 when you contact support.'],
  503: ['unavailable', 'The database is away for a moment; try again'],
}

function errorExample(path: string, statusCode: number): unknown {
  const [code, message] = messages[statusCode] ?? ['invalid', STATUS_CODES[statusCode] ?? '']
  const error = STATUS_CODES[statusCode] ?? ''
  const bodies: Record<Api, unknown> = {
    token: { text: String(message) },
    cashback: { statusCode, message, error },
    esim: { statusCode, timestamp: '2026-11-21T08:15:00.000Z', path, method: 'GET', error, message },
    portal: { statusCode, message, error, code },
    operator: { statusCode, message, error, code },
    partner: { statusCode, message, error, code, requestId: '0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63' },
  }
  return bodies[apiOf(path)]
}
