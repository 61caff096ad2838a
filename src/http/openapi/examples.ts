/**
 * The examples in the documents: one for each body and status, recorded from a platform with the sample data (`npm run
 * examples`). For errors only the text is recorded. `npm run examples` does not cause every error; the others are in
 * `error-texts.ts`.
 */
import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { type Api, apiOf } from '../errors.ts'
import { type ErrorExample, ownErrors, sharedErrors } from './error-texts.ts'
import type { Schema } from './schemas.ts'

export type Media = { schema: Schema; example?: unknown }

/** The recorded examples by operation id, and within an operation by `request` or by the status of the answer. */
export type Examples = Record<string, Record<string, unknown>>

/** The recorded error texts by operation id, and within an operation by status. */
export type ErrorExamples = Record<string, Record<string, ErrorExample>>
export const examplesUrl = new URL('examples.json', import.meta.url)
export const errorExamplesUrl = new URL('error-examples.json', import.meta.url)

let recorded: Examples | undefined
let recordedErrors: ErrorExamples | undefined

/** Returns the example for a body. @param status of the answer, or `request` for the body of the request */
export function exampleOf(
  operationId: string,
  status: string,
  of?: { path: string; method: string; type: string; description: string },
): unknown {
  recorded ??= JSON.parse(readFileSync(examplesUrl, 'utf8')) as Examples
  const example = recorded[operationId]?.[status]
  // For an answer of many lines, one line is recorded.
  if (example !== undefined && of?.type === 'application/x-ndjson') return `${JSON.stringify(example)}\n`
  // A picture has no example, because an example here is text.
  if (example !== undefined || of === undefined) return of?.type.startsWith('image/') ? undefined : example
  if (of.type !== 'application/json' || Number(status) < 400) return undefined
  recordedErrors ??= JSON.parse(readFileSync(errorExamplesUrl, 'utf8')) as ErrorExamples
  const known = recordedErrors[operationId]?.[status] ?? ownErrors[operationId]?.[Number(status)]
  // The text of a 413 is its description, because both name the limit of the operation.
  const shared: ErrorExample | undefined =
    status === '413' ? ['too-large', of.description] : sharedErrors[Number(status)]
  return errorBody(of, Number(status), known ?? shared)
}

function errorBody(of: { path: string; method: string }, statusCode: number, example?: ErrorExample): unknown {
  const { path, method } = of
  const [code, message, facts] = example ?? ['invalid', STATUS_CODES[statusCode] ?? '']
  const error = STATUS_CODES[statusCode] ?? ''
  const bodies: Record<Api, unknown> = {
    token: { text: String(message) },
    cashback: { statusCode, message, error },
    esim: { statusCode, timestamp: '2026-11-21T08:15:00.000Z', path, method, error, message },
    portal: { statusCode, message, error, code },
    operator: { statusCode, message, error, code },
    partner: { statusCode, message, error, code, requestId: '0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63', ...facts },
  }
  return bodies[apiOf(path)]
}
