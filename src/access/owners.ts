import type { AccountType } from '../caller.ts'

/** The owner of a credential or a person as tables store it: `bank_id`, `merchant_id`, or neither for the platform. */
export type CredentialOwner = { bankId: string } | { merchantId: string }
/** The platform owns people, but no credentials. */
export type AccountOwner = CredentialOwner | 'platform'

/** The values of the columns `bank_id` and `merchant_id` for an owner. */
export const ownerIds = (owner: AccountOwner): [bankId: string | null, merchantId: string | null] => [
  owner !== 'platform' && 'bankId' in owner ? owner.bankId : null,
  owner !== 'platform' && 'merchantId' in owner ? owner.merchantId : null,
]

/**
 * Returns the SQL condition that finds the rows of an owner in a table with the columns `bank_id` and `merchant_id`.
 * It compares only one column, so that the index on that column is used. The value of the parameter `$1` must be
 * `ownerId(owner)`.
 */
export function ofOwner(owner: AccountOwner, table: string): string {
  if (owner === 'platform') return `${table}.bank_id is null and ${table}.merchant_id is null and $1::uuid is null`
  return 'bankId' in owner ? `${table}.bank_id = $1` : `${table}.merchant_id = $1`
}

export const ownerId = (owner: AccountOwner): string | null => {
  const [bankId, merchantId] = ownerIds(owner)
  return bankId ?? merchantId
}

/** Returns the account of a caller or a person as an `AccountOwner`. */
export function ownerOfAccount(
  account: { type: 'bank'; bankId: string } | { type: 'retailer'; merchantId: string } | { type: 'platform' },
): AccountOwner {
  if (account.type === 'bank') return { bankId: account.bankId }
  return account.type === 'retailer' ? { merchantId: account.merchantId } : 'platform'
}

/** Returns the kind of an owner's account, as callers have it. */
export function accountTypeOf(owner: AccountOwner): AccountType {
  if (owner === 'platform') return 'platform'
  return 'bankId' in owner ? 'bank' : 'retailer'
}

export const isSameOwner = (one: AccountOwner, other: AccountOwner): boolean =>
  ownerIds(one).join() === ownerIds(other).join()

export function ownerOfIds({ bankId, merchantId }: { bankId: string | null; merchantId: string | null }): AccountOwner {
  if (bankId !== null) return { bankId }
  return merchantId === null ? 'platform' : { merchantId }
}
