/** Builds the answers about people and their sessions, links and invitations. */

import type { SessionListing } from '../access/sessions/session-store.ts'
import { qrPng } from '../text/qr.ts'
import type { OwnCredential } from './credentials-store.ts'
import type { Link } from './users.ts'
import type { InvitationListing, PersonListing } from './users-store.ts'

const text = (at: Date | null): string | null => at?.toISOString() ?? null

export const personView = (person: PersonListing) => ({
  ...person,
  createdAt: person.createdAt.toISOString(),
  lastSeenAt: text(person.lastSeenAt),
})

export const invitationView = (invitation: InvitationListing) => ({
  ...invitation,
  createdAt: invitation.createdAt.toISOString(),
  expiresAt: invitation.expiresAt.toISOString(),
})

export const linkView = <L extends Link>(link: L) => ({ ...link, expiresAt: link.expiresAt.toISOString() })

/** @param current the id of the caller's own session */
export const sessionListView = (sessions: SessionListing[], current: string) => ({
  data: sessions.map(session => ({
    ...session,
    current: session.sessionId === current,
    createdAt: session.createdAt.toISOString(),
    lastSeenAt: session.lastSeenAt.toISOString(),
  })),
})

export const factorsView = ({
  totp,
  recoveryCodes,
}: {
  totp: { confirmedAt: Date } | null
  recoveryCodes: { left: number }
}) => ({ totp: totp && { confirmedAt: totp.confirmedAt.toISOString() }, recoveryCodes })

export const totpView = ({ secret, uri }: { secret: string; uri: string }) => ({
  secret,
  uri,
  qr: `data:image/png;base64,${qrPng(uri).toString('base64')}`,
})

export const ownCredentialView = (credential: OwnCredential) => ({
  ...credential,
  createdAt: credential.createdAt.toISOString(),
  lastUsedAt: text(credential.lastUsedAt),
  previousValidUntil: text(credential.previousValidUntil),
  revokedAt: text(credential.revokedAt),
})
