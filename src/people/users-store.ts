/** SQL of people and invitations, for the managers of an account. */

import { loginKey } from '../access/login-key.ts'
import { type AccountOwner, ofOwner, ownerId, ownerIds, ownerOfIds } from '../access/owners.ts'
import { type Withdrawn, withdrawingLinks } from '../access/user-store.ts'
import type { Queryable } from '../db/database.ts'
import type { MailState } from './mail/mail-store.ts'

export const userStatuses = ['invited', 'active', 'disabled'] as const
type UserStatus = (typeof userStatuses)[number]

export type PersonListing = {
  userId: string
  login: string
  email: string | null
  role: string
  status: UserStatus
  /** The second factors that are set up. */
  mfa: ('totp' | 'recovery-code')[]
  createdAt: Date
  lastSeenAt: Date | null
  /** The state of the last mail to the person; null when there was none within a week. */
  mail: MailState | null
}

const lastMail = (id: string) =>
  `(select state from people_mails m where m.user_id = ${id} order by created_at desc limit 1) as mail`

const person = `
  select u.user_id as "userId", u.login, u.email, u.role, case when u.disabled_at is null then 'active' else 'disabled' end as status,
    case when not u.has_factor then '{}' when exists (select from recovery_codes c where c.user_id = u.user_id)
      then '{totp,recovery-code}' else '{totp}' end::text[] as mfa,
    u.created_at as "createdAt", greatest(l.last_at, l.last_seen_at) as "lastSeenAt", ${lastMail('u.user_id')}
  from portal_users u left join user_logins l using (user_id)`

/** The people of an account, ordered by login, with pending invitations. */
export function listPeople(database: Queryable, owner: AccountOwner): Promise<PersonListing[]> {
  return database.query(
    `select * from (
       ${person} where ${ofOwner(owner, 'u')}
       union all
       select i.user_id, i.login, i.email, i.role, 'invited', '{}'::text[], i.created_at, null::timestamptz, ${lastMail('i.user_id')}
       from invitations i where ${ofOwner(owner, 'i')} and i.expires_at > now()
     ) people order by login, "createdAt"`,
    [ownerId(owner)],
  )
}

export async function findPersonListing(database: Queryable, userId: string): Promise<PersonListing | null> {
  const [found] = await database.query<PersonListing>(`${person} where u.user_id = $1`, [userId])
  return found ?? null
}

export type ManagedPerson = {
  userId: string
  owner: AccountOwner
  login: string
  role: string
  email: string | null
  language: 'uk' | 'en' | null
  isDisabled: boolean
}

/** Finds a person by the id. @returns null when nobody has this id */
export async function findManaged(database: Queryable, userId: string): Promise<ManagedPerson | null> {
  type Row = Omit<ManagedPerson, 'owner'> & { bankId: string | null; merchantId: string | null }
  const [row] = await database.query<Row>(
    `select user_id as "userId", bank_id as "bankId", merchant_id as "merchantId", login, role, email, language,
       disabled_at is not null as "isDisabled"
     from portal_users where user_id = $1`,
    [userId],
  )
  if (!row) return null
  const { bankId, merchantId, ...rest } = row
  return { ...rest, owner: ownerOfIds({ bankId, merchantId }) }
}

/**
 * Locks the rows of the active managers of an account, who have one of these roles. The operator's command to disable a person waits for these locks.
 *
 * @returns the ids of the people who are still managers after the rows are locked
 */
export async function lockManagers(
  transaction: Queryable,
  owner: AccountOwner,
  roles: readonly string[],
): Promise<string[]> {
  const rows = await transaction.query<{ id: string }>(
    `select u.user_id as id from portal_users u where ${ofOwner(owner, 'u')} and u.role = any($2::text[]) and u.disabled_at is null
     order by u.user_id for update`,
    [ownerId(owner), roles],
  )
  return rows.map(({ id }) => id)
}

/**
 * Changes a person. If the person is disabled or gets another role, the links that the person made for others are
 * deleted.
 * @returns the invitations that were withdrawn by this
 */
