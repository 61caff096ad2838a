/**
 * Operations of managers on people (contract/people.md, "People"). Each change is one transaction. If a change ends
 * sessions, they end in the same transaction.
 */

import { clearFactors } from '../access/factors/factors.ts'
import { requireFreshFactor } from '../access/factors/fresh.ts'
import { endAccess, ownerAccountOf, requireRole, withdrawals } from '../access/operations.ts'
import { accountTypeOf, ownerOfAccount } from '../access/owners.ts'
import { hashSecret, makeSecret } from '../access/secrets.ts'
import { deleteResets, lockUser } from '../access/user-store.ts'
import { realNow } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { DomainError } from '../errors.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import { originOfCaller } from '../outbox/origin.ts'
import { rolesWith } from '../roles.ts'
import { type Changed, changedMail, defaultLanguage } from './mail/mails.ts'
import {
  beginChange,
  countChange,
  joinLink,
  type Manager,
  manages,
  type PeopleDeps,
  recordManaged,
  requireAddress,
  userObject,
} from './managers.ts'
import * as store from './users-store.ts'

export const resetHours = 24

export type PersonChange = { role?: string; disabled?: boolean; email?: string | null }

/**
 * Changes a person. A person who is disabled or gets another role loses all sessions and links. The links that the
 * person made for others end as well.
 *
 * @throws DomainError 'not-found' for a person whom the manager does not manage; 'conflict' for changing one's own
 *   role, disabling oneself, or removing the last active manager of an account; 'invalid' for a role that the account
 *   does not have, or an address to which mails cannot be sent; 'mfa-needed' for enabling, or for another role or address, when the
 *   manager has not proven a factor within the last 15 minutes; 'too-many' when the manager's account has caused too many mails or changes
 */
export async function changePerson(
  deps: PeopleDeps,
  manager: Manager,
  { userId, change }: { userId: string; change: PersonChange },
): Promise<store.PersonListing> {
  requireAddress(change.email ?? null)
  await countPersonChange(deps, manager, userId, change)
  await deps.database.transaction(async transaction => {
    const person = await lockOwn(transaction, manager, userId)
    const after = {
      role: change.role ?? person.role,
      email: change.email === undefined ? person.email : change.email,
      isDisabled: change.disabled ?? person.isDisabled,
    }
    const isEnabled = person.isDisabled && !after.isDisabled
    if (isEnabled || after.role !== person.role || after.email !== person.email)
      await requireFreshFactor(transaction, manager.sessionId)
    await requireChangeable(transaction, manager, { person, after })
    const withdrawn = await store.updatePerson(transaction, userId, after)
    for (const fact of factsOf(person, after)) await recordManaged(transaction, manager, person.owner, fact)
    await recordEntries(transaction, originOfCaller(manager.caller), withdrawals(withdrawn))
    if (after.email !== person.email) {
      await deleteResets(transaction, userId)
      // Notify the old address, so that nobody can take over an account unnoticed by changing its address. Also notify the new one.
      if (person.email !== null)
        await mailChange(deps, transaction, manager, person, 'email', [person.email, after.email])
    }
    if (isEnabled) await mailChange(deps, transaction, manager, person, 'enabled', [person.email])
    // End the sessions also when a person is enabled: during an upgrade, a process of an earlier version may have
    // disabled the person without ending them.
    if (after.role !== person.role || after.isDisabled !== person.isDisabled) await endAccess(transaction, userId)
    await notify(transaction, 'access')
  })
  return listed(deps.database, userId)
}

/** Counts the change, unless it changes nothing or only disables the person. @throws as `findOwn` and `countChange` */
async function countPersonChange(deps: PeopleDeps, manager: Manager, userId: string, change: PersonChange) {
  const { owner, role, email, isDisabled } = await findOwn(deps.database, manager, userId)
  const isEnabled = isDisabled && change.disabled === false
  const isOther = (change.role ?? role) !== role || (change.email === undefined ? email : change.email) !== email
  if (isEnabled || isOther) await countChange(deps, manager, owner)
}

/**
 * Disables the person with this login, by the rules of `changePerson`.
 * @throws as `changePerson`; DomainError 'not-found' when nobody has the login
 */
export async function disablePerson(deps: PeopleDeps, manager: Manager, login: string): Promise<void> {
  const userId = await store.findIdOf(deps.database, login)
  if (userId === null) throw new DomainError('not-found', `No user has the login ${login}`)
  await changePerson(deps, manager, { userId, change: { disabled: true } })
}

/** Sends a mail about a manager's change of a person's access to each of these addresses. */
async function mailChange(
  { mails }: PeopleDeps,
  transaction: Queryable,
  manager: Manager,
  { userId, owner, login, language }: store.ManagedPerson,
  what: Changed,
  addresses: (string | null)[],
) {
  if (!mails.canSend) return
  for (const to of addresses.filter(address => address !== null)) {
    await mails.countMail(ownerAccountOf(ownerOfAccount(manager.caller)))
    const mail = changedMail(what, login)
    await mails.queue(transaction, { userId, owner }, { to, language: language ?? defaultLanguage, mail })
  }
}

type After = { role: string; email: string | null; isDisabled: boolean }

/**
 * The facts for the audit log about a change of a person. They say that an address has changed, but do not contain the
 * address.
 */
function factsOf(before: store.ManagedPerson, after: After): Pick<Fact, 'action' | 'object' | 'change'>[] {
  const object = userObject(before.userId)
  const isOther = after.role !== before.role
  const isSwitched = after.isDisabled !== before.isDisabled
  const role = isOther
    ? [{ action: 'user.role_changed', object, change: { role: [before.role, after.role] as const } }]
    : []
  const disabled = { disabled: [before.isDisabled, after.isDisabled] as const }
  const switched = { action: after.isDisabled ? 'user.disabled' : 'user.enabled', object, change: disabled }
  const email = { action: 'user.changed', object, change: { email: [null, null] as const } }
  return [...role, ...(isSwitched ? [switched] : []), ...(after.email === before.email ? [] : [email])]
}

