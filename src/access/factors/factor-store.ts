/**
 * SQL of second factors, and of logins that wait for a second factor. These statements guarantee that a code works only
 * once, even in simultaneous requests.
 */

import type { Trace } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { type Membership, type MembershipRow, membershipOf } from '../accounts.ts'

export type TotpFactor = { sealedSecret: Buffer; confirmedAt: Date | null }

export async function findTotp(database: Queryable, userId: string): Promise<TotpFactor | null> {
  const [found] = await database.query<TotpFactor>(
    `select sealed_secret as "sealedSecret", confirmed_at as "confirmedAt" from totp_factors where user_id = $1`,
    [userId],
  )
  return found ?? null
}

export async function countRecoveryCodes(database: Queryable, userId: string): Promise<number> {
  const [found] = await database.query<{ left: number }>(
    'select count(*)::int as left from recovery_codes where user_id = $1',
    [userId],
  )
  return found?.left ?? 0
}

/**
 * Stores a new secret of an authenticator app in place of one that was not confirmed. The new secret works only after
 * its first code has confirmed it. @returns false when a factor is already set up
 */
export async function insertTotp(database: Queryable, userId: string, sealedSecret: Buffer): Promise<boolean> {
  const made = await database.execute(
    `insert into totp_factors as t (user_id, sealed_secret, created_at) values ($1::uuid, $2, now())
     on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at, last_step = 0
       where t.confirmed_at is null`,
    [userId, sealedSecret],
  )
  return made === 1
}

/**
 * Marks a time step of one-time codes as used. Each step can be used once. A step before the last used step can no
 * longer be used.
 *
 * @param sealedSecret the secret that the code was checked with
 * @param isConfirmed whether the caller expects a secret that is already confirmed
 * @returns false when this or a later step was used, or the secret was replaced or confirmed meanwhile
 */
export async function takeStep(
  database: Queryable,
  userId: string,
  { sealedSecret, step, isConfirmed }: { sealedSecret: Buffer; step: number; isConfirmed: boolean },
): Promise<boolean> {
  const taken = await database.execute(
    `update totp_factors set last_step = $3, confirmed_at = coalesce(confirmed_at, now())
     where user_id = $1 and sealed_secret = $2 and last_step < $3 and (confirmed_at is not null) = $4`,
    [userId, sealedSecret, step, isConfirmed],
  )
  return taken === 1
}

export async function setHasFactor(database: Queryable, userId: string, hasFactor: boolean): Promise<void> {
  await database.execute('update portal_users set has_factor = $2 where user_id = $1', [userId, hasFactor])
}

/** Deletes the secret of a person's authenticator app. @returns whether there was a secret, confirmed or not */
export async function deleteTotp(database: Queryable, userId: string): Promise<boolean> {
  return (await database.execute('delete from totp_factors where user_id = $1', [userId])) === 1
}

/** Replaces all recovery codes of a person. */
export async function replaceRecoveryCodes(database: Queryable, userId: string, hashes: Buffer[]): Promise<void> {
  await database.execute('delete from recovery_codes where user_id = $1', [userId])
  await database.execute('insert into recovery_codes (user_id, code_hash) select $1::uuid, unnest($2::bytea[])', [
    userId,
    hashes,
  ])
}

/** Uses up a recovery code. @returns false when the person has no such code, or has already used it */
export async function takeRecoveryCode(database: Queryable, userId: string, hash: Buffer): Promise<boolean> {
  const taken = await database.execute('delete from recovery_codes where user_id = $1 and code_hash = $2', [
    userId,
    hash,
  ])
  return taken === 1
}

/** Where a login came from. */
type From = Pick<Trace, 'address' | 'via'>

/**
 * Stores a challenge unless the person has changed since the login read the person's data. Challenges end when
 * a person is disabled or gets another role or password. If such a change runs at the same time, either it waits for
 * this statement and then ends the challenge, or this statement waits for the change and stores nothing.
 *
 * @param from where the login came from
 * @param person the data that the login has read
 * @returns when the challenge expires; null when the person was disabled, or got another role or password meanwhile
 */
