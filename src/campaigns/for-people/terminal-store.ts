/**
 * Reads a campaign's terminals for the portal: those that match a search, with the time at which each was added, and
 * the campaign's own list.
 */

import type { Queryable } from '../../db/database.ts'
import { type Page, skipped } from '../../http/paging.ts'
import type { Terminal } from '../form/terminal-list.ts'

/** A terminal as people see it. `addedAt` is in ISO 8601. */
export type ShownTerminal = Terminal & { addedAt: string }

/** The filters of a search for terminals. A field that is null filters nothing. */
export type TerminalSearch = { pattern: string | null; since: Date | null }

/**
 * SQL for the campaign's own terminals, with the time at which each was added. A terminal that no edit has added has
 * been there since the campaign was created, so its time is `created_at`.
 */
const own = `
  select t.terminal, t.place, coalesce(a.added_at, c.created_at) as added_at
  from campaigns c cross join json_array_elements(c.terminals::json) with ordinality as t (terminal, place)
  left join (
    select terminal_id, max(added_at) as added_at
    from campaign_terminal_additions, unnest(terminal_ids) as terminal_id where cashback_id = $1 group by terminal_id
  ) a on a.terminal_id = t.terminal->>'terminal_id'
  where c.cashback_id = $1`

const ofDirectory = `
  select json_build_object('terminal_id', t.terminal_id, 'terminal_name', t.name, 'terminal_location', t.location,
      'merchant_id', t.payment_system_merchant_id, 'merchant_name', t.payment_system_merchant_name) as terminal,
    row_number() over (order by t.terminal_id collate "C") as place, t.added_at
  from campaigns c join terminals t using (merchant_id) where c.cashback_id = $1`

/** The condition for `TerminalSearch`: `$2` is the pattern, `$3` the instant. */
const matches = `
  ($2::text is null or concat_ws(E'\\n', terminal->>'terminal_id', terminal->>'terminal_name',
     terminal->>'terminal_location', terminal->>'merchant_id', terminal->>'merchant_name') ~ $2)
  and ($3::timestamptz is null or added_at >= $3)`

/** Where the terminals of a campaign come from. `termsVersion` changes with every edit of the campaign's list. */
async function sourceOf(
  database: Queryable,
  cashbackId: string,
): Promise<{ isOfDirectory: boolean; termsVersion: number } | undefined> {
  const [campaign] = await database.query<{ isOfDirectory: boolean; termsVersion: number }>(
    'select terminals_platform as "isOfDirectory", terms_version as "termsVersion" from campaigns where cashback_id = $1',
    [cashbackId],
  )
  return campaign
}

/** One page of the terminals of an existing campaign, in the order of its list. */
export async function findTerminals(
  database: Queryable,
  cashbackId: string,
  search: TerminalSearch,
  page: Page,
): Promise<{ terminals: ShownTerminal[]; totalItems: number }> {
  const listed = (await sourceOf(database, cashbackId))?.isOfDirectory ? ofDirectory : own
  const [found] = await database.query<{ terminals: ShownTerminal[]; totalItems: number }>(
    `with found as materialized (
       select terminal, place, added_at from (${listed}) listed where ${matches}
     )
     select (select count(*)::int from found) as "totalItems", coalesce((
       select json_agg(p.terminal::jsonb || jsonb_build_object('addedAt', p.added_at) order by p.place)
       from (select * from found order by place limit $4 offset $5) p
     ), '[]') as terminals`,
    [cashbackId, search.pattern, search.since, page.pageSize, skipped(page)],
  )
  return found ?? { terminals: [], totalItems: 0 }
}

const terminalsAtOnce = 5_000

/**
 * Reads all matching terminals in the order of `findTerminals`, a few thousand with each statement. Between two
 * statements it holds no connection to the database.
 *
 * @throws Error at the end when the campaign was edited meanwhile, because terminals may then be missing
 */
export async function* readTerminals(
  database: Queryable,
  cashbackId: string,
  search: TerminalSearch,
): AsyncGenerator<ShownTerminal[]> {
  const source = await sourceOf(database, cashbackId)
  const listed = source?.isOfDirectory ? ofDirectory : own
  // Terminals of the directory may change between two reads, and their positions would shift. So each read continues
  // after the last terminal id. A campaign's own list is read by position. The positions get leading zeros, so that
  // they sort correctly as text.
  const key = source?.isOfDirectory ? `terminal->>'terminal_id'` : `lpad(place::text, 10, '0')`
  for (let after: string | null = null; ; ) {
    const rows: { terminal: Terminal; addedAt: string; key: string }[] = await database.query(
      `select terminal, added_at::text as "addedAt", key
       from (select terminal, added_at, (${key}) collate "C" as key from (${listed}) listed where ${matches}) matching
       where $4::text is null or key > $4 order by key limit ${terminalsAtOnce}`,
      [cashbackId, search.pattern, search.since, after],
    )
    if (rows.length > 0) yield rows.map(({ terminal, addedAt }) => ({ ...terminal, addedAt }))
    if (rows.length < terminalsAtOnce) break
    after = rows.at(-1)?.key ?? null
  }
  if ((await sourceOf(database, cashbackId))?.termsVersion !== source?.termsVersion)
    throw new Error('The campaign was edited while its terminals were read')
}

/** @returns the campaign's own terminals as the text of a JSON array, as they are stored */
export async function readOwnTerminals(database: Queryable, cashbackId: string): Promise<string> {
  const [campaign] = await database.query<{ terminals: string }>(
    `select case when terminals_platform then '[]' else terminals end as terminals from campaigns where cashback_id = $1`,
    [cashbackId],
  )
  return campaign?.terminals ?? '[]'
}
