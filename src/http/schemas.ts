/** Schema parts that all APIs share. Validation, types, answers and the OpenAPI documents all come from schemas. */
import Type from 'typebox'
import { CashbackError } from './errors.ts'
import { errorAnswers } from './openapi/operations.ts'

export const closed = { additionalProperties: false }
export const secured = [{ bearerToken: [] }]

/**
 * Ids of the sample directory, so that readers can try the examples. Words of a field's description decide which id it
 * shows.
 */
const sampleIds: readonly [of: RegExp, id: string][] = [
  [/payment system/i, '5b0c3c1e-0d0a-4c5e-8f56-2f6b1a1d0001'],
  [/bank/i, '6f1d0c52-7a3e-4b8c-9d21-0a5be7c4f101'],
  [/merchant/i, '2c9b7e14-5d60-4f3a-8b17-93d0a6e5c201'],
]
const exampleFor = (description: string): string =>
  sampleIds.find(([of]) => of.test(description))?.[1] ?? '7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'

export const instant = (description: string, example = '2026-12-01T00:00:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })
/** @param example default: an id that fits the description, see `sampleIds` */
export const uuid = (description: string, example = exampleFor(description)) =>
  Type.String({ format: 'uuid', description, examples: [example] })

export const text = (description: string, example: string) => Type.String({ description, examples: [example] })
export const count = (description: string, example = 0) =>
  Type.Integer({ minimum: 0, description, examples: [example] })
export const flag = (description: string) => Type.Boolean({ description })
export const money = (description: string, example: number) => Type.Number({ description, examples: [example] })

const common = {
  401: 'The token is missing, expired or invalid',
  403: 'The caller is of the wrong kind, or its role does not allow this',
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is temporarily unavailable; try again after `Retry-After` seconds',
}

/**
 * The error answers of an operation: those of all operations, and its own.
 * @param causes for each status code, the cause in words
 */
export const cashbackErrors = (causes: Record<number, string>) => errorAnswers(CashbackError, { ...common, ...causes })
