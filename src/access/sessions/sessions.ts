/** How people end their sessions, in all processes (contract/people.md, "Sessions"). */
import type { Database } from '../../db/database.ts'
import { notify } from '../../db/notifications.ts'
import { DomainError } from '../../errors.ts'
import { endSessions } from './session-store.ts'

/** @throws DomainError 'not-found' when the person has no such live session */
export async function endOneSession(database: Database, userId: string, sessionId: string): Promise<void> {
  await database.transaction(async transaction => {
    if ((await endSessions(transaction, userId, { only: sessionId })) === 0)
      throw new DomainError('not-found', 'You have no such live session')
    await notify(transaction, 'access')
  })
}

/** Ends all sessions of a person but this one. */
export async function endOtherSessions(database: Database, userId: string, sessionId: string): Promise<void> {
  await database.transaction(async transaction => {
    await endSessions(transaction, userId, { except: sessionId })
    await notify(transaction, 'access')
  })
}
