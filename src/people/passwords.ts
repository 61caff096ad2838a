/** Changing a known password and replacing a forgotten one (contract/people.md, "Passwords"). */

import { endChallenges } from '../access/factors/factor-store.ts'
import type { Actor } from '../access/factors/factors.ts'
import { ownerAccountOf } from '../access/operations.ts'
import { ownerOfAccount } from '../access/owners.ts'
import { requirePassword } from '../access/passwords/password-rules.ts'
import type { Proofs } from '../access/proofs.ts'
import { hashPassword, hashSecret, makeSecret, passwordMatches } from '../access/secrets.ts'
import { endSessions } from '../access/sessions/session-store.ts'
import { deleteResets, findNamesOf, findUser } from '../access/user-store.ts'
import type { Database } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { clockOrigin, type Origin } from '../outbox/origin.ts'
import { defaultLanguage } from './mail/mails.ts'
import { joinLink, type PeopleDeps, userObject } from './managers.ts'
import * as resetStore from './reset-store.ts'
import { replacePassword, replaceResets } from './users-store.ts'

type ChangeDeps = Pick<PeopleDeps, 'database' | 'mails'> & { proofs: Proofs; origin: Origin }

/**
 * Changes the caller's own password and notifies the person by mail. Ends the caller's other sessions and links.
 *
 * @throws DomainError 'invalid' for a wrong current password or a refused new one, 'too-many' after too many wrong
 *   passwords or too many changes, 'conflict' when the password was changed at the same moment
 */
export async function changePassword(
  { database, proofs, mails, origin }: ChangeDeps,
  actor: Actor,
  input: { current: string; password: string },
): Promise<void> {
  const { userId, sessionId } = actor
  const person = await findUser(database, { userId })
  if (!person) throw new DomainError('unauthenticated', 'This account is not there any more')
  const { account, login, passwordHash: before } = person
  if (!(await proofs.guard(actor, 'password', () => passwordMatches(input.current, before))))
    throw new DomainError('invalid', [broken('current', 'present-password')])
  requirePassword('password', input.password, await findNamesOf(database, ownerOfAccount(account), login))
  await mails.countOwnChange(userId)
  const after = await hashPassword(input.password)
  await database.transaction(async transaction => {
    if (!(await replacePassword(transaction, userId, { before, after })))
      throw new DomainError('conflict', 'The password was changed at this moment')
    await recordEntries(transaction, origin, [{ action: 'password.changed', object: userObject(userId) }])
    await endChallenges(transaction, userId)
    await deleteResets(transaction, userId)
    await mails.notifyChange(transaction, userId, 'password')
    await endSessions(transaction, userId, { except: sessionId })
    await notify(transaction, 'access')
  })
}

const forgottenMinutes = 30
const maxMailsPerHour = 3
const requestsAtOnce = 20

/**
 * Stores a request for a new password. The function does the same for every login, so that nobody learns which logins
 * exist.
 *
 * @param deps.admitsStaff whether requests of the platform's own people are accepted at this port; if not, they are dropped
 */
export async function requestReset(
  { database, admitsStaff }: { database: Database; admitsStaff: boolean },
  request: resetStore.ResetRequest,
): Promise<void> {
  if (request.accountType === 'platform' && !admitsStaff) return
  await resetStore.insertRequest(database, request)
}

/**
 * Processes some requests for new passwords: mails a link to each person who has an address. @returns whether there
 * may be more
 */
export function answerResetRequests(deps: PeopleDeps): Promise<boolean> {
  const { database, mails } = deps
  return database.transaction(async transaction => {
    const requests = await resetStore.takeRequests(transaction, requestsAtOnce)
    for (const { isLate, ...request } of requests) {
      if (isLate || !mails.canSend) continue
      const recipient = await resetStore.findForgetful(transaction, request)
      if (!recipient || !(await resetStore.countResetMail(transaction, recipient.userId, maxMailsPerHour))) continue
      const { userId, owner, login, email, language } = recipient
      const token = makeSecret()
      const reset = { tokenHash: hashSecret(token), userId, madeBy: null, minutes: forgottenMinutes }
      const expiresAt = (await replaceResets(transaction, reset)).toISOString()
      await recordEntries(transaction, clockOrigin, [
        { action: 'password.reset_link_made', object: userObject(userId), owner: ownerAccountOf(owner) },
      ])
      const mail = { kind: 'reset', login, link: joinLink(deps, owner, token), expiresAt } as const
      await mails.queue(transaction, { userId, owner }, { to: email, language: language ?? defaultLanguage, mail })
    }
    return requests.length === requestsAtOnce
  })
}
