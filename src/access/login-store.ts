/**
 * SQL of logins with a password: failed attempts, and the addresses of successful ones. Times are the database's real time.
 */
import { createHash } from 'node:crypto'
import type { Caller } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { type MembershipRow, membershipOf } from './accounts.ts'

/** For how many days the address of a successful login counts as known. */
const knownDays = 30
/** The number of wrong passwords that cause no wait. Each further wrong password makes the next attempt wait twice as long. */
const freeFailures = 4
const maxWaitSeconds = 60
/**
 * After this time without a wrong password, attempts no longer have to wait, and the count of a login that nobody has is
 * deleted. The time is the same for all logins. Otherwise the waiting would show which logins exist.
 */
const waitsEndAfter = `interval '1 hour'`

const keyOf = (login: string): Buffer => createHash('sha256').update(login).digest()

export type Attempts = {
  /** The person who has this login; null when nobody has it. */
  holder: Caller | null
  /** Whether a recent login from this address succeeded. */
  isKnownAddress: boolean
  /** Seconds until the next attempt with this login is allowed. */
  waitSeconds: number
}

/** Whether the person has recently logged in from this address. @param address an IPv4 address or an IPv6 /64 (`addressUnit`) */
export async function isKnownAddress(database: Queryable, userId: string, address: string): Promise<boolean> {
  const known = await database.query(
    `select from login_addresses where user_id = $1 and address = $2 and last_at > now() - interval '${knownDays} days'`,
    [userId, address],
  )
  return known.length > 0
}

/** SQL for the number of failures that still make attempts wait. */
const recent = `(case when f.last_at > now() - ${waitsEndAfter} then f.failures else 0 end)`

/** The state of attempts with this login. @param address as `addressUnit` gives it */
export async function findAttempts(database: Queryable, login: string, address: string): Promise<Attempts> {
  type Row = Omit<Attempts, 'holder'> & MembershipRow & { userId: string | null }
  const [row] = await database.query<Row>(
    {
      name: 'access.find-attempts',
      text: `
        select u.user_id as "userId", u.bank_id, u.merchant_id, u.role,
          exists (select from login_addresses a where a.user_id = u.user_id and a.address = $3
                  and a.last_at > now() - interval '${knownDays} days') as "isKnownAddress",
          coalesce(greatest(0, extract(epoch from f.next_at - now())), 0)::float8 as "waitSeconds"
        from (values ($1::bytea)) k (login_key)
        left join failed_logins f using (login_key) left join portal_users u on u.login = $2`,
    },
    [keyOf(login), login, address],
  )
  if (!row) throw new Error('A row of values is there')
  const { userId, isKnownAddress, waitSeconds } = row
  const holder = userId === null ? null : ({ ...membershipOf(row), userType: 'portal_user', subject: userId } as const)
  return { holder, isKnownAddress, waitSeconds }
}

/**
 * SQL for the wait after a number of failures: 2, 4, 8 ... seconds, at most `maxWaitSeconds`. The inner `least` only keeps the
 * power from becoming too large.
 */
const wait = (failures: string) =>
  `make_interval(secs => case when ${failures} <= ${freeFailures} then 0
     else least(${maxWaitSeconds}, 2 ^ least(${failures} - ${freeFailures}, 10)) end)`

/**
 * Claims the next attempt with a login. If attempts have to wait, only one of several simultaneous attempts is allowed.
 *
 * @returns the seconds to wait; 0 when the attempt may be made now
 */
export async function claimAttempt(database: Queryable, login: string): Promise<number> {
  const [claim] = await database.query<{ isClaimed: boolean; waitSeconds: number }>(
    `with claimed as (
       update failed_logins set next_at = now() + ${wait('failures')}
       where login_key = $1 and failures > ${freeFailures} and next_at <= now()
         and last_at > now() - ${waitsEndAfter} returning login_key
     )
     select exists (select from claimed) as "isClaimed", greatest(1, extract(epoch from next_at - now()))::float8 as "waitSeconds"
     from failed_logins where login_key = $1 and failures > ${freeFailures} and last_at > now() - ${waitsEndAfter}`,
    [keyOf(login)],
  )
  return claim && !claim.isClaimed ? claim.waitSeconds : 0
}

/**
 * Counts a wrong password, also for a login that nobody has. Earlier failures that are too old to make attempts wait
 * are moved to `wrong_codes`, a count that is only displayed. `forgetLoginTraces` deletes the counts of logins that
 * nobody has.
 */
