/** Background jobs: send mails, answer requests for new passwords, delete what has expired. */
import { forgetEndedAccess } from '../access/ended-token-store.ts'
import { forgetLoginTraces } from '../access/login-store.ts'
import { forgetSessions } from '../access/sessions/session-store.ts'
import { forgetMails } from './mail/mail-store.ts'
import type { PeopleDeps } from './managers.ts'
import { answerResetRequests } from './passwords.ts'
import { forgetLinks } from './users-store.ts'

/** Sends one due mail. @returns whether there may be more */
export async function sendMails({ database, mails }: PeopleDeps): Promise<boolean> {
  return mails.sendOne(database)
}

export { answerResetRequests }

/**
 * Deletes some expired sessions, links and mails, and old data of logins and of ended access.
 * @returns whether there may be more
 */
export async function forgetPeople({ database }: PeopleDeps): Promise<boolean> {
  const more = [
    await forgetSessions(database),
    await forgetLoginTraces(database),
    await forgetLinks(database),
    await forgetMails(database),
    await forgetEndedAccess(database),
  ]
  return more.includes(true)
}
