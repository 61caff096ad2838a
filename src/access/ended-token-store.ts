/** SQL of ended tokens, and of the credentials, client secrets, people and partners whose tokens must be refused. */
import type { Queryable } from '../db/database.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

const endedTokensLock = 7_365_022

/**
 * The time for which ended tokens, credentials and users are stored in addition to a token's lifetime. It covers
 * differences between the clocks of processes, and the seconds for which an expired token is still accepted.
 */
export const refusalMargin = `interval '1 minute'`

/**
 * The id of a token, a credential, a client secret or a person. That token, or all tokens of that credential, secret or
 * person, are refused.
 */
export type Ended = {
  id: string
  /** Later changes have higher numbers. */
  number: number
  /**
   * The time at which the access ends; a time long ago if it has ended already; null if the person was enabled again.
   */
  endsAt: Date | null
  /** The time at which all tokens of the id have expired for certain. */
  forgetAt: Date
}

/**
 * The value of `endsAt` when the access has ended by the database's clock. It is far in the past, so that a process
 * whose clock is a little behind refuses the access, too.
 */
const longAgo = 'to_timestamp(0)'

/**
 * Finds ended tokens that have not expired, ordered by number.
 * @param after only tokens with higher numbers are returned
 */
export function findEndedTokens(database: Queryable, after: number): Promise<Ended[]> {
  return database.query<Ended>(
    {
      name: 'access.ended-tokens',
      text: `select token_id as id, number, ${longAgo} as "endsAt", expires_at + ${refusalMargin} as "forgetAt"
             from ended_tokens where number > $1 and expires_at > now() - ${refusalMargin} order by number`,
    },
    [after],
  )
}

const tokenLifetime = `make_interval(secs => ${tokenLifetimeSeconds})`
const lastEnd = 'greatest(ends_at, changed_at)'
const lastTokenExpires = `${lastEnd} + ${tokenLifetime} + ${refusalMargin}`

/**
 * Finds credentials, client secrets and people whose access was ended, ordered by number. Those whose tokens have all
 * expired are left out. Triggers write the rows and number them in the order of the commits, so no change is missed.
 *
 * @param after only changes with higher numbers are returned
 */
export function findEndedAccess(database: Queryable, after: number): Promise<Ended[]> {
  return database.query<Ended>(
    {
      name: 'access.ended-access',
      text: `select id, number, case when ends_at <= now() then ${longAgo} else ends_at end as "endsAt",
               ${lastTokenExpires} as "forgetAt"
             from ended_access where number > $1 and ${lastTokenExpires} > now() order by number`,
    },
    [after],
  )
}

const forgottenAtOnce = 1_000

/** Deletes some of the rows whose tokens have all expired. @returns whether there may be more */
export async function forgetEndedAccess(database: Queryable): Promise<boolean> {
  const forgotten = await database.execute(
    `delete from ended_access where id = any(array(
       select id from ended_access
       where ${lastEnd} < now() - ${tokenLifetime} - ${refusalMargin}
       limit ${forgottenAtOnce} for update skip locked))`,
  )
  return forgotten === forgottenAtOnce
}

/**
 * Takes the lock that is needed to end tokens. With it, ended tokens are committed in the order of their numbers, so
 * `findEndedTokens` misses none. Take it after all locks of people and credentials, because in another order, two
 * transactions could deadlock. Also deletes ended tokens that have expired.
 */
export async function lockEndedTokens(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [endedTokensLock])
  await transaction.execute(`delete from ended_tokens where expires_at < now() - ${refusalMargin}`)
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

/** The ids of suspended partners. */
export async function findSuspended(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select bank_id::text as id from banks where status = 'suspended'
     union all select merchant_id::text from merchants where status = 'suspended'`,
  )
  return rows.map(({ id }) => id)
}