export async function updatePerson(
  transaction: Queryable,
  userId: string,
  { role, email, isDisabled }: { role: string; email: string | null; isDisabled: boolean },
): Promise<Withdrawn[]> {
  // All parts of the statement see the person's old role, so this condition compares the new role with the old one.
  const losesLinks = `($4 or exists (select from portal_users where user_id = $1 and role <> $2))`
  const [changed] = await transaction.query<{ invitations: Withdrawn[] }>(
    `with changed as (
       update portal_users set role = $2, email = $3,
         disabled_at = case when $4 then coalesce(disabled_at, greatest(now(), created_at)) end
       where user_id = $1
     ), ${withdrawingLinks('$1', losesLinks)}
     select invitations from withdrawn`,
    [userId, role, email, isDisabled],
  )
  return changed?.invitations ?? []
}

/**
 * Deletes a person with sessions, links, second factors and mails. Records of other people's actions on the person
 * keep only the id.
 */
export async function deletePerson(transaction: Queryable, userId: string): Promise<void> {
  await transaction.execute('delete from people_mails where user_id = $1', [userId])
  await transaction.execute('delete from portal_users where user_id = $1', [userId])
}

/** @returns whether a person of this account has the login, or one that looks like it */
export async function hasLogin(database: Queryable, owner: AccountOwner, login: string): Promise<boolean> {
  const rows = await database.query(
    `select from portal_users u where (u.login = $2 or u.login_key = $3) and ${ofOwner(owner, 'u')}`,
    [ownerId(owner), login, loginKey(login)],
  )
  return rows.length > 0
}

/**
 * Makes the managers' changes of an account run one after the other. Row locks are not enough, because two changes would not see
 * each other's new rows.
 */
export async function lockAccount(transaction: Queryable, owner: AccountOwner): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended($1, 24))', [ownerId(owner) ?? 'platform'])
}

/** Whether an invitation to this account for the login, or for one that looks like it, still waits. The account must be locked. */
export async function isInvited(transaction: Queryable, owner: AccountOwner, login: string): Promise<boolean> {
  const rows = await transaction.query(
    `select from invitations i
     where (i.login = $2 or i.login_key = $3) and i.expires_at > now() and ${ofOwner(owner, 'i')} limit 1`,
    [ownerId(owner), login, loginKey(login)],
  )
  return rows.length > 0
}

/**
 * Locks a manager's row until the transaction ends, so that nobody can end the manager's access meanwhile.
 * @returns false when the access is gone already
 */
export async function holdAccess(transaction: Queryable, userId: string, role: string): Promise<boolean> {
  const held = await transaction.query(
    'select from portal_users where user_id = $1 and role = $2 and disabled_at is null for share',
    [userId, role],
  )
  return held.length > 0
}

export type NewInvitation = {
  invitationId: string
  userId: string
  owner: AccountOwner
  login: string
  email: string | null
  role: string
  invitedBy: string
  tokenHash: Buffer
  hours: number
}

/** Stores an invitation. @returns when it expires */
export async function insertInvitation(transaction: Queryable, invitation: NewInvitation): Promise<Date> {
  const { invitationId, userId, owner, login, email, role, invitedBy, tokenHash, hours } = invitation
  const [made] = await transaction.query<{ expiresAt: Date }>(
    `insert into invitations (invitation_id, user_id, bank_id, merchant_id, login, email, role, invited_by, token_hash, created_at, expires_at, login_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now() + make_interval(hours => $10), $11) returning expires_at as "expiresAt"`,
    [invitationId, userId, ...ownerIds(owner), login, email, role, invitedBy, tokenHash, hours, loginKey(login)],
  )
  if (!made) throw new Error('An insert returns its row')
  return made.expiresAt
}

export type InvitationListing = {
  invitationId: string
  /** The id that the person gets when the invitation is accepted. */
  userId: string
  login: string
  email: string | null
  role: string
  createdAt: Date
  expiresAt: Date
  mail: MailState | null
}

/** The invitations of an account that can still be accepted, the newest first. */
export function listInvitations(database: Queryable, owner: AccountOwner): Promise<InvitationListing[]> {
  return database.query(
    `select i.invitation_id as "invitationId", i.user_id as "userId", i.login, i.email, i.role, i.created_at as "createdAt", i.expires_at as "expiresAt",
       ${lastMail('i.user_id')}
     from invitations i where ${ofOwner(owner, 'i')} and i.expires_at > now() order by i.created_at desc, i.invitation_id`,
    [ownerId(owner)],
  )
}

