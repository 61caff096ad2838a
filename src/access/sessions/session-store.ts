/**
 * All SQL of sessions. Every token of a person belongs to one session, which has the same id as the token. Times are
 * the database's real time.
 */
import type { Queryable } from '../../db/database.ts'
import { lockEndedTokens } from '../ended-token-store.ts'
import { type AccountOwner, ofOwner, ownerId } from '../owners.ts'

/** How the person logged in. */
export const sessionMethods = ['password', 'totp', 'recovery-code'] as const
export type SessionMethod = (typeof sessionMethods)[number]

export type NewSession = {
  sessionId: string
  userId: string
  expiresAt: Date
  address: string
  userAgent: string
  method: SessionMethod
}

export type SessionListing = {
  sessionId: string
  createdAt: Date
  lastSeenAt: Date
  address: string
  userAgent: string
  method: SessionMethod
}

/**
 * Opens a session unless the person has changed since the login read the person's data. If a change of the person runs
 * at the same time, either it waits for this transaction, or this statement waits for the change and then opens no
 * session.
 *
 * @param person the data that the login has read: the role, the password's hash, whether there is a second factor
 * @returns false when the person was disabled, or got another role, password or second factor meanwhile
 */
export async function insertSession(
  database: Queryable,
  session: NewSession,
  person: { role: string; passwordHash: string; hasFactor: boolean },
): Promise<boolean> {
  const opened = await database.execute(
    `insert into sessions (session_id, user_id, created_at, last_seen_at, expires_at, factor_at, address, user_agent, method)
     select $1, u.user_id, now(), now(), $3, now(), $4, $5, $6 from portal_users u
     where u.user_id = $2 and u.disabled_at is null and u.role = $7 and u.password_hash = $8 and u.has_factor = $9
     for share`,
    [
      session.sessionId,
      session.userId,
      session.expiresAt,
      session.address,
      session.userAgent,
      session.method,
      person.role,
      person.passwordHash,
      person.hasFactor,
    ],
  )
  return opened === 1
}

/** The maximum number of sessions in a list. A program that logs in for each call has thousands, and nobody reads so many. */
const maxListed = 200

/** The newest live sessions of a person, and always `currentId`; newest first. */
export function listSessions(database: Queryable, userId: string, currentId: string): Promise<SessionListing[]> {
  return database.query(
    `select * from (
       select session_id as "sessionId", created_at as "createdAt", last_seen_at as "lastSeenAt", address,
         user_agent as "userAgent", method
       from sessions where user_id = $1 and expires_at > now()
       order by session_id::text = $2 desc, created_at desc limit ${maxListed}
     ) as listed order by "createdAt" desc, "sessionId"`,
    [userId, currentId],
  )
}

/**
 * Ends sessions of a person early. Lock the person's row first, so that no login opens a session meanwhile.
 *
 * @param which one session, all but one, or all
 * @returns how many there were
 */
export async function endSessions(
  transaction: Queryable,
  userId: string,
  which: { only?: string; except?: string } = {},
): Promise<number> {
  await lockEndedTokens(transaction)
  return transaction.execute(
    `with ended as (
       delete from sessions
       where user_id = $1 and ($2::text is null or session_id::text = $2) and ($3::text is null or session_id::text <> $3)
         and expires_at > now()
       returning session_id, expires_at
     )
     insert into ended_tokens (token_id, expires_at) select session_id::text, expires_at from ended on conflict (token_id) do nothing`,
    [userId, which.only ?? null, which.except ?? null],
  )
}

/** Ends the sessions of an account's people who have a second factor and logged in without it. */
export async function endPasswordSessions(transaction: Queryable, owner: AccountOwner): Promise<void> {
  await lockEndedTokens(transaction)
  await transaction.execute(
    `with ended as (
       delete from sessions s using portal_users u
       where u.user_id = s.user_id and u.has_factor and s.method = 'password' and s.expires_at > now() and ${ofOwner(owner, 'u')}
       returning s.session_id, s.expires_at
     )
     insert into ended_tokens (token_id, expires_at) select session_id::text, expires_at from ended on conflict (token_id) do nothing`,
    [ownerId(owner)],
  )
}

