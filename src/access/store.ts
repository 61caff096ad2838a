/**
 * SQL of credentials and portal users for authentication and for the operator, and of ended tokens. `people/` has the SQL for the
 * managers of an account.
 */
import type { Database, Queryable, Statement } from '../db/database.ts'
import type { EventTypeName } from '../events/catalogue.ts'
import { recordingEvents } from '../events/event-writing.ts'
import type { BankRole, MerchantRole, PlatformRole } from './caller.ts'
import { loginKey } from './login-key.ts'
import { type AccountOwner, type CredentialOwner, ownerId, ownerIds } from './owners.ts'
import { type Mfa, policyOf } from './policy/policy-store.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

export type Account =
  | { type: 'bank'; bankId: string; role: BankRole }
  | { type: 'retailer'; merchantId: string; role: MerchantRole }
  | { type: 'platform'; role: PlatformRole }

export type Credential = {
  clientId: string
  account: Account
  secretHash: Buffer
  previousSecretHash: Buffer | null
  /** Whether the previous secret is still valid, in real time, as for all security rules. */
  hasOverlap: boolean
  revoked: boolean
  /** Whether the bank or merchant that owns the credential is suspended. */
  suspended: boolean
}

export type AccountRow = { bank_id: string | null; merchant_id: string | null; role: string }

/** The account of a credential or of a person. */
export function accountOf(row: AccountRow): Account {
  if (row.bank_id !== null) return { type: 'bank', bankId: row.bank_id, role: row.role as BankRole }
  if (row.merchant_id !== null) return { type: 'retailer', merchantId: row.merchant_id, role: row.role as MerchantRole }
  return { type: 'platform', role: row.role as PlatformRole }
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
  type Row = AccountRow & {
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
    account: accountOf(row),
    secretHash: row.secret_hash,
    previousSecretHash: row.previous_secret_hash,
    hasOverlap: row.has_overlap,
    revoked: row.revoked,
    suspended: row.suspended,
  }
}

