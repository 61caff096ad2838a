/**
 * Invitations, and accepting a link: it creates a person or sets a new password (contract/people.md, "Invitations and
 * links").
 */
import { randomUUID } from 'node:crypto'
import { endAccess, insertPerson, ownerAccountOf, requireRole } from '../access/operations.ts'
import { type AccountOwner, ownerId, ownerOfAccount } from '../access/owners.ts'
import { requirePassword } from '../access/passwords/password-rules.ts'
import { hashPassword, hashSecret, makeSecret } from '../access/secrets.ts'
import type { LinkConflicts } from '../access/throttle.ts'
import { findNamesOf, lockUser } from '../access/user-store.ts'
import type { Trace } from '../caller.ts'
import { notify } from '../db/notifications.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import { defaultLanguage } from './mail/mails.ts'
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
import type { Link } from './users.ts'
import * as store from './users-store.ts'

export const invitationHours = 72
/** The maximum number of pending invitations of an account. */
export const maxInvitations = 1_000
/** The maximum number of people of an account, including disabled and invited ones. Their list has no pages. The operator may add more. */
const maxPeople = 5_000

/**
 * Invites a person. Whether the login is free is checked only when the invitation is accepted.
 *
 * @returns the link when no mail can be sent; it is not shown again
 * @throws DomainError 'invalid' for a role that the account does not have, or a wrong address; 'conflict' when a person of
 *   this account has the login, or is invited with it; 'limit-reached' when the account has `maxInvitations` pending
 *   invitations or `maxPeople` people; 'too-many' when the manager's account has caused too many mails or changes of
 *   settings
 */
export async function invite(
  deps: PeopleDeps,
  manager: Manager,
  { owner, login, email, role }: { owner: AccountOwner; login: string; email: string | null; role: string },
): Promise<Link & { invitationId: string }> {
  requireRole(owner, role)
  requireAddress(email)
  await countChange(deps, manager, owner)
  const { mails } = deps
  const token = makeSecret()
  const link = joinLink(deps, owner, token)
  const [invitationId, userId] = [randomUUID(), randomUUID()]
  return deps.database.transaction(async transaction => {
    await beginChange(transaction, manager, owner)
    if (await store.hasLogin(transaction, owner, login))
      throw new DomainError('conflict', [broken('login', 'login-taken', { login })])
    if (await store.isInvited(transaction, owner, login))
      throw new DomainError('conflict', [broken('login', 'login-invited', { login })])
    const waiting = await store.countInvitations(transaction, owner)
    if (waiting >= maxInvitations)
      throw new DomainError('limit-reached', `At most ${maxInvitations} invitations of an account wait at a time`)
    if (waiting + (await store.countPeople(transaction, owner)) >= maxPeople)
      throw new DomainError('limit-reached', `An account has at most ${maxPeople} people, with those who are invited`)
    const expiresAt = await store.insertInvitation(transaction, {
      invitationId,
      userId,
      owner,
      login,
      email,
      role,
      invitedBy: manager.userId,
      tokenHash: hashSecret(token),
      hours: invitationHours,
    })
    await recordManaged(transaction, manager, owner, {
      action: 'invitation.made',
      object: invitation(invitationId),
      change: { role: [null, role], user: [null, userId] },
    })
    if (email === null || !mails.canSend) return { invitationId, expiresAt, link }
    await mails.countMail(ownerAccountOf(ownerOfAccount(manager.caller)))
    const account = await store.findAccountName(transaction, owner)
    const inviter = await store.findManaged(transaction, manager.userId)
    const mail = { kind: 'invitation', login, account, link, expiresAt: expiresAt.toISOString() } as const
    await mails.queue(
      transaction,
      { userId, owner },
      { to: email, language: inviter?.language ?? defaultLanguage, mail },
    )
    return { invitationId, expiresAt }
  })
}

/**
 * Withdraws an invitation.
 *
 * @throws DomainError 'not-found' when the invitation does not exist, was accepted, or belongs to an account that the
 *   manager does not manage
 */
