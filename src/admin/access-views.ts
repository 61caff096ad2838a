/** Builds the answers about credentials and portal users for the operator. */
import type { CredentialListing } from '../access/credential-store.ts'
import type { UserListing } from '../access/user-store.ts'

const text = (at: Date | null): string | null => at?.toISOString() ?? null

export const credentialView = (credential: CredentialListing) => ({
  ...credential,
  createdAt: credential.createdAt.toISOString(),
  previousValidUntil: text(credential.previousValidUntil),
  revokedAt: text(credential.revokedAt),
})

export const userView = (user: UserListing) => ({
  ...user,
  createdAt: user.createdAt.toISOString(),
  disabledAt: text(user.disabledAt),
})
