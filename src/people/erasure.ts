/** Erases a person for good (contract/people.md, "Erasing a person"). This cannot be undone. */
import { forgetFailures } from '../access/login-store.ts'
import { type ChangeDeps, ownerAccountOf } from '../access/operations.ts'
import { findUser, lockUser } from '../access/user-store.ts'
import type { Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { DomainError } from '../errors.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import { operatorOrigin } from '../outbox/origin.ts'
import { type Manager, type PeopleDeps, recordManaged, userObject } from './managers.ts'
import { lockOwn } from './users.ts'
import { deletePerson, findManaged, type ManagedPerson } from './users-store.ts'

/**
 * Erases a disabled person of an account.
 *
 * @throws DomainError 'not-found' for a person whom the manager does not manage, 'conflict' for one who is not disabled
 */
export async function erasePerson({ database }: PeopleDeps, manager: Manager, userId: string): Promise<void> {
  await database.transaction(async transaction => {
    await lockOwn(transaction, manager, userId)
    const { owner } = await erase(transaction, userId)
    await recordManaged(transaction, manager, owner, erased(userId))
  })
}

/**
 * Erases a disabled person for the operator.
 * @throws DomainError 'not-found' when nobody has the login; 'conflict' for a person who is not disabled
 */
export async function eraseUser({ database, origin = operatorOrigin() }: ChangeDeps, login: string): Promise<void> {
  await database.transaction(async transaction => {
    const found = await findUser(transaction, { login })
    if (!found) throw new DomainError('not-found', `No user has the login ${login}`)
    const { owner } = await erase(transaction, found.userId)
    await recordEntries(transaction, origin, [{ ...erased(found.userId), owner: ownerAccountOf(owner) }])
  })
}

const erased = (userId: string): Pick<Fact, 'action' | 'object'> => ({
  action: 'user.erased',
  object: userObject(userId),
})

/**
 * Deletes all data that names the person. Only a disabled person can be erased, so that no active person is erased by
 * mistake. Disabling has already ended all access. Managers cannot disable the last manager of an account; the operator can.
 */
async function erase(transaction: Queryable, userId: string): Promise<ManagedPerson> {
  await lockUser(transaction, userId)
  const person = await findManaged(transaction, userId)
  if (!person) throw new DomainError('not-found', 'There is no such person')
  if (!person.isDisabled) throw new DomainError('conflict', 'Only a disabled person can be erased; disable them first')
  await deletePerson(transaction, userId)
  await forgetFailures(transaction, person.login)
  await notify(transaction, 'access')
  return person
}
