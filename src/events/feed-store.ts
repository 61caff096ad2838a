/**
 * SQL that reads feeds. Pages are read by key and day by day, so the cost of a page does not depend on the length of
 * the feed.
 */
import type { Account } from '../access/caller.ts'
import type { Queryable } from '../db/database.ts'
import { lastSequence } from './sequence-store.ts'

export type Feed = {
  feedId: string
  /** The sequence of the last event that was removed because of its age. */
  removedThrough: number
  last: number
}

const accountIs = 'account_type = $1 and account_id = $2'

export async function findFeed(database: Queryable, { type, id }: Account): Promise<Feed> {
  const [feed] = await database.query<Feed>(
    {
      name: 'events.find-feed',
      text: `select f.feed_id as "feedId", f.removed_through as "removedThrough", ${lastSequence} as last from feeds f where ${accountIs}`,
    },
    [type, id],
  )
  if (!feed) throw new Error('An account has no feed')
  return feed
}

/** The last sequences of several feeds, in the order of the accounts. */
export async function findLasts(database: Queryable, accounts: readonly Account[]): Promise<number[]> {
  const rows = await database.query<{ last: number }>(
    {
      name: 'events.find-lasts',
      text: `
        select coalesce(${lastSequence}, 0) as last
        from unnest($1::text[], $2::uuid[]) with ordinality as wanted (account_type, account_id, n)
        left join feeds f using (account_type, account_id) order by n`,
    },
    [accounts.map(({ type }) => type), accounts.map(({ id }) => id)],
  )
  return rows.map(({ last }) => last)
}

/** The sequence of an event and its JSON text. Rows as lists: as objects a page of 1,000 took twice the processor time. */
export type StoredEvent = [sequence: number, body: string]
export type PageParams = {
  /** Only events with a higher sequence. */
  after: number
  /** The highest sequence to examine. */
  through: number
  limit: number
  /** null: all types. */
  types: readonly string[] | null
}

/** Events in the order of the feed. */
export async function findEvents(database: Queryable, account: Account, params: PageParams): Promise<StoredEvent[]> {
  let found: StoredEvent[] = []
  for (const day of await findDays(database, account, params)) {
    found = found.concat(await findOfDay(database, account, { ...params, day, limit: params.limit - found.length }))
    if (found.length >= params.limit) break
  }
  return found
}

function findOfDay(
  database: Queryable,
  { type, id }: Account,
  { day, after, through, types, limit }: PageParams & { day: string },
): Promise<StoredEvent[]> {
  return database.tuples<StoredEvent>(
    {
      name: 'events.find-page',
      text: `
        select sequence, body from events
        where ${accountIs} and day = $3 and sequence > $4 and sequence <= $5 and ($6::text[] is null or type = any($6))
        order by sequence limit $7`,
    },
    [type, id, day, after, through, types, limit],
  )
}

/** The days that a range of sequences covers. */
async function findDays(database: Queryable, { type, id }: Account, { after, through }: PageParams): Promise<string[]> {
  if (through <= after) return []
  const rows = await database.query<{ day: string }>(
    {
      name: 'events.find-days',
      text: `
        select day::text from feed_days where ${accountIs} and first_sequence <= $4 and day >= coalesce((
          select day from feed_days where ${accountIs} and first_sequence <= $3 order by day desc limit 1), '-infinity')
        order by day`,
    },
    [type, id, after + 1, through],
  )
  return rows.map(({ day }) => day)
}

/** @returns the event's JSON text; null when the account has no such event, or the event was removed because of its age */
export async function findEvent(database: Queryable, account: Account, eventId: string): Promise<string | null> {
  const day = dayOfId(eventId)
  if (day === null) return null
  const [event] = await database.query<{ body: string }>(
    {
      name: 'events.find-event',
      text: `select body from events where ${accountIs} and event_id = $3 and day = $4`,
    },
    [account.type, account.id, eventId, day],
  )
  return event?.body ?? null
}

/** The UTC day of a version 7 id, which begins with the time of its creation. @returns null for other ids */
function dayOfId(id: string): string | null {
  const hex = id.replaceAll('-', '')
  if (hex.charAt(12) !== '7') return null
  const at = new Date(Number.parseInt(hex.slice(0, 12), 16))
  return at.getUTCFullYear() > 9999 ? null : at.toISOString().slice(0, 10)
}
