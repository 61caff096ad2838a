/**
 * Which roles of each kind of account may call an operation of the Partner API (contract/partner-api.md, "Who
 * calls"). Each operation declares one of these sets; the document shows it as `x-roles`. Which role has which right: `roles.ts`.
 */
import type { Caller } from '../caller.ts'
import {
  type BankRole,
  type MerchantRole,
  needsRole,
  type PlatformRole,
  type Right,
  rolesOf,
  rolesWith,
} from '../roles.ts'

/**
 * The roles of each kind of account that may call an operation. With an empty list, accounts of that kind may not call
 * it.
 */
export type Roles = {
  bank: readonly BankRole[]
  merchant: readonly MerchantRole[]
  platform: readonly PlatformRole[]
}

const holdersOf = (right: Right): Roles => ({
  bank: rolesWith('bank', right),
  merchant: rolesWith('retailer', right),
  platform: rolesWith('platform', right),
})

/** The roles for data that belongs to no account, and that the documentation shows to everybody. */
export const everybody: Roles = { bank: rolesOf('bank'), merchant: rolesOf('retailer'), platform: rolesOf('platform') }
/** The roles for reading an account's events, endpoints and deliveries. */
export const integrationReaders: Roles = holdersOf('readEvents')
/** The roles for changing endpoints and deliveries, which includes testing, retrying, replaying and skipping. */
export const integrationAdmins: Roles = holdersOf('changeWebhooks')
/** The roles for reading a bank's orders. */
export const orderReaders: Roles = holdersOf('readSales')
/** The roles for reading a bank's statements. */
export const statementReaders: Roles = holdersOf('readStatements')
/** The roles for reading an account's audit log. */
export const auditors: Roles = holdersOf('readAuditLog')

const kinds = { bank: 'bank', retailer: 'merchant', platform: 'platform' } as const
const peopleOf = { bank: 'banks', merchant: 'merchants', platform: 'the platform’s users' } as const

/** Checks a caller's role. @returns the reason for a refusal; null when the caller may call the operation */
export function refusalOf(caller: Pick<Caller, 'type' | 'role'>, roles: Roles): string | null {
  const kind = kinds[caller.type]
  const allowed: readonly string[] = roles[kind]
  if (allowed.includes(caller.role)) return null
  if (allowed.length === 0) return `This operation is not for ${peopleOf[kind]}`
  return needsRole(allowed)
}