/** Deletes a session whose token was ended. */
export async function deleteSession(transaction: Queryable, sessionId: string): Promise<void> {
  await transaction.execute('delete from sessions where session_id = $1', [sessionId])
}

/** How many seconds ago a factor was last proven in this session. @returns null when there is no such live session */
export async function findFactorAge(database: Queryable, sessionId: string): Promise<number | null> {
  const [found] = await database.query<{ seconds: number }>(
    `select extract(epoch from now() - factor_at)::float8 as seconds
     from sessions where session_id = $1 and expires_at > now()`,
    [sessionId],
  )
  return found?.seconds ?? null
}

/**
 * Records that a factor was proven now. Lock the person's row first.
 *
 * @param hasFactor whether the person had a second factor when the code or password was checked. If the person has set one up
 *   meanwhile, the password is not enough
 * @returns false when there is no such live session, or when `hasFactor` has changed
 */
export async function noteFactor(transaction: Queryable, sessionId: string, hasFactor: boolean): Promise<boolean> {
  const noted = await transaction.execute(
    `update sessions set factor_at = now() where session_id = $1 and expires_at > now()
       and user_id = (select user_id from portal_users u where u.user_id = sessions.user_id and has_factor = $2)`,
    [sessionId, hasFactor],
  )
  return noted === 1
}

const forgottenAtOnce = 1_000

/**
 * Deletes some expired sessions.
 * @returns whether there may be more
 */
export async function forgetSessions(database: Queryable): Promise<boolean> {
  const forgotten = await database.execute(
    `delete from sessions where session_id = any(array(
       select session_id from sessions where expires_at < now() order by expires_at limit ${forgottenAtOnce} for update skip locked))`,
  )
  return forgotten === forgottenAtOnce
}

/** Ids with the seconds since their last use, in two lists of the same length. */
export type SeenSince = { ids: string[]; secondsAgo: number[] }

/**
 * Stores when sessions were last used, and when their people were last active. Rows that other transactions have locked are
 * skipped: `held` and `held_people` are the rows that this statement could lock.
 */
export async function noteSeenSessions(database: Queryable, { ids, secondsAgo }: SeenSince): Promise<void> {
  await database.execute(
    `with seen as (select * from unnest($1::text[], $2::float8[]) as s (id, ago)),
     held as (
       select t.session_id, t.user_id, now() - make_interval(secs => s.ago) as at
       from seen s join sessions t on t.session_id = s.id::uuid for update of t skip locked
     ), noted as (
       update sessions t set last_seen_at = greatest(t.last_seen_at, h.at) from held h where t.session_id = h.session_id
     ), people as (
       select l.user_id, max(h.at) as at from held h join user_logins l using (user_id) group by l.user_id
     ), held_people as (
       select p.user_id, p.at from people p join user_logins l using (user_id) for update of l skip locked
     )
     update user_logins l set last_seen_at = greatest(l.last_seen_at, p.at) from held_people p where l.user_id = p.user_id`,
    [ids, secondsAgo],
  )
}

/** Stores when credentials were last used; rows that others have locked are skipped. */
export async function noteSeenCredentials(database: Queryable, { ids, secondsAgo }: SeenSince): Promise<void> {
  await database.execute(
    `with seen as (select * from unnest($1::text[], $2::float8[]) as s (id, ago)),
     held as (
       select c.client_id, now() - make_interval(secs => s.ago) as at
       from seen s join credentials c on c.client_id = s.id for update of c skip locked
     )
     update credentials c set last_used_at = greatest(c.last_used_at, h.at) from held h where c.client_id = h.client_id`,
    [ids, secondsAgo],
  )
}
