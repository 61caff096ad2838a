/** Reads from a table row which account a credential or person belongs to, and finds a partner by its code. */

import type { Queryable } from '../db/database.ts'
import type { BankRole, MerchantRole, PlatformRole } from '../roles.ts'
import type { CredentialOwner } from './owners.ts'

/** The account that a credential or person belongs to, and its role there. */
export type Membership =
  | { type: 'bank'; bankId: string; role: BankRole }
  | { type: 'retailer'; merchantId: string; role: MerchantRole }
  | { type: 'platform'; role: PlatformRole }

/** The columns that `membershipOf` reads. */
export type MembershipRow = { bank_id: string | null; merchant_id: string | null; role: string }

export function membershipOf(row: MembershipRow): Membership {
  if (row.bank_id !== null) return { type: 'bank', bankId: row.bank_id, role: row.role as BankRole }
  if (row.merchant_id !== null) return { type: 'retailer', merchantId: row.merchant_id, role: row.role as MerchantRole }
  return { type: 'platform', role: row.role as PlatformRole }
}

/** The owner of a credential or a user. Both ids are null for the platform. */
export type PartnerOwner = { bankId: string | null; merchantId: string | null }
/** The columns of an owner, in SQL. */
export const ownerColumns = `bank_id as "bankId", merchant_id as "merchantId"`

/**
 * The owner of a revoked credential or a disabled person. `isNew` is false when the credential was already revoked or
 * the person already disabled. The time that was stored then stays.
 */
export type Ended = PartnerOwner & { isNew: boolean }

export type PartnerReference = { bank: string } | { merchant: string }

/** Finds a partner by its code. @returns null when no partner has that code */
export async function findOwner(database: Queryable, partner: PartnerReference): Promise<CredentialOwner | null> {
  if ('bank' in partner) {
    const [row] = await database.query<{ id: string }>('select bank_id as id from banks where code = $1', [
      partner.bank,
    ])
    return row ? { bankId: row.id } : null
  }
  const [row] = await database.query<{ id: string }>('select merchant_id as id from merchants where code = $1', [
    partner.merchant,
  ])
  return row ? { merchantId: row.id } : null
}