export async function noteFailure(database: Queryable, login: string, isKnown: boolean): Promise<void> {
  await database.execute(
    `insert into failed_logins as f (login_key, is_known, failures, last_at, next_at) values ($1, $2, 1, now(), now())
     on conflict (login_key) do update set is_known = $2, failures = ${recent} + 1, last_at = now(),
       wrong_codes = f.wrong_codes + f.failures - ${recent}, next_at = now() + ${wait(`(${recent} + 1)`)}`,
    [keyOf(login), isKnown],
  )
}

/**
 * Counts a wrong code after a right password. It does not make password attempts wait, because codes have their own throttle. So
 * an existing row keeps `last_at`, the time of the last wrong password.
 */
export async function noteWrongCode(database: Queryable, login: string): Promise<void> {
  await database.execute(
    `insert into failed_logins as f (login_key, is_known, failures, wrong_codes, last_at, next_at)
     values ($1, true, 0, 1, now(), now())
     on conflict (login_key) do update set is_known = true, wrong_codes = f.wrong_codes + 1`,
    [keyOf(login)],
  )
}

/**
 * Counts a person's logins that had the right password but no code. Like `noteSuccess`, this locks the person's row
 * first, and does nothing for a person who was erased meanwhile.
 */
export async function noteWithoutCode(database: Queryable, userId: string, count: number): Promise<void> {
  await database.execute(
    `with person as materialized (select login from portal_users where user_id = $1 for key share)
     insert into failed_logins as f (login_key, is_known, failures, wrong_codes, last_at, next_at)
     select sha256(convert_to(login, 'UTF8')), true, 0, $2, now(), now() from person
     on conflict (login_key) do update set is_known = true, wrong_codes = f.wrong_codes + excluded.wrong_codes`,
    [userId, count],
  )
}

/** Deletes the count of wrong passwords of a login that nobody has any more. */
export async function forgetFailures(database: Queryable, login: string): Promise<void> {
  await database.execute('delete from failed_logins where login_key = $1', [keyOf(login)])
}

/**
 * Stores a successful login, and marks its address as known. The failures since the previous login are kept for
 * display, and the count of failures starts again at 0. The person's row is locked first. An erasure locks in the same
 * order, so the two cannot deadlock.
 *
 * @returns false when the person was erased meanwhile
 */
export async function noteSuccess(
  database: Queryable,
  input: { userId: string; login: string; address: string },
): Promise<boolean> {
  const noted = await database.execute(
    `with person as materialized (
       select user_id, created_at from portal_users where user_id = $2 for key share
     ), failed as (
       delete from failed_logins using person where login_key = $1 returning failures + wrong_codes as failures
     ), noted as (
       insert into user_logins as l (user_id, last_at, failed_count, failed_since)
       select user_id, now(), coalesce((select failures from failed), 0), created_at from person
       on conflict (user_id) do update
         set last_at = excluded.last_at, failed_count = excluded.failed_count, failed_since = l.last_at
     )
     insert into login_addresses (user_id, address, last_at) select user_id, $3, now() from person
     on conflict (user_id, address) do update set last_at = excluded.last_at`,
    [keyOf(input.login), input.userId, input.address],
  )
  return noted > 0
}

const forgottenAtOnce = 1_000

/**
 * Deletes some of the addresses that are no longer known, and some of the old failures of logins that nobody has.
 *
 * @returns whether there may be more
 */
export async function forgetLoginTraces(database: Queryable): Promise<boolean> {
  const addresses = await database.execute(
    `with old as materialized (
       select user_id, address from login_addresses where last_at <= now() - interval '${knownDays} days'
       limit ${forgottenAtOnce} for update skip locked
     )
     delete from login_addresses a using old where a.user_id = old.user_id and a.address = old.address`,
  )
  const failures = await database.execute(
    `delete from failed_logins where login_key = any(array(
       select login_key from failed_logins where not is_known and last_at <= now() - ${waitsEndAfter}
       order by last_at limit ${forgottenAtOnce} for update skip locked))`,
  )
  return addresses === forgottenAtOnce || failures === forgottenAtOnce
}

/**
 * How many passwords and codes were wrong or missing between a user's last two logins, and since when.
 *
 * @returns null for a user who has never logged in
 */
export async function findFailedLogins(
  database: Queryable,
  userId: string,
): Promise<{ count: number; since: Date } | null> {
  const [found] = await database.query<{ count: number; since: Date }>(
    'select failed_count as count, failed_since as since from user_logins where user_id = $1',
    [userId],
  )
  return found ?? null
}
