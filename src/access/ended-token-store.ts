/** SQL of ended tokens, and of everything else whose tokens must be refused. */
import type { Queryable } from '../db/database.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

const endedTokensLock = 7_365_022

/**
 * Ended tokens, credentials and users are remembered for this time longer than the lifetime of a token. The clocks of
 * processes may differ, and a token is accepted for some seconds after it has expired; both take less than this time.
 */
export const refusalMargin = `interval '1 minute'`

export type EndedToken = { id: string; number: number; msLeft: number }

/**
 * The tokens that were ended after the token with this number, ordered by number. Tokens that expired more than a
 * minute ago are left out.
 */
export function findEndedTokens(database: Queryable, after: number): Promise<EndedToken[]> {
  return database.query<EndedToken>(
    {
      name: 'access.ended-tokens',
      text: `select token_id as id, number, (extract(epoch from expires_at + ${refusalMargin} - now()) * 1000)::float8 as "msLeft"
             from ended_tokens where number > $1 and expires_at > now() - ${refusalMargin} order by number`,
    },
    [after],
  )
}

/**
 * Takes the lock that is needed to end tokens. With it, ended tokens are committed in the order of their numbers, so
 * `findEndedTokens` misses none. Take it after all locks of people and credentials: in another order, two transactions could wait
 * for each other forever. Also deletes ended tokens that have expired.
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

/**
 * The ids whose tokens must be refused: suspended partners, and credentials, users and client secrets that ended recently. Those
 * that ended longer ago than the lifetime of a token are left out, because all their tokens have expired.
 */
export async function findRefused(database: Queryable): Promise<string[]> {
  const since = `now() - make_interval(secs => $1) - ${refusalMargin}`
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
