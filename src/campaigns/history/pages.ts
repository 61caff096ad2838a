/** Reads the pages of a history for any reader (contract/campaigns.md, "History"). */
import type { Queryable } from '../../db/database.ts'
import type { HistoryCursorDeps, HistoryScope } from './cursors.ts'
import { findHistoryPage, type HistoryEntry } from './store.ts'

/** Entries, oldest first. `next` is the cursor of the page with older entries; null: there are none. */
export type HistoryPage = { entries: HistoryEntry[]; next: string | null }

/**
 * @param before the `next` of another page of the same reader; undefined: the newest page
 * @throws DomainError 'invalid' when `before` is no cursor of this history and reader
 */
export async function readHistoryPage(
  { database, historyCursors }: HistoryCursorDeps & { database: Queryable },
  scope: HistoryScope,
  before: string | undefined,
): Promise<HistoryPage> {
  const end = before === undefined ? null : historyCursors.read(scope, before)
  const { entries, next } = await findHistoryPage(database, { ...scope, before: end })
  return { entries, next: next === null ? null : historyCursors.write(scope, next) }
}