/**
 * Begins a manager's change of a person, and locks the person's row until the transaction ends.
 * @throws as `beginChange` and `findOwn`
 */
export async function lockOwn(transaction: Queryable, manager: Manager, userId: string): Promise<store.ManagedPerson> {
  const { owner } = await findOwn(transaction, manager, userId)
  await beginChange(transaction, manager, owner)
  await lockUser(transaction, userId)
  return findOwn(transaction, manager, userId)
}

/**
 * Checks whether the manager may change this person in this way.
 * @throws DomainError 'conflict' and 'invalid' as `changePerson`
 */
async function requireChangeable(
  transaction: Queryable,
  manager: Manager,
  { person, after }: { person: store.ManagedPerson; after: After },
): Promise<void> {
  const { userId, owner } = person
  requireRole(owner, after.role)
  const isOther = after.role !== person.role
  const isShutOut = after.isDisabled && !person.isDisabled
  if (userId === manager.userId && isOther) throw new DomainError('conflict', 'Nobody changes the own role')
  if (userId === manager.userId && isShutOut) throw new DomainError('conflict', 'Nobody disables oneself')
  if (!isOther && !isShutOut) return
  const managers = await store.lockManagers(transaction, owner, rolesWith(accountTypeOf(owner), 'manageAccount'))
  if (managers.includes(userId) && managers.length === 1)
    throw new DomainError('conflict', 'This is the last active manager of the account')
}

/**
 * Finds a person whom the manager manages.
 * @throws DomainError 'not-found' for anybody else; 'conflict' for somebody who has not accepted the invitation yet
 */
async function findOwn(database: Queryable, manager: Manager, userId: string): Promise<store.ManagedPerson> {
  const person = await store.findManaged(database, userId)
  if (person && manages(manager, person.owner)) return person
  const invitedTo = person ? null : await store.findInvitedTo(database, userId)
  if (invitedTo && manages(manager, invitedTo))
    throw new DomainError('conflict', 'The person has not accepted the invitation yet; withdraw it to change something')
  throw new DomainError('not-found', 'There is no such person')
}

async function listed(database: Queryable, userId: string): Promise<store.PersonListing> {
  const person = await store.findPersonListing(database, userId)
  if (!person) throw new DomainError('not-found', 'There is no such person')
  return person
}

/**
 * Like `lockOwn`, but refuses the manager's own id, because people change their own factors and password elsewhere.
 * @throws as `lockOwn`; DomainError 'conflict' for the manager's own id
 */
function lockOther(transaction: Queryable, manager: Manager, userId: string): Promise<store.ManagedPerson> {
  if (userId === manager.userId) throw new DomainError('conflict', 'Nobody resets oneself')
  return lockOwn(transaction, manager, userId)
}

export type Link = { expiresAt: Date; link?: string }

/**
 * Creates a link to a new password. The link is mailed, or returned once when no mail can be sent.
 *
 * @throws DomainError 'not-found' for a person whom the manager does not manage; 'conflict' for the manager's own id, for a disabled
 *   person, and for somebody who has not accepted the invitation yet; 'too-many' when the manager's account has caused too many mails
 *   or changes
 */
export async function resetPassword(deps: PeopleDeps, manager: Manager, userId: string): Promise<Link> {
  const { mails } = deps
  await countChange(deps, manager, (await findOwn(deps.database, manager, userId)).owner)
  const token = makeSecret()
  return deps.database.transaction(async transaction => {
    // Lock the person's row. A manager who disables the person at the same time has to wait, and then ends this link,
    // too.
    const { owner, login, email, language, isDisabled } = await lockOther(transaction, manager, userId)
    if (isDisabled) throw new DomainError('conflict', 'The person is disabled; enable them first')
    const link = joinLink(deps, owner, token)
    const reset = { tokenHash: hashSecret(token), userId, madeBy: manager.userId, minutes: resetHours * 60 }
    const expiresAt = await store.replaceResets(transaction, reset)
    await recordManaged(transaction, manager, owner, { action: 'password.reset_link_made', object: userObject(userId) })
    if (email === null || !mails.canSend) return { expiresAt, link }
    await mails.countMail(ownerAccountOf(ownerOfAccount(manager.caller)))
    const mail = { kind: 'reset', login, link, expiresAt: expiresAt.toISOString() } as const
    await mails.queue(transaction, { userId, owner }, { to: email, language: language ?? defaultLanguage, mail })
    return { expiresAt }
  })
}

/**
 * Removes a person's second factors and ends the sessions. A person who had a second factor is notified.
 *
 * @throws DomainError 'not-found' for a person whom the manager does not manage; 'conflict' for the manager's own id, and for somebody
 *   who has not accepted the invitation yet
 */
export async function resetFactors(deps: PeopleDeps, manager: Manager, userId: string): Promise<void> {
  await deps.database.transaction(async transaction => {
    const { owner } = await lockOther(transaction, manager, userId)
    const hadFactor = await clearFactors(transaction, userId)
    const hadAccess = await endAccess(transaction, userId)
    const action = hadFactor ? 'mfa.removed' : hadAccess ? 'session.ended' : null
    if (action) await recordManaged(transaction, manager, owner, { action, object: userObject(userId) })
    const at = realNow().toISOString()
    if (hadFactor) await deps.mails.notifyPerson(transaction, userId, login => ({ kind: 'factors-removed', login, at }))
    await notify(transaction, 'access')
  })
}
