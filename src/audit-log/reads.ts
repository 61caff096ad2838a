/** What readers of the audit log ask for. */
import type { Account } from '../access/caller.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { Entry } from './entry.ts'
import { type LogAccount, logAccountOf } from './lines-store.ts'
import { type EntryPage, type EntrySearch, findAccount, findActorNames, findEntries } from './read-store.ts'

export type EntriesAsked = {
  /** The account of the one who reads. */
  reader: Account
  /** The id of the account; for the platform's users only. */
  accountId: string | undefined
  search: Omit<EntrySearch, 'account'>
  page: { before: number | null; limit: number }
}

/**
 * A page of the entries that a caller may read: those of its own account; the platform's users read all.
 *
 * @returns also the names of actors, by id, as they are now
 * @throws DomainError 'invalid' when a partner asks for an account; 'not-found' for an unknown one
 */
export async function readEntries(
  { database }: { database: Queryable },
  { reader, accountId, search, page }: EntriesAsked,
): Promise<EntryPage & { names: Map<string, string> }> {
  const account = await accountAsked(database, reader, accountId)
  const found = await findEntries(database, { ...search, account }, page)
  const ids = found.entries.flatMap(({ entry }) => (JSON.parse(entry) as Entry).actor.id ?? [])
  return { ...found, names: await findActorNames(database, [...new Set(ids)]) }
}

/**
 * Whose entries are read; null: those of all accounts.
 *
 * @throws DomainError 'invalid' when a partner asks for an account; 'not-found' for an unknown one
 */
export async function accountAsked(
  database: Queryable,
  reader: Account,
  asked: string | undefined,
): Promise<LogAccount> {
  if (asked === undefined) return reader.type === 'platform' ? null : logAccountOf(reader)
  if (reader.type !== 'platform') throw new DomainError('invalid', ['account must be omitted'])
  const account = await findAccount(database, asked)
  if (account === null) throw new DomainError('not-found', 'There is no such account')
  return account
}