/** How many people an account has, disabled ones included. */
export async function countPeople(database: Queryable, owner: AccountOwner): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from portal_users u where ${ofOwner(owner, 'u')}`,
    [ownerId(owner)],
  )
  return row?.count ?? 0
}

/** How many invitations of an account can still be accepted. */
export async function countInvitations(database: Queryable, owner: AccountOwner): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from invitations i where ${ofOwner(owner, 'i')} and i.expires_at > now()`,
    [ownerId(owner)],
  )
  return row?.count ?? 0
}

/** Finds the account to which a person with this id is invited. @returns null when there is no such invitation */
export async function findInvitedTo(database: Queryable, userId: string): Promise<AccountOwner | null> {
  const [row] = await database.query<{ bankId: string | null; merchantId: string | null }>(
    'select bank_id as "bankId", merchant_id as "merchantId" from invitations where user_id = $1 and expires_at > now()',
    [userId],
  )
  return row ? ownerOfIds(row) : null
}

/**
 * Finds the account that an invitation belongs to.
 * @returns null when the invitation has never existed, was accepted or withdrawn, or has expired
 */
export async function findInvitationOwner(database: Queryable, invitationId: string): Promise<AccountOwner | null> {
  const [row] = await database.query<{ bankId: string | null; merchantId: string | null }>(
    'select bank_id as "bankId", merchant_id as "merchantId" from invitations where invitation_id = $1 and expires_at > now()',
    [invitationId],
  )
  return row ? ownerOfIds(row) : null
}

/** Deletes an invitation and its mail. @returns false when it was deleted already */
export async function deleteInvitation(database: Queryable, invitationId: string): Promise<boolean> {
  const deleted = await database.query(
    `with gone as (delete from invitations where invitation_id = $1 returning user_id),
       mails as (delete from people_mails where user_id in (select user_id from gone))
     select from gone`,
    [invitationId],
  )
  return deleted.length === 1
}

/** The effect of a link: it creates a person or sets a person's new password. */
export type LinkTarget =
  | {
      kind: 'invitation'
      invitationId: string
      userId: string
      owner: AccountOwner
      login: string
      email: string | null
      role: string
      language: 'uk' | 'en' | null
    }
  | { kind: 'reset'; userId: string; owner: AccountOwner; login: string }

/** Finds the id of the person with this login. @returns null when nobody has it */
export async function findIdOf(database: Queryable, login: string): Promise<string | null> {
  const [user] = await database.query<{ userId: string }>(
    'select user_id as "userId" from portal_users where login = $1',
    [login],
  )
  return user?.userId ?? null
}

/**
 * SQL for whether the person who made a link (`maker`) still has access: the person is not disabled, and their account
 * is not suspended. If `maker` is null, the person who gets the link has asked for it, and the result is true.
 */
const hasActiveMaker = (maker: string): string =>
  `not exists (
     select from portal_users made left join banks b using (bank_id) left join merchants m using (merchant_id)
     where made.user_id = ${maker} and (made.disabled_at is not null or coalesce(b.status, m.status) = 'suspended'))`

/**
 * Finds a link by its token.
 * @returns null when no link has this token, the link has expired, its person is disabled, or its maker has lost access
 */
export async function findLink(database: Queryable, tokenHash: Buffer): Promise<LinkTarget | null> {
  type Row = {
    kind: LinkTarget['kind']
    invitationId: string
    userId: string
    bankId: string | null
    merchantId: string | null
  } & {
    login: string
    email: string | null
    role: string
    language: 'uk' | 'en' | null
  }
  const [row] = await database.query<Row>(
    `select 'invitation' as kind, i.invitation_id as "invitationId", i.user_id as "userId", i.bank_id as "bankId", i.merchant_id as "merchantId", i.login, i.email, i.role,
       (select language from portal_users where user_id = i.invited_by) as language
     from invitations i where i.token_hash = $1 and i.expires_at > now() and ${hasActiveMaker('i.invited_by')}
     union all
     select 'reset', null, u.user_id, u.bank_id, u.merchant_id, u.login, u.email, u.role, u.language
     from password_resets r join portal_users u using (user_id)
     where r.token_hash = $1 and r.expires_at > now() and u.disabled_at is null and ${hasActiveMaker('r.made_by')}`,
    [tokenHash],
  )
  if (!row) return null
  const { bankId, merchantId, ...rest } = row
  return { ...rest, owner: ownerOfIds({ bankId, merchantId }) }
}

