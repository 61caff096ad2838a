/**
 * Which roles of each kind of account may call an operation of the Partner API (contract/partner-api.md, "Who
 * calls"). Each operation declares one of these sets; the document shows it as `x-roles`.
 */
import {
  type BankRole,
  bankRoles,
  type Caller,
  type MerchantRole,
  merchantRoles,
  type PlatformRole,
  platformRoles,
} from '../caller.ts'

/**
 * The roles of each kind of account that may call an operation. With an empty list, accounts of that kind may not call
 * it.
 */
export type Roles = {
  bank: readonly BankRole[]
  merchant: readonly MerchantRole[]
  platform: readonly PlatformRole[]
}

const everyMerchantRole: readonly MerchantRole[] = [...merchantRoles, 'gateway']

/** The roles for data that belongs to no particular account. */
export const everybody: Roles = { bank: bankRoles, merchant: everyMerchantRole, platform: platformRoles }
/** The roles for reading an account's events, endpoints and deliveries. */
export const integrationReaders: Roles = {
  bank: ['ADMIN', 'EDITOR'],
  merchant: everyMerchantRole,
  platform: platformRoles,
}
/** The roles for changing endpoints and deliveries, which includes testing, retrying, replaying and skipping. */
export const integrationAdmins: Roles = { bank: ['ADMIN'], merchant: ['admin_user', 'gateway'], platform: ['admin'] }
/** The roles for reading a bank's orders and statements. */
export const banksOnly: Roles = { bank: bankRoles, merchant: [], platform: [] }
/** The roles for reading an account's audit log. */
export const auditors: Roles = { bank: ['ADMIN'], merchant: ['admin_user', 'gateway'], platform: platformRoles }

const kinds = { bank: 'bank', retailer: 'merchant', platform: 'platform' } as const
const peopleOf = { bank: 'banks', merchant: 'merchants', platform: 'the platform’s users' } as const

/** Checks a caller's role. @returns the reason for a refusal; null when the caller may call the operation */
export function refusalOf(caller: Pick<Caller, 'type' | 'role'>, roles: Roles): string | null {
  const kind = kinds[caller.type]
  const allowed: readonly string[] = roles[kind]
  if (allowed.includes(caller.role)) return null
  if (allowed.length === 0) return `This operation is not for ${peopleOf[kind]}`
  // The message does not name `gateway`: it is the role of every merchant credential, and nobody can assign it.
  return `This operation needs the role ${allowed.filter(role => role !== 'gateway').join(' or ')}`
}
