/** Who manages whom (contract/people.md, "Who manages whom"). */

import { namedPartner, ownerAccountOf } from '../access/operations.ts'
import { type AccountOwner, isSameOwner, ownerOfAccount } from '../access/owners.ts'
import type { CountSettingsChange } from '../access/settings-limit.ts'
import type { Caller } from '../caller.ts'
import { type Database, type Queryable, within } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError, InvalidTokenError } from '../errors.ts'
import { isDeliverable } from '../mail/address.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import { originOfCaller } from '../outbox/origin.ts'
import { type Addresses, addressFor } from './addresses.ts'
import type { PeopleMails } from './mail/mails.ts'
import { holdAccess, lockAccount } from './users-store.ts'

/** A person who manages an account. A manager of the platform manages all accounts. */
export type Manager = { caller: Caller; userId: string; sessionId: string }

export type PeopleDeps = Addresses & {
  database: Database
  mails: PeopleMails
  countSettingsChange: CountSettingsChange
}

/**
 * The account that a request is about: the named one, or the manager's own.
 *
 * @param named account in the query; only managers of the platform may name one
 * @throws DomainError 'forbidden' when a partner names an account, 'invalid' when two are named, 'not-found' for
 *   an unknown code
 */
export async function managedAccount(
  database: Queryable,
  { caller }: Manager,
  named: { bank?: string; merchant?: string },
): Promise<AccountOwner> {
  if (caller.type !== 'platform' && (named.bank ?? named.merchant) !== undefined)
    throw new DomainError('forbidden', 'Only the platform names accounts')
  return (await namedPartner(database, named)) ?? ownerOfAccount(caller)
}

/** Whether a manager manages this account. */
export const manages = ({ caller }: Manager, owner: AccountOwner): boolean =>
  caller.type === 'platform' || isSameOwner(ownerOfAccount(caller), owner)

/**
 * Counts a manager's change of an account's people. Call it before the transaction. Do not call it if the change only ends access.
 * @throws DomainError 'too-many' beyond the limit of changes of settings
 */
export const countChange = (
  { countSettingsChange }: Pick<PeopleDeps, 'countSettingsChange'>,
  { caller }: Manager,
  owner: AccountOwner,
): Promise<void> => countSettingsChange(originOfCaller(caller), ownerAccountOf(owner))

/** The link carries its token in the fragment, which servers, logs and referrers never see. */
export const joinLink = (addresses: Addresses, owner: AccountOwner, token: string): string =>
  `${addressFor(addresses, owner)}/app/join#${token}`

/**
 * Begins a manager's change of an account: checks that the manager still has access, and locks the manager's row
 * until the transaction ends. It also locks the account, so that two managers change it one after the other. Without
 * this lock, two managers who change each other would cause a deadlock. Call it before any other lock of the
 * transaction.
 *
 * @throws DomainError 'unauthenticated' when the manager was disabled or got another role meanwhile
 */
export async function beginChange(
  transaction: Queryable,
  { caller, userId }: Pick<Manager, 'caller' | 'userId'>,
  owner: AccountOwner,
): Promise<void> {
  await lockAccount(transaction, owner)
  if (!(await holdAccess(transaction, userId, caller.role))) throw new InvalidTokenError()
}

/**
 * The database for changes at the operator's interface. Each of its transactions begins with `beginChange`, for the platform's
 * account and the calling person. @param caller null: the request uses the operator's key, so there is no person to check
 */
export function checkingCaller(database: Database, caller: Caller | null): Database {
  if (caller === null) return database
  const manager = { caller, userId: caller.subject }
  const transaction: Database['transaction'] = work =>
    database.transaction(async transaction => {
      await beginChange(transaction, manager, 'platform')
      return work(transaction)
    })
  return { ...database, transaction }
}

/**
 * Runs an operation as a manager's change of an account, in one transaction with `beginChange`. The operation gets a
 * database whose transactions run inside this one.
 *
 * @throws as `beginChange`
 */
export function changing<Result>(
  database: Database,
  manager: Manager,
  owner: AccountOwner,
  work: (within: Database) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async transaction => {
    await beginChange(transaction, manager, owner)
    return work(within(database, transaction))
  })
}

/** @throws DomainError 'invalid' for an address to which mails cannot be sent */
export function requireAddress(email: string | null): void {
  if (email !== null && !isDeliverable(email)) throw new DomainError('invalid', [broken('email', 'email')])
}

/** Writes an audit log entry about a manager's action on an account, as part of the transaction. */
export function recordManaged(
  transaction: Queryable,
  { caller }: Manager,
  owner: AccountOwner,
  fact: Pick<Fact, 'action' | 'object' | 'change'>,
): Promise<void> {
  return recordEntries(transaction, originOfCaller(caller), [{ ...fact, owner: ownerAccountOf(owner) }])
}

export const userObject = (id: string) => ({ type: 'user', id })
