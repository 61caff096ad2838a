/**
 * SQL of credentials, for authentication and for the operator. `people/` has the SQL for the managers of an account.
 */
import type { Database, Queryable, Statement } from '../db/database.ts'
import type { EventTypeName } from '../outbox/event-types.ts'
import { recordingEvents } from '../outbox/event-writing.ts'
import {
  type Ended,
  type Membership,
  type MembershipRow,
  membershipOf,
  ownerColumns,
  type PartnerOwner,
} from './accounts.ts'
import { refusalMargin } from './ended-token-store.ts'
import { type AccountOwner, type CredentialOwner, ofOwner, ownerId, ownerIds } from './owners.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

export type Credential = {
  clientId: string
  account: Membership
  secretHash: Buffer
  previousSecretHash: Buffer | null
  /** Whether the previous secret is still valid. Like all security rules, this uses real time and not the sandbox clock. */
  hasOverlap: boolean
  revoked: boolean
  /** Whether the bank or merchant that owns the credential is suspended. */
  suspended: boolean
}

const findCredentialStatement: Statement = {
  name: 'access.find-credential',
  text: `
    select c.bank_id, c.merchant_id, c.role, c.secret_hash, c.previous_secret_hash,
           coalesce(c.previous_valid_until > now(), false) as has_overlap,
           c.revoked_at is not null as revoked, coalesce(b.status, m.status) = 'suspended' as suspended
    from credentials c left join banks b using (bank_id) left join merchants m using (merchant_id)
    where c.client_id = $1`,
}

export async function findCredential(database: Queryable, clientId: string): Promise<Credential | null> {
  type Row = MembershipRow & {
    suspended: boolean
    secret_hash: Buffer
    previous_secret_hash: Buffer | null
    has_overlap: boolean
    revoked: boolean
  }
  const [row] = await database.query<Row>(findCredentialStatement, [clientId])
  if (!row) return null
  return {
    clientId,
    account: membershipOf(row),
    secretHash: row.secret_hash,
    previousSecretHash: row.previous_secret_hash,
    hasOverlap: row.has_overlap,
    revoked: row.revoked,
    suspended: row.suspended,
  }
}

/** Returns the SQL statement that records an event for each credential that the `with` query `changed` returns. */
const recordingCredential = (type: EventTypeName, at?: string): string =>
  recordingEvents({
    type,
    ...(at !== undefined && { at }),
    from: 'changed',
    to: { bank: 'bank_id', merchant: 'merchant_id', platform: true },
    text: `'{"clientId":' || to_json(client_id) || ',"label":' || to_json(label) || ',"role":' || to_json(role)
      || ',"previousValidUntil":' || ${
        type === 'credential.rotated' || type === 'credential.overlap_ending'
          ? `'"' || instant_text(previous_valid_until) || '"'`
          : `'null'`
      } || '}'`,
  })

export async function insertCredential(
  database: Queryable,
  credential: {
    clientId: string
    owner: CredentialOwner
    role: string
    label: string
    secretHash: Buffer
    issuedBy: string | null
  },
): Promise<void> {
  await database.execute(
    `with changed as (
       insert into credentials (client_id, bank_id, merchant_id, role, label, secret_hash, issued_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, now()) returning *
     )
     ${recordingCredential('credential.issued')}`,
    [
      credential.clientId,
      ...ownerIds(credential.owner),
      credential.role,
      credential.label,
      credential.secretHash,
      credential.issuedBy,
    ],
  )
}

type ReplacedSecret = PartnerOwner & { secretHash: Buffer; previousSecretHash: Buffer | null }

/**
 * Gives a credential a new secret. The present secret becomes the previous one.
 *
 * @returns the hashes before the change and the owner; null when the credential does not exist or is revoked
 */
export async function replaceSecret(
  transaction: Queryable,
  change: { clientId: string; secretHash: Buffer; previousValidUntil: Date },
): Promise<ReplacedSecret | null> {
  const [before] = await transaction.query<ReplacedSecret>(
    `with before as (
       select client_id, secret_hash, previous_secret_hash, bank_id, merchant_id from credentials where client_id = $1 and revoked_at is null for update
     )
     , changed as (
       update credentials c set previous_secret_hash = b.secret_hash, previous_valid_until = $3, secret_hash = $2,
         previous_replaced_at = now()
       from before b where c.client_id = b.client_id returning c.*
     ), recorded as (${recordingCredential('credential.rotated')}
     )
     select b.secret_hash as "secretHash", b.previous_secret_hash as "previousSecretHash", ${ownerColumns} from before b`,
    [change.clientId, change.secretHash, change.previousValidUntil],
  )
  return before ?? null
}

