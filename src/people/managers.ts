/** Who manages whom (contract/people.md, "Who manages whom"). */

import type { Caller } from '../access/caller.ts'
import { accountOf, ownerOf } from '../access/operations.ts'
import { type AccountOwner, isSameOwner, ownerOfAccount } from '../access/owners.ts'
import { originOfCaller } from '../audit-log/origin.ts'
import { type Fact, tellEntries } from '../audit-log/tell.ts'
import type { Database, Queryable } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { isDeliverable } from '../esim/delivery/mail.ts'
import type { PeopleMails } from './mail/mails.ts'

/** A person who manages an account; of the platform, all of them. */
export type Manager = { caller: Caller; userId: string; sessionId: string }

export type PeopleDeps = {
  database: Database
  mails: PeopleMails
  /** Where links lead. */
  publicUrl: string
}

/**
 * The account that a request without an id means.
 *
 * @param named of the query, for managers of the platform
 * @throws DomainError 'forbidden' when a partner names an account, 'invalid' for two of them, 'not-found' for an unknown one
 */
export async function managedAccount(
  database: Queryable,
  { caller }: Manager,
  named: { bank?: string; merchant?: string },
): Promise<AccountOwner> {
  const { bank, merchant } = named
  if (bank === undefined && merchant === undefined) return ownerOfAccount(caller)
  if (caller.type !== 'platform') throw new DomainError('forbidden', 'Only the platform names accounts')
  if (bank !== undefined && merchant !== undefined) throw new DomainError('invalid', [broken('bank', 'one-account')])
  return ownerOf(database, bank === undefined ? { merchant: merchant ?? '' } : { bank })
}

/** Whether a manager manages this account. */
export const manages = ({ caller }: Manager, owner: AccountOwner): boolean =>
  caller.type === 'platform' || isSameOwner(ownerOfAccount(caller), owner)

/** The link that carries a token in its fragment, which no server, log or referrer sees. */
export const joinLink = (publicUrl: string, token: string): string => `${publicUrl}/app/join#${token}`

/** @throws DomainError 'invalid' unless mails can go there */
export function requireAddress(email: string | null): void {
  if (email !== null && !isDeliverable(email)) throw new DomainError('invalid', [broken('email', 'email')])
}

/** Tells what a manager did to something of an account; part of the transaction. */
export function tellManaged(
  transaction: Queryable,
  { caller }: Manager,
  owner: AccountOwner,
  fact: Pick<Fact, 'action' | 'object' | 'change'>,
): Promise<void> {
  return tellEntries(transaction, originOfCaller(caller), [{ ...fact, owner: accountOf(owner) }])
}

export const userObject = (id: string) => ({ type: 'user', id })
