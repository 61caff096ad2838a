/** SQL with which the operator reads about events and endpoints, and restarts all feeds. */
import type { Account } from '../caller.ts'
import { platformAccount } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findEvents, findFeed } from '../events/feed-store.ts'
import { countWaitingEvents } from '../events/sequence-store.ts'

export type AccountParams = { bank?: string | undefined; merchant?: string | undefined; platform?: boolean | undefined }

/**
 * The account with a bank's or merchant's code, or the platform's account; null: the parameters name none.
 *
 * @throws DomainError 'not-found' for an unknown code; 'invalid' when the parameters name two kinds of account
 */
export async function namedAccount(database: Queryable, params: AccountParams): Promise<Account | null> {
  const { bank, merchant, platform = false } = params
  const named = [bank, merchant, platform || undefined].filter(one => one !== undefined)
  if (named.length > 1) throw new DomainError('invalid', ['bank must be given without merchant and platform'])
  if (platform) return platformAccount
  if (bank === undefined && merchant === undefined) return null
  const [row] = await database.query<Account>(
    `select 'bank' as type, bank_id as id from banks where code = $1
     union all select 'retailer', merchant_id from merchants where code = $2`,
    [bank ?? null, merchant ?? null],
  )
  if (!row)
    throw new DomainError('not-found', `There is no ${bank === undefined ? 'merchant' : 'bank'} ${bank ?? merchant}`)
  return row
}

/** The newest events of a feed as JSON texts, joined by commas, in the order of the feed. */
export async function readTail(database: Queryable, account: Account, limit: number): Promise<string> {
  const { last } = await findFeed(database, account)
  const { texts } = await findEvents(database, account, {
    after: Math.max(0, last - limit),
    through: last,
    limit,
    types: null,
  })
  return texts.join(',')
}

export type EndpointCounts = { enabled: number; failing: number; disabled: number; pending: number }

/**
 * The number of endpoints by status, and of all pending deliveries. `failing` counts enabled endpoints whose attempts
 * all fail.
 */
export async function countEndpoints(database: Queryable): Promise<EndpointCounts> {
  const [counts] = await database.query<EndpointCounts>(
    `select count(*) filter (where status = 'enabled' and failing_since is null)::int as enabled,
       count(*) filter (where status = 'enabled' and failing_since is not null)::int as failing,
       count(*) filter (where status = 'disabled')::int as disabled,
       coalesce(sum((select count(*) from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending')), 0)::int as pending
     from webhook_endpoints e where deleted_at is null`,
  )
  return counts ?? { enabled: 0, failing: 0, disabled: 0, pending: 0 }
}

export type EventsStatus = {
  lastTickAt: string | null
  waiting: number
  lagSeconds: number
  endpoints: Omit<EndpointCounts, 'pending'>
  pending: number
}

/**
 * How many events wait for their number and for how long, when numbering last ran, and counts of endpoints and
 * deliveries.
 */
export async function readEventsStatus(database: Queryable): Promise<EventsStatus> {
  const [waiting, { pending, ...endpoints }, [tick]] = await Promise.all([
    countWaitingEvents(database),
    countEndpoints(database),
    database.query<{ at: Date }>(`select at from event_ticks where consumer = 'events' order by tick_id desc limit 1`),
  ])
  const lastTickAt = tick?.at.toISOString() ?? null
  return { lastTickAt, waiting: waiting.rows, lagSeconds: waiting.lagSeconds, endpoints, pending }
}

/**
 * Gives every account a new feed id after a restore of an older database, so that readers notice that events may be missing.
 * @returns the number of feeds
 */
export function restartFeeds(transaction: Queryable): Promise<number> {
  return transaction.execute('update feeds set feed_id = gen_random_uuid()')
}

/** The codes of banks and merchants by their ids. */
export async function findCodes(database: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await database.query<{ id: string; code: string }>(
    `select bank_id as id, code from banks where bank_id = any($1)
     union all select merchant_id, code from merchants where merchant_id = any($1)`,
    [ids],
  )
  return new Map(rows.map(({ id, code }) => [id, code]))
}