/** Returns the `with` query that records an event for each credential that the `with` query `changed` returns. */
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
 * Stores when a client secret ends. Its tokens are refused from then on. If an end is stored already, the earlier one
 * counts. Also deletes ends from so long ago that all tokens of these secrets have expired.
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
       select secret_id from ended_secrets where ends_at < now() - make_interval(secs => $1) - ${margin}
       limit 1000 for update skip locked
     )`,
    [tokenLifetimeSeconds],
  )
}

/** The owner of a credential or a user. Both ids are null for the platform. */
export type PartnerOwner = { bankId: string | null; merchantId: string | null }
const ownerColumns = `bank_id as "bankId", merchant_id as "merchantId"`

/**
 * The owner of something that can end only once, such as a credential. `isNew` is false when it had already ended;
 * the time of its first end is kept.
 */
export type Ended = PartnerOwner & { isNew: boolean }

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
 * SQL for the time of the event `credential.overlap_ending`: one hour before the old secret ends, by the product's
 * clock, which a sandbox can move. This time is right even if the event is written late. The secret itself ends in real
 * time.
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

export function listCredentials(database: Queryable): Promise<CredentialListing[]> {
  return database.query(
    `select c.client_id as "clientId", b.code as bank, m.code as merchant, c.role, c.label, c.created_at as "createdAt",
            c.previous_valid_until as "previousValidUntil", c.revoked_at as "revokedAt"
     from credentials c left join banks b using (bank_id) left join merchants m using (merchant_id)
     order by c.created_at, c.client_id`,
  )
}

export type User = {
  userId: string
  login: string
  account: Account
  passwordHash: string
  disabled: boolean
  suspended: boolean
  /** Whether a second factor is set up. */
  hasFactor: boolean
  /** The rule of the user's account for second factors; null: the account never set one. */
  mfa: Mfa | null
  sessionMinutes: number | null
}

/** Finds a user by the login or by the id. @returns null when there is none */
export async function findUser(database: Queryable, by: { login: string } | { userId: string }): Promise<User | null> {
  type Row = AccountRow & { user_id: string; password_hash: string; suspended: boolean } & Pick<
      User,
      'login' | 'disabled' | 'hasFactor' | 'mfa' | 'sessionMinutes'
    >
  const [row] = await database.query<Row>(
    `select u.user_id, u.bank_id, u.merchant_id, u.login, u.role, u.password_hash, u.disabled_at is not null as disabled,
            coalesce(b.status, m.status, 'active') = 'suspended' as suspended, u.has_factor as "hasFactor", p.mfa,
            p.session_minutes as "sessionMinutes"
     from portal_users u left join banks b using (bank_id) left join merchants m using (merchant_id)
     left join lateral (${policyOf('u')}) p on true
     where ${'login' in by ? 'u.login = $1' : 'u.user_id = $1'}`,
    ['login' in by ? by.login : by.userId],
  )
  if (!row) return null
  const { login, hasFactor, mfa, sessionMinutes, disabled, suspended } = row
  return {
    userId: row.user_id,
    login,
    account: accountOf(row),
    passwordHash: row.password_hash,
    disabled,
    suspended,
    hasFactor,
    mfa,
    sessionMinutes,
  }
}

/** Inserts a user. @returns false when the login, or one that looks like it, is taken */
export async function insertUser(
  database: Queryable,
  user: {
    userId: string
    owner: AccountOwner
    login: string
    role: string
    passwordHash: string
    email?: string | null
    language?: string | null
  },
): Promise<boolean> {
  const made = await database.execute(
    `insert into portal_users (user_id, bank_id, merchant_id, login, login_key, role, password_hash, email, language, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now()) on conflict do nothing`,
    [
      user.userId,
      ...ownerIds(user.owner),
      user.login,
      loginKey(user.login),
      user.role,
      user.passwordHash,
      user.email ?? null,
      user.language ?? null,
    ],
  )
  return made === 1
}

/** Whether a disabled user has this login or one that looks like it. */
export async function isLoginOfDisabled(database: Queryable, login: string): Promise<boolean> {
  const found = await database.query(
    'select from portal_users where (login = $1 or login_key = $2) and disabled_at is not null',
    [login, loginKey(login)],
  )
  return found.length > 0
}

/** A withdrawn invitation and the owner of its account. */
export type Withdrawn = PartnerOwner & { invitationId: string }

/**
 * Returns `with` queries that delete the links which the person `id` made for others, if `condition` holds, and the
 * mails with invitations. The `with` query `withdrawn` lists the deleted invitations that could still be accepted.
 */
export const withdrawingLinks = (id: string, condition = 'true'): string => `
  gone as (delete from invitations where invited_by = ${id} and ${condition} returning *),
  mails as (delete from people_mails where user_id in (select user_id from gone)),
  resets as (delete from password_resets where made_by = ${id} and ${condition}),
  withdrawn as (
    select coalesce(json_agg(json_build_object('invitationId', invitation_id, 'bankId', bank_id, 'merchantId', merchant_id)), '[]')
      as invitations from gone where expires_at > now()
  )`

/** Locks the row of whoever has the login. @returns the person's id; null when nobody has it */
export async function lockLogin(transaction: Queryable, login: string): Promise<string | null> {
  const [user] = await transaction.query<{ userId: string }>(
    'select user_id as "userId" from portal_users where login = $1 for update',
    [login],
  )
  return user?.userId ?? null
}

/**
 * Disables a person and withdraws the links that the person made for others. An earlier statement must have locked the
 * person's row. If this statement itself waited for the lock, it would not see the links that were made meanwhile.
 */
export async function markDisabled(
  transaction: Queryable,
  userId: string,
): Promise<Ended & { withdrawn: Withdrawn[] }> {
  const [ended] = await transaction.query<Ended & { withdrawn: Withdrawn[] }>(
    `with before as (select * from portal_users where user_id = $1), disabled as (
       update portal_users set disabled_at = greatest(now(), created_at) where user_id = $1 and disabled_at is null
     ), ${withdrawingLinks('$1')}
     select ${ownerColumns}, disabled_at is null as "isNew", invitations as withdrawn from before cross join withdrawn`,
    [userId],
  )
  if (!ended) throw new Error('A person who is locked is there')
  return ended
}

export type UserListing = {
  userId: string
  login: string
  role: string
  bank: string | null
  merchant: string | null
  createdAt: Date
  disabledAt: Date | null
}

export function listUsers(database: Queryable): Promise<UserListing[]> {
  return database.query(
    `select u.user_id as "userId", u.login, u.role, b.code as bank, m.code as merchant, u.created_at as "createdAt",
            u.disabled_at as "disabledAt"
     from portal_users u left join banks b using (bank_id) left join merchants m using (merchant_id)
     order by u.login`,
  )
}

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

const endedTokensLock = 7_365_022

/**
 * Ended tokens, credentials and users are remembered for this time longer than the lifetime of a token. The clocks of
 * processes may differ, and a token is accepted for some seconds after it has expired; both take less than this time.
 */
const margin = `interval '1 minute'`

export type EndedToken = { id: string; number: number; msLeft: number }

/** The tokens that were ended after the one with this number, ordered by number. Expired tokens are left out. */
export function findEndedTokens(database: Queryable, after: number): Promise<EndedToken[]> {
  return database.query<EndedToken>(
    {
      name: 'access.ended-tokens',
      text: `select token_id as id, number, (extract(epoch from expires_at + ${margin} - now()) * 1000)::float8 as "msLeft"
             from ended_tokens where number > $1 and expires_at > now() - ${margin} order by number`,
    },
    [after],
  )
}

/**
 * Takes the lock that is needed to end tokens. With it, ended tokens are committed in the order of their numbers, so
 * `findEndedTokens` misses none. Take it after all other locks. Also deletes ended tokens that have expired.
 */
export async function lockEndedTokens(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [endedTokensLock])
  await transaction.execute(`delete from ended_tokens where expires_at < now() - ${margin}`)
}

/** Ends one token before it expires. @returns false when it was ended already */
export async function insertEndedToken(
  transaction: Queryable,
  token: { id: string; expiresAt: Date },
): Promise<boolean> {
  await lockEndedTokens(transaction)
  const inserted = await transaction.execute(
    'insert into ended_tokens (token_id, expires_at) values ($1, $2) on conflict (token_id) do nothing',
    [token.id, token.expiresAt],
  )
  return inserted === 1
}

/**
 * The ids whose tokens must be refused: suspended partners, and credentials, users and client secrets that ended recently. Those
 * that ended longer ago than the lifetime of a token are left out, because all their tokens have expired.
 */
export async function findRefused(database: Queryable): Promise<string[]> {
  const since = `now() - make_interval(secs => $1) - ${margin}`
  const rows = await database.query<{ id: string }>(
    `select client_id as id from credentials where revoked_at >= ${since}
     union all select user_id::text from portal_users where disabled_at >= ${since}
     union all select bank_id::text from banks where status = 'suspended'
     union all select merchant_id::text from merchants where status = 'suspended'
     union all select secret_id from ended_secrets where ends_at >= ${since} and ends_at <= now()`,
    [tokenLifetimeSeconds],
  )
  return rows.map(({ id }) => id)
}

/** Locks this person's row: other changes of the person wait until the transaction ends. */
export async function lockUser(transaction: Queryable, userId: string): Promise<void> {
  await transaction.execute('select from portal_users where user_id = $1 for update', [userId])
}

/** Deletes the person's links to a new password. */
export async function deleteResets(transaction: Queryable, userId: string): Promise<void> {
  await transaction.execute('delete from password_resets where user_id = $1', [userId])
}

/** The login and the names of the account. A password must not be one of them. */
export async function findNamesOf(database: Queryable, owner: AccountOwner, login: string): Promise<string[]> {
  if (owner === 'platform') return [login]
  const rows = await database.query<{ names: (string | null)[] }>(
    'bankId' in owner
      ? 'select array[code, name] as names from banks where bank_id = $1'
      : 'select array[code, name, name_en] as names from merchants where merchant_id = $1',
    [ownerId(owner)],
  )
  return [login, ...rows.flatMap(({ names }) => names).filter(name => name !== null)]
}