/** Uses up an invitation. @returns false when it was already used or has expired, or its maker has lost access */
export async function takeInvitation(transaction: Queryable, tokenHash: Buffer): Promise<boolean> {
  const taken = await transaction.execute(
    `delete from invitations where token_hash = $1 and expires_at > now() and ${hasActiveMaker('invited_by')}`,
    [tokenHash],
  )
  return taken === 1
}

/**
 * Uses up a link to a new password. The person's row must be locked. @returns false when the link was already used or
 * has expired, the person is disabled, or the maker of the link has lost access
 */
export async function takeReset(transaction: Queryable, tokenHash: Buffer): Promise<boolean> {
  const taken = await transaction.execute(
    `delete from password_resets r using portal_users u
     where r.token_hash = $1 and r.expires_at > now() and u.user_id = r.user_id and u.disabled_at is null
       and ${hasActiveMaker('r.made_by')}`,
    [tokenHash],
  )
  return taken === 1
}

/**
 * Stores a link to a new password and ends earlier links of the person, so that nobody can use an old mail. A link that the person
 * asked for does not end a manager's link, because anybody who knows the login can ask for a link. The person's row must be locked.
 *
 * @param reset.madeBy the manager; null: the person asked for it. @returns when the link expires
 */
export async function replaceResets(
  transaction: Queryable,
  reset: { tokenHash: Buffer; userId: string; madeBy: string | null; minutes: number },
): Promise<Date> {
  const [made] = await transaction.query<{ expiresAt: Date }>(
    `with replaced as (delete from password_resets where user_id = $2 and ($3::uuid is not null or made_by is null))
     insert into password_resets (token_hash, user_id, made_by, created_at, expires_at)
     values ($1, $2, $3, now(), now() + make_interval(mins => $4)) returning expires_at as "expiresAt"`,
    [reset.tokenHash, reset.userId, reset.madeBy, reset.minutes],
  )
  if (!made) throw new Error('An insert returns its row')
  return made.expiresAt
}

/**
 * Sets the hash of an active person's password.
 *
 * @param change.before the hash that must still be stored; null: any hash
 * @returns false when another hash is stored, or the person is disabled
 */
export async function replacePassword(
  transaction: Queryable,
  userId: string,
  { before, after }: { before: string | null; after: string },
): Promise<boolean> {
  const replaced = await transaction.execute(
    `update portal_users set password_hash = $2
     where user_id = $1 and disabled_at is null and ($3::text is null or password_hash = $3)`,
    [userId, after, before],
  )
  return replaced === 1
}

/** The name of an account, for mails. */
export async function findAccountName(database: Queryable, owner: AccountOwner): Promise<string> {
  if (owner === 'platform') return 'Perkline'
  const [found] = await database.query<{ name: string }>(
    'bankId' in owner
      ? 'select name from banks where bank_id = $1'
      : 'select coalesce(name, code) as name from merchants where merchant_id = $1',
    [ownerId(owner)],
  )
  return found?.name ?? 'Perkline'
}

const forgottenAtOnce = 1_000

/** Deletes some of the expired links. @returns whether there may be more */
export async function forgetLinks(database: Queryable): Promise<boolean> {
  const invitations = await database.execute(
    `delete from invitations where invitation_id = any(array(
       select invitation_id from invitations where expires_at < now() limit ${forgottenAtOnce} for update skip locked))`,
  )
  const resets = await database.execute(
    `delete from password_resets where token_hash = any(array(
       select token_hash from password_resets where expires_at < now() limit ${forgottenAtOnce} for update skip locked))`,
  )
  return invitations === forgottenAtOnce || resets === forgottenAtOnce
}
