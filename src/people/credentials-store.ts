/** SQL of an account's own credentials. */

import { type CredentialListing, listedIds } from '../access/credential-store.ts'
import { type AccountOwner, ofOwner, ownerId, ownerOfIds } from '../access/owners.ts'
import type { Queryable } from '../db/database.ts'

/**
 * A credential as its own account sees it. `issuedBy` is the login of the person who issued the credential. It is null
 * when the operator issued it, or when that person no longer exists.
 */
export type OwnCredential = CredentialListing & { issuedBy: string | null; lastUsedAt: Date | null }

/** Finds the account that owns a credential. @returns null for an unknown clientId */
export async function findCredentialOwner(database: Queryable, clientId: string): Promise<AccountOwner | null> {
  const [row] = await database.query<{ bankId: string | null; merchantId: string | null }>(
    'select bank_id as "bankId", merchant_id as "merchantId" from credentials where client_id = $1',
    [clientId],
  )
  return row ? ownerOfIds(row) : null
}

/** How many credentials of an account are not revoked. */
export async function countLive(database: Queryable, owner: AccountOwner): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from credentials c where ${ofOwner(owner, 'c')} and c.revoked_at is null`,
    [ownerId(owner)],
  )
  return row?.count ?? 0
}

/** The credentials of an account in the order of issue, as `listedIds` chooses them. Secrets are not included. */
export function listOwnCredentials(database: Queryable, owner: AccountOwner): Promise<OwnCredential[]> {
  return database.query(
    `select c.client_id as "clientId", b.code as bank, m.code as merchant, c.role, c.label, c.created_at as "createdAt",
       c.previous_valid_until as "previousValidUntil", c.revoked_at as "revokedAt", c.last_used_at as "lastUsedAt",
       u.login as "issuedBy"
     from credentials c left join banks b using (bank_id) left join merchants m using (merchant_id)
     left join portal_users u on u.user_id = case when c.issued_by like 'person:%' then substr(c.issued_by, 8)::uuid end
     where c.client_id in (${listedIds(owner)}) order by c.created_at, c.client_id`,
    [ownerId(owner)],
  )
}
