/** Parts of the schemas and of the documentation that all operations of the Partner API share. */
import { PartnerError } from '../../http/errors.ts'
import { errorAnswers } from '../../http/openapi/operations.ts'
import type { Roles } from '../allowed-roles.ts'
import { rolesKeyword } from './authorize.ts'

const common = {
  401: 'The token is missing, expired or invalid',
  403: 'The operation is not for this kind of account, or the role does not allow it',
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is temporarily unavailable; try again after `Retry-After` seconds',
}

/**
 * The error answers of an operation: those of all operations, and its own.
 * @param causes for each status code, the cause in words
 */
export const partnerErrors = (causes: Record<number, string> = {}) =>
  errorAnswers(PartnerError, { 400: 'The request is invalid', ...common, ...causes })

const tagNames = ['Events', 'Webhooks', 'Orders', 'Statements', 'Audit log'] as const

/** The groups of operations in the document. */
export const tags = [
  { name: 'Events', description: 'What happened, as a feed without gaps' },
  { name: 'Webhooks', description: 'Endpoints to which events are sent, and the log of what was sent' },
  { name: 'Orders', description: 'The bank’s sales for its back office' },
  { name: 'Statements', description: 'What the bank owes, day by day' },
  { name: 'Audit log', description: 'Who did what in the account' },
] satisfies {
  name: (typeof tagNames)[number]
  description: string
}[]

/**
 * Makes the start of an operation's schema.
 * @param roles the roles that may call it; they are checked for each request and shown as `x-roles`
 */
export const operation = (
  tag: (typeof tagNames)[number],
  roles: Roles,
  head: { operationId: string; summary: string; description: string },
) => ({ tags: [tag], security: [{ bearerToken: [] }], [rolesKeyword]: roles, ...head })
