/** Parts of the API description that all operations of the operator's interface share. */
import Type, { type TSchema } from 'typebox'
import { OperatorError } from '../../http/errors.ts'
import { errorAnswers, lineContent } from '../../http/openapi/operations.ts'

export const closed = { additionalProperties: false }

const common = {
  401: 'Neither the operator’s key nor a valid token of a platform user',
  403: 'The token belongs to a partner, or to a platform user whose role does not allow this',
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is temporarily unavailable; try again after `Retry-After` seconds',
}

/**
 * The `config` of a route that a person may call only after proving a second factor within the last 15 minutes. The
 * holder of the operator's key needs no factor.
 */
export const fresh = { needsFreshFactor: true }

/** The error answers of operations with `fresh`. */
export const mfaNeeded = {
  401: 'Neither the operator’s key nor a valid token of a platform user; or the user must show a factor first (`mfa-needed`)',
}

/** The error answer of operations that name a partner by its code. */
export const unknownPartner = { 404: 'No partner has that code' }

/**
 * The error answers of an operation: those that all operations have, and its own.
 * @param causes the causes of its own errors, by HTTP status
 */
export const operatorErrors = (causes: Record<number, string> = {}) =>
  errorAnswers(OperatorError, { 400: 'The request is invalid', ...common, ...causes })

const tagNames = [
  'Overview',
  'Partners',
  'Access',
  'Stock',
  'Orders',
  'Statements',
  'Campaigns',
  'Customers',
  'Events',
  'Upkeep',
] as const

export const tags = [
  { name: 'Overview', description: 'The state of the platform' },
  { name: 'Partners', description: 'The directory of banks, merchants and mobile operators' },
  { name: 'Access', description: 'Credentials of systems, and portal users' },
  { name: 'Stock', description: 'Profiles: loading, counting, taking out of sale' },
  { name: 'Orders', description: 'eSIM orders of all banks' },
  { name: 'Statements', description: 'Daily statements of all banks' },
  { name: 'Campaigns', description: 'Campaigns of all merchants' },
  { name: 'Customers', description: 'Customers and their banks' },
  { name: 'Events', description: 'Feeds of events, and the endpoints that they are sent to' },
  { name: 'Upkeep', description: 'Checks of the records, and keys' },
] satisfies { name: (typeof tagNames)[number]; description: string }[]

/** The part of an operation's schema that every operation has. */
export const operation = (
  tag: (typeof tagNames)[number],
  operationId: string,
  summary: string,
  description: string,
) => ({
  tags: [tag],
  security: [{ bearerToken: [] }],
  operationId,
  summary,
  description,
})

/** An answer of many lines, each a JSON value. */
export const lines = (line: TSchema, description: string) => ({
  description,
  content: lineContent(line),
})

/** The schema of a body that is a file. It is only documentation, because the file is read while it arrives. */
export const csvBody = (description: string) =>
  Type.Unsafe<unknown>({ type: 'string', contentMediaType: 'text/csv', description })