export async function withdrawInvitation(deps: PeopleDeps, manager: Manager, invitationId: string): Promise<void> {
  const owner = await store.findInvitationOwner(deps.database, invitationId)
  const notThere = () => new DomainError('not-found', 'There is no such invitation')
  if (owner === null || !manages(manager, owner)) throw notThere()
  await deps.database.transaction(async transaction => {
    await beginChange(transaction, manager, owner)
    if (!(await store.deleteInvitation(transaction, invitationId))) throw notThere()
    const fact = { action: 'invitation.withdrawn', object: invitation(invitationId) }
    await recordManaged(transaction, manager, owner, fact)
  })
}

const invitation = (id: string) => ({ type: 'invitation', id })

const wrongLink = () => new DomainError('invalid', 'The link is wrong, was used, or is over')

export type Joined = { typeAccount: 'bank' | 'retailer' | 'platform'; login: string }

/**
 * Accepts a link. An invitation creates the person. A reset sets the password, ends all sessions and keeps the second
 * factor.
 *
 * @param deps.admitsStaff whether links of the platform's own people are accepted at this port
 * @param input.login a different login, in case the invitation's login is taken
 * @throws DomainError 'invalid', always with the same text, for a wrong, used or expired link; 'invalid' for a
 *   refused password; 'conflict' when the login is taken: the link then stays valid; 'too-many' after too many conflicts
 */
export async function acceptLink(
  deps: PeopleDeps & { linkConflicts: LinkConflicts; admitsStaff: boolean; trace?: Trace },
  input: { token: string; password: string; login?: string },
): Promise<Joined> {
  const target = await store.findLink(deps.database, hashSecret(input.token))
  if (!target || (target.owner === 'platform' && !deps.admitsStaff)) throw wrongLink()
  const login = (target.kind === 'invitation' && input.login) || target.login
  requirePassword('password', input.password, await findNamesOf(deps.database, target.owner, login))
  const take = () => takeLink(deps, target, { ...input, login })
  if (target.kind !== 'invitation') await take()
  else {
    const { invitationId, owner } = target
    await deps.linkConflicts.guard({ invitationId, accountId: ownerId(owner) ?? 'platform' }, take)
  }
  return { typeAccount: typeOf(target.owner), login }
}

/** Uses up a link. @throws DomainError as `acceptLink` */
async function takeLink(
  deps: PeopleDeps & { trace?: Trace },
  target: store.LinkTarget,
  { token, password, login }: { token: string; password: string; login: string },
): Promise<void> {
  const tokenHash = hashSecret(token)
  const passwordHash = await hashPassword(password)
  await deps.database.transaction(async transaction => {
    if (target.kind === 'invitation') {
      if (!(await store.takeInvitation(transaction, tokenHash))) throw wrongLink()
      await insertPerson(transaction, { ...target, login, passwordHash })
    } else {
      await lockUser(transaction, target.userId)
      if (!(await store.takeReset(transaction, tokenHash))) throw wrongLink()
      if (!(await store.replacePassword(transaction, target.userId, { before: null, after: passwordHash })))
        throw wrongLink()
      await endAccess(transaction, target.userId)
      await deps.mails.notifyChange(transaction, target.userId, 'password')
    }
    await recordEntries(transaction, personOrigin(target, deps.trace), [factOf(target)])
    await notify(transaction, 'access')
  })
}

/**
 * Returns the audit entry about an accepted link. The entry about a new person contains the id of the invitation, and
 * the entry `invitation.made` contains the id of the person.
 */
function factOf(target: store.LinkTarget): Fact {
  const object = userObject(target.userId)
  if (target.kind === 'reset') return { action: 'password.reset', object }
  const { role, invitationId } = target
  return { action: 'invitation.accepted', object, change: { role: [null, role], invitation: [null, invitationId] } }
}

/** The origin of an accepted link, for the audit log. Whoever has the link acts as the person. */
function personOrigin({ owner, userId }: { owner: AccountOwner; userId: string }, trace?: Trace): Origin {
  return { ...operatorOrigin(trace ?? null), account: ownerAccountOf(owner), actor: { type: 'person', id: userId } }
}

const typeOf = (owner: AccountOwner): Joined['typeAccount'] =>
  owner === 'platform' ? 'platform' : 'bankId' in owner ? 'bank' : 'retailer'