/**
 * Stores when a client secret ends. Its tokens are refused from then on. If a time is stored already, the earlier one
 * applies. Also deletes the rows of secrets that ended so long ago that all their tokens have expired.
 */
export async function endSecret(
  transaction: Queryable,
  secret: { clientId: string; secretId: string; endsAt: Date },
): Promise<void> {
  await transaction.execute(
    `insert into ended_secrets (secret_id, client_id, ends_at) values ($1, $2, $3)
     on conflict (secret_id) do update set ends_at = least(ended_secrets.ends_at, excluded.ends_at)`,
    [secret.secretId, secret.clientId, secret.endsAt],
  )
  // Rows that another rotation deletes at this moment are skipped, so that no rotation waits for another.
  await transaction.execute(
    `delete from ended_secrets where secret_id in (
       select secret_id from ended_secrets where ends_at < now() - make_interval(secs => $1) - ${refusalMargin}
       limit 1000 for update skip locked
     )`,
    [tokenLifetimeSeconds],
  )
}

/** Revokes a credential. @returns null when there is no such credential */
export async function markRevoked(transaction: Queryable, clientId: string): Promise<Ended | null> {
  const [ended] = await transaction.query<Ended>(
    `with before as (select * from credentials where client_id = $1 for update), changed as (
       update credentials set revoked_at = greatest(now(), created_at) where client_id = $1 and revoked_at is null returning *
     ), recorded as (${recordingCredential('credential.revoked')}
     )
     select ${ownerColumns}, revoked_at is null as "isNew" from before`,
    [clientId],
  )
  return ended ?? null
}

/**
 * SQL for the time of the event `credential.overlap_ending`: one hour before the old secret ends, even if the event is
 * written later. Secrets end in real time, but events have the time of the sandbox clock, so the offset of that clock
 * is added.
 */
const anHourBefore = `(previous_valid_until - interval '1 hour'
  + (select coalesce(max(offset_ms), 0) from sandbox_clock) * interval '1 millisecond')`

/**
 * Writes events for old secrets that end within the next hour: one event for each overlap that is longer than an hour.
 *
 * @returns false: there is nothing more to do now, because all events are written or another process is writing them
 */
export async function recordOverlapsEnding(database: Database): Promise<false> {
  await database.transaction(async transaction => {
    const [position] = await transaction.query<{ reached: Date }>(
      `select reached from event_positions where name = 'credential.overlap_ending' for update skip locked`,
    )
    if (!position) return
    await transaction.execute(
      `with moved as (
         update event_positions set reached = now() + interval '1 hour' where name = 'credential.overlap_ending' returning reached
       ), changed as (
         select c.* from credentials c cross join moved
         where previous_valid_until > $1 and previous_valid_until <= moved.reached and revoked_at is null
           and coalesce(previous_valid_until - previous_replaced_at > interval '1 hour', true)
       )
       ${recordingCredential('credential.overlap_ending', anHourBefore)}`,
      [position.reached],
    )
  })
  return false
}

export type CredentialListing = {
  clientId: string
  bank: string | null
  merchant: string | null
  role: string
  label: string
  createdAt: Date
  previousValidUntil: Date | null
  revokedAt: Date | null
}

/** How long a revoked credential is listed, and the maximum number of revoked ones in a list. */
export const listedRevokedDays = 90
export const maxListedRevoked = 200

/**
 * SQL that selects the ids of the credentials in a list: all live ones, and the newest of the recently revoked ones.
 * Each part uses an index, so the list does not get slower with each revocation.
 *
 * @param owner null: the credentials of all partners; otherwise `$1` must be `ownerId(owner)`
 */
export function listedIds(owner: AccountOwner | null): string {
  const ofAccount = owner === null ? 'true' : ofOwner(owner, 'o')
  return `
    select o.client_id from credentials o where ${ofAccount} and o.revoked_at is null
    union all
    (select o.client_id from credentials o
     where ${ofAccount} and o.revoked_at > now() - interval '${listedRevokedDays} days'
     order by o.revoked_at desc limit ${maxListedRevoked})`
}

/** @param owner null: the credentials of all partners */
export function listCredentials(database: Queryable, owner: CredentialOwner | null): Promise<CredentialListing[]> {
  return database.query(
    `select c.client_id as "clientId", b.code as bank, m.code as merchant, c.role, c.label, c.created_at as "createdAt",
            c.previous_valid_until as "previousValidUntil", c.revoked_at as "revokedAt"
     from credentials c left join banks b using (bank_id) left join merchants m using (merchant_id)
     where c.client_id in (${listedIds(owner)})
     order by c.created_at, c.client_id`,
    owner === null ? [] : [ownerId(owner)],
  )
}
