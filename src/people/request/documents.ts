/** Parts of the API description that the operations on people share. */
import { cashbackErrors } from '../../http/schemas.ts'

export const tags = ['People']

/** The `config` of a route that people may call only with a factor that was proven within the last 15 minutes. */
export const fresh = { needsFreshFactor: true }

const common = {
  400: 'The request is invalid',
  401: 'The token is missing, expired or invalid',
  403: 'The caller is a system, or its role does not allow this',
}

/** The error answer of operations that need a fresh factor. */
export const mfaNeeded = {
  401: 'The token is missing, expired or invalid; or a factor must be shown first (`mfa-needed`)',
}

/** The error answer of operations in which the platform's people may name a partner by its code. */
export const unknownAccount = { 404: 'No partner has that code' }

/** The description of the answer 429 for operations that count as changes of the account's settings. */
export const tooManyChanges =
  'Too many requests, or too many changes of the account’s settings within an hour: wait for `Retry-After` seconds'

export const portalErrors = (causes: Record<number, string> = {}) => cashbackErrors({ ...common, ...causes })
