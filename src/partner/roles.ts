/**
 * Which roles may call an operation of the Partner API, for each kind of account (contract/partner-api.md, "Who calls"). An operation
 * declares one of these; its document shows it as `x-roles`.
 */
import {
  type BankRole,
  bankRoles,
  type Caller,
  type MerchantRole,
  merchantRoles,
  type PlatformRole,
  platformRoles,
} from '../access/caller.ts'

/** An empty list: the operation is not for accounts of that kind. */
export type Roles = {
  bank: readonly BankRole[]
  merchant: readonly MerchantRole[]
  platform: readonly PlatformRole[]
}

const everyMerchantRole: readonly MerchantRole[] = [...merchantRoles, 'gateway']

/** What concerns no account in particular. */
export const everybody: Roles = { bank: bankRoles, merchant: everyMerchantRole, platform: platformRoles }
/** Reads of an account's events, endpoints and deliveries. */
export const integrationReaders: Roles = {
  bank: ['ADMIN', 'EDITOR'],
  merchant: everyMerchantRole,
  platform: platformRoles,
}
/** Changes of the same, also what is tried, repeated or skipped. */
export const integrationAdmins: Roles = { bank: ['ADMIN'], merchant: ['admin_user', 'gateway'], platform: ['admin'] }
/** Reads of a bank's orders and statements. */
export const banksOnly: Roles = { bank: bankRoles, merchant: [], platform: [] }
/** Reads of an account's audit log. */
export const auditors: Roles = { bank: ['ADMIN'], merchant: ['admin_user', 'gateway'], platform: platformRoles }

const kinds = { bank: 'bank', retailer: 'merchant', platform: 'platform' } as const
const peopleOf = { bank: 'banks', merchant: 'merchants', platform: 'the platform’s users' } as const

/** @returns why a caller may not call the operation; null when it may */
export function refusalOf(caller: Pick<Caller, 'type' | 'role'>, roles: Roles): string | null {
  const kind = kinds[caller.type]
  const allowed: readonly string[] = roles[kind]
  if (allowed.includes(caller.role)) return null
  if (allowed.length === 0) return `This operation is not for ${peopleOf[kind]}`
  // A merchant's credential has no role that anybody could give to it.
  return `This operation needs the role ${allowed.filter(role => role !== 'gateway').join(' or ')}`
}