export async function insertChallenge(
  database: Queryable,
  { hash, minutes, from }: { hash: Buffer; minutes: number; from: From },
  person: { userId: string; role: string; passwordHash: string },
): Promise<Date | null> {
  const [made] = await database.query<{ expiresAt: Date }>(
    `insert into login_challenges (challenge_hash, user_id, created_at, expires_at, address, via)
     select $1, u.user_id, now(), now() + make_interval(mins => $2), $6, $7 from portal_users u
     where u.user_id = $3 and u.disabled_at is null and u.role = $4 and u.password_hash = $5
     for share
     returning expires_at as "expiresAt"`,
    [hash, minutes, person.userId, person.role, person.passwordHash, from.address, from.via],
  )
  return made?.expiresAt ?? null
}

/**
 * Counts an attempt at a challenge. @returns the user's id; null when the challenge does not exist, has expired, or
 * was tried too often
 */
export async function tryChallenge(database: Queryable, hash: Buffer, maxTries: number): Promise<string | null> {
  const [found] = await database.query<{ userId: string }>(
    `update login_challenges set tries = tries + 1 where challenge_hash = $1 and expires_at > now() and tries < $2
     returning user_id as "userId"`,
    [hash, maxTries],
  )
  return found?.userId ?? null
}

/** Uses up a challenge. @returns false when the challenge is already used or has expired */
export async function takeChallenge(database: Queryable, hash: Buffer): Promise<boolean> {
  const taken = await database.execute(
    'delete from login_challenges where challenge_hash = $1 and expires_at > now()',
    [hash],
  )
  return taken === 1
}

/**
 * Deletes the challenge of an earlier request without the code, so that it is not recorded as an unfinished login. A
 * program may send the password alone first, and then both. A person may reload the page that asks for the code. Only
 * one challenge from the same address and interface is deleted, so that other people's attempts are still recorded.
 */
export async function takeEarlierTry(database: Queryable, userId: string, { address, via }: From): Promise<void> {
  await database.execute(
    `delete from login_challenges where challenge_hash = (
       select challenge_hash from login_challenges where user_id = $1 and address = $2 and via = $3 and expires_at > now()
       order by created_at desc limit 1)`,
    [userId, address, via],
  )
}

/**
 * Ends all challenges of a person. Their rows stay until `takeExpired` deletes them and returns the unanswered ones.
 */
export async function endChallenges(database: Queryable, userId: string): Promise<void> {
  await database.execute('update login_challenges set expires_at = least(expires_at, now()) where user_id = $1', [
    userId,
  ])
}

/**
 * A challenge that expired, with its person. `from` is null when a wrong code was sent, or an earlier version of the
 * program stored the challenge.
 */
export type ExpiredChallenge = { userId: string; account: Membership; from: From | null }

/** Deletes and returns some of the expired challenges. */
export async function takeExpired(database: Queryable, limit: number): Promise<ExpiredChallenge[]> {
  type Row = MembershipRow & { userId: string; from: ExpiredChallenge['from'] }
  const taken = await database.query<Row>(
    `with expired as (
       delete from login_challenges where challenge_hash = any(array(
         select challenge_hash from login_challenges where expires_at <= now() order by expires_at limit $1
         for update skip locked))
       returning user_id, address, via, tries
     )
     select user_id as "userId", u.bank_id, u.merchant_id, u.role,
       case when e.tries = 0 and e.address is not null then json_build_object('address', e.address, 'via', e.via) end as from
     from expired e join portal_users u using (user_id)`,
    [limit],
  )
  return taken.map(row => ({ userId: row.userId, account: membershipOf(row), from: row.from }))
}

/**
 * The encrypted secrets of authenticator apps, ordered by the user's id.
 *
 * @param after the id of the last user of the previous page
 */
export function listTotpSecrets(
  database: Queryable,
  after: string | null,
  limit: number,
): Promise<{ userId: string; sealedSecret: Buffer }[]> {
  return database.query(
    `select user_id as "userId", sealed_secret as "sealedSecret" from totp_factors
     where $1::uuid is null or user_id > $1 order by user_id limit $2`,
    [after, limit],
  )
}

/** Replaces a sealed secret unless it has changed meanwhile. */
export async function replaceTotpSecret(
  database: Queryable,
  userId: string,
  [before, after]: [before: Buffer, after: Buffer],
): Promise<void> {
  await database.execute('update totp_factors set sealed_secret = $3 where user_id = $1 and sealed_secret = $2', [
    userId,
    before,
    after,
  ])
}
