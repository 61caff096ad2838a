/** How people end their sessions, in all processes (contract/people.md, "Sessions"). */

import type { Database } from '../../db/database.ts'
import { notify } from '../../db/notifications.ts'
import { DomainError } from '../../errors.ts'
import { recordEntries } from '../../outbox/audit-entry-writing.ts'
import type { Origin } from '../../outbox/origin.ts'
import { endSessions } from './session-store.ts'

type SessionDeps = { database: Database; origin: Origin }

const ended = (id: string | null) => ({ action: 'session.ended', object: { type: 'session', id } })

/** Ends one session of a person. @throws DomainError 'not-found' when the person has no such live session */
export async function endOneSession(
  { database, origin }: SessionDeps,
  userId: string,
  sessionId: string,
): Promise<void> {
  await database.transaction(async transaction => {
    if ((await endSessions(transaction, userId, { only: sessionId })) === 0)
      throw new DomainError('not-found', 'You have no such live session')
    await recordEntries(transaction, origin, [ended(sessionId)])
    await notify(transaction, 'access')
  })
}

/** Ends all sessions of a person but this one. */
export async function endOtherSessions(
  { database, origin }: SessionDeps,
  userId: string,
  sessionId: string,
): Promise<void> {
  await database.transaction(async transaction => {
    const count = await endSessions(transaction, userId, { except: sessionId })
    if (count > 0) await recordEntries(transaction, origin, [{ ...ended(null), change: { sessions: [count, 0] } }])
    await notify(transaction, 'access')
  })
}
