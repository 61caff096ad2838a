/** Reads the audit log, and checks who may read what. */
import type { Account } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { Entry } from '../outbox/audit-entry.ts'
import type { Head } from './chain.ts'
import { findAccountSigner, type Signer } from './keys.ts'
import { findAccountHeads, type KeptCheckpoint, logAccountOf } from './lines-store.ts'
import type { LogAccount } from './read-store.ts'
import {
  type AccountName,
  type EntryPage,
  type EntrySearch,
  findAccount,
  findAccountNames,
  findActorNames,
  findEntries,
} from './read-store.ts'

export type EntriesParams = {
  /** The caller's account. */
  reader: Account
  /** The id of the account to read; only users of the platform may give it. */
  accountId: string | undefined
  search: Omit<EntrySearch, 'account'>
  page: { before: number | null; limit: number }
}

/** Current names of actors and of accounts, by id. */
export type EntryNames = { actors: Map<string, string>; accounts: Map<string, AccountName> }

/**
 * A page of the entries that the caller may read: the entries of its own account, or for users of the platform those of
 * all accounts.
 *
 * @returns also the current names of the actors, by id; for users of the platform the names of the accounts, too
 * @throws DomainError 'invalid' when a partner gives an account; 'not-found' for an unknown account
 */
export async function readEntries(
  { database }: { database: Queryable },
  { reader, accountId, search, page }: EntriesParams,
): Promise<EntryPage & { names: EntryNames }> {
  const account = await readableAccount(database, reader, accountId)
  const found = await findEntries(database, { ...search, account }, page)
  const entries = found.entries.map(({ entry }) => JSON.parse(entry) as Entry)
  const actorIds = entries.flatMap(({ actor }) => actor.id ?? [])
  const accountIds = reader.type === 'platform' ? entries.flatMap(({ account }) => account.id ?? []) : []
  const actors = await findActorNames(database, [...new Set(actorIds)])
  return { ...found, names: { actors, accounts: await findAccountNames(database, [...new Set(accountIds)]) } }
}

/**
 * The account whose entries are read; null: all accounts.
 *
 * @throws DomainError 'invalid' when a partner gives an account; 'not-found' for an unknown account
 */
export async function readableAccount(
  database: Queryable,
  reader: Account,
  accountId: string | undefined,
): Promise<LogAccount> {
  if (accountId === undefined) return reader.type === 'platform' ? null : logAccountOf(reader)
  if (reader.type !== 'platform') throw new DomainError('invalid', ['account must be omitted'])
  const account = await findAccount(database, accountId)
  if (account === null) throw new DomainError('not-found', 'There is no such account')
  return account
}

export type ShownCheckpoint = {
  checkpoint: KeptCheckpoint
  /**
   * The head (number and hash) of the reader's own chain at the checkpoint; null when the chain had no entry yet,
   * undefined when the reader sees the whole log.
   */
  head: Head | null | undefined
  /** The name and key that sign `head`; null when the reader sees the whole log. */
  signer: Signer | null
}

/**
 * Adds to each checkpoint the head of the partner's own chain, and the key that signs this head. For users of the
 * platform, nothing is added.
 *
 * @throws SealingError when none of the master keys can decrypt the signing key
 */
export async function withHeads(
  database: Queryable,
  { masterKeys }: { masterKeys: readonly Buffer[] },
  reader: Account,
  found: readonly KeptCheckpoint[],
): Promise<ShownCheckpoint[]> {
  if (reader.type === 'platform') return found.map(checkpoint => ({ checkpoint, head: undefined, signer: null }))
  const account = logAccountOf(reader)
  const seqs = found.map(({ seq }) => seq)
  const heads = await findAccountHeads(database, account, seqs)
  const signer = await findAccountSigner(database, masterKeys, account.id)
  return found.map((checkpoint, index) => ({ checkpoint, head: heads[index] ?? null, signer }))
}
