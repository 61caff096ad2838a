/**
 * SQL that reads feeds. Pages are read by key and day by day, so the cost of a page does not depend on the length of
 * the feed.
 */
import type { Account } from '../caller.ts'
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
      plannedOnce: ['events'],
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
      plannedOnce: ['events'],
      text: `
        select coalesce(${lastSequence}, 0) as last
        from unnest($1::text[], $2::uuid[]) with ordinality as wanted (account_type, account_id, n)
        left join feeds f using (account_type, account_id) order by n`,
    },
    [accounts.map(({ type }) => type), accounts.map(({ id }) => id)],
  )
  return rows.map(({ last }) => last)
}

export type PageParams = {
  /** Only events with a higher sequence. */
  after: number
  /** The highest sequence to examine. */
  through: number
  limit: number
  /** null: all types. */
  types: readonly string[] | null
}

export type Page = {
  /** The feed, as it was when the first events were read. */
  feed: Feed
  /**
   * The JSON texts of the events in the order of the feed. Each element has one event or more, joined by commas. The
   * elements are not joined to one text, because joining long texts takes longer than reading them.
   */
  texts: string[]
  count: number
  /** The last sequence that was examined. */
  examined: number
}

/** Reads one page of a feed. It takes one statement for each day of events. */
export async function findEvents(database: Queryable, account: Account, params: PageParams): Promise<Page> {
  const { after, limit, types } = params
  // Sequences have no gaps, so without a filter a page has as many events as it examines.
  const through = types === null ? Math.min(params.through, after + limit) : params.through
  const page = await findOfDay(database, account, { ...params, through })
  const isOver = () => page.examined >= Math.min(through, page.feed.last) || page.count >= limit
  for (let before = after; page.examined > before && !isOver(); ) {
    before = page.examined
    // The feed may have grown since the first statement. The page ends where the feed ended at that statement.
    const end = Math.min(through, page.feed.last)
    const more = await findOfDay(database, account, { types, after: before, through: end, limit: limit - page.count })
    page.texts.push(...more.texts)
    page.count += more.count
    page.examined = more.examined
  }
  return page
}

/**
 * How many event texts the database joins into one value when there is no filter. Joining more texts into one value is
 * slower.
 */
const joined = 64

/**
 * Reads the feed and the events after `$3`, up to the end of the first event's day. The texts are joined, because
 * receiving a thousand single rows would take twice as long.
 */
const ofDayText = `
  select f.feed_id as "feedId", f.removed_through as "removedThrough", f.last, range.through, parts.*
  from (select f.*, ${lastSequence} as last from feeds f where ${accountIs} offset 0) as f
  left join lateral (
    select d.day, least(f.last, $4, (
      select first_sequence - 1 from feed_days where ${accountIs} and day > d.day order by day limit 1)) as through
    from feed_days d where ${accountIs} and first_sequence <= $3::bigint + 1 order by day desc limit 1
  ) as range on true
  left join lateral (
    select part.* from generate_series($3::bigint, range.through - 1, $7::bigint) as start cross join lateral (
      select string_agg(body, ',') as text, count(*)::int as count, max(sequence) as reached from (
        select sequence, body from events
        where ${accountIs} and day = range.day and sequence > start and sequence <= least(start + $7, range.through)
          and ($6::text[] is null or type = any($6))
        order by sequence limit $5) as found
    ) as part where part.count > 0
  ) as parts on true`

type Part = Feed & { through: number | null; text: string | null; count: number | null; reached: number | null }

async function findOfDay(
  database: Queryable,
  { type, id }: Account,
  { after, through, types, limit }: PageParams,
): Promise<Page> {
  const statement = { name: 'events.find-page', plannedOnce: ['events'], text: ofDayText }
  const atOnce = types === null ? joined : Math.max(1, through - after)
  const parts = await database.query<Part>(statement, [type, id, after, through, limit, types, atOnce])
  const [first] = parts
  if (!first) throw new Error('An account has no feed')
  const { feedId, removedThrough, last } = first
  const found = parts
    .filter(({ text }) => text !== null)
    .sort((one, other) => (one.reached ?? 0) - (other.reached ?? 0))
  const count = found.reduce((sum, part) => sum + (part.count ?? 0), 0)
  return {
    feed: { feedId, removedThrough, last },
    texts: found.flatMap(({ text }) => text ?? []),
    count,
    examined: (count === limit ? found.at(-1)?.reached : null) ?? Math.max(after, first.through ?? after),
  }
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
