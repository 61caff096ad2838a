/**
 * SQL of portal users, for logins and for the operator. `people/` has the SQL for the managers of an account.
 */
import type { Queryable } from '../db/database.ts'
import {
  type Ended,
  type Membership,
  type MembershipRow,
  membershipOf,
  ownerColumns,
  type PartnerOwner,
} from './accounts.ts'
import { loginKey } from './login-key.ts'
import { type AccountOwner, type CredentialOwner, ofOwner, ownerId, ownerIds } from './owners.ts'
import { type Mfa, policyOf } from './policy/policy-store.ts'

export type User = {
  userId: string
  login: string
  account: Membership
  passwordHash: string
  disabled: boolean
  suspended: boolean
  /** Whether a second factor is set up. */
  hasFactor: boolean
  /** The rule for second factors in the policy of the user's account; null: the account has set no policy. */
  mfa: Mfa | null
  sessionMinutes: number | null
}

/** Finds a user by the login or by the id. @returns null when there is none */
export async function findUser(database: Queryable, by: { login: string } | { userId: string }): Promise<User | null> {
  type Row = MembershipRow & { user_id: string; password_hash: string; suspended: boolean } & Pick<
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
    account: membershipOf(row),
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
 * Returns `with` queries. If `condition` holds, they delete the invitations and the links to new passwords that the
 * person `id` made for others, and the mails of these invitations. The `with` query `withdrawn` lists the deleted
 * invitations that could still be accepted.
 */
export const withdrawingLinks = (id: string, condition = 'true'): string => `
  gone as (delete from invitations where invited_by = ${id} and ${condition} returning *),
  mails as (delete from people_mails where user_id in (select user_id from gone)),
  resets as (delete from password_resets where made_by = ${id} and ${condition}),
  withdrawn as (
    select coalesce(json_agg(json_build_object('invitationId', invitation_id, 'bankId', bank_id, 'merchantId', merchant_id)), '[]')
      as invitations from gone where expires_at > now()
  )`

/** Locks the row of the person who has the login. @returns the person's id; null when nobody has it */
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

/** @param owner null: the people of all accounts */
export function listUsers(database: Queryable, owner: CredentialOwner | null): Promise<UserListing[]> {
  return database.query(
    `select u.user_id as "userId", u.login, u.role, b.code as bank, m.code as merchant, u.created_at as "createdAt",
            u.disabled_at as "disabledAt"
     from portal_users u left join banks b using (bank_id) left join merchants m using (merchant_id)
     ${owner === null ? '' : `where ${ofOwner(owner, 'u')}`}
     order by u.login`,
    owner === null ? [] : [ownerId(owner)],
  )
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
