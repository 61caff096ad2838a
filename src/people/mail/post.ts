/** The ways to send mails to people. */
import { join } from 'node:path'
import type { Delivery } from '../../mail/delivery.ts'
import { writeMessage } from '../../mail/message.ts'
import { readSender } from '../../mail/sender.ts'
import type { PeoplePost } from './mails.ts'
import { composePeopleMail } from './message.ts'

/** For the sandbox: writes each message as `people-<mailId>.eml` into a folder. */
export function createFilePost(options: { directory: string; from: string }): PeoplePost {
  const { directory } = options
  const sender = readSender(options.from)
  return (mailId, envelope) =>
    writeMessage(join(directory, `people-${mailId}.eml`), () => composePeopleMail(envelope, { mailId, sender }))
}

/**
 * Sends through a mail server. nodemailer is loaded only when a server is configured, because it takes memory.
 *
 * @param options.log gets a record of each attempt, without the address and the content
 * @returns `post`, which sends a mail, and `close`, which waits for the running attempts
 */
export async function createServerPost(options: {
  smtpUrl: string
  from: string
  timeoutMs: number
  log: (event: Delivery & { mailId: string }) => void
}): Promise<{ post: PeoplePost; close(): Promise<void> }> {
  const { createSmtpPost } = await import('../../mail/post.ts')
  const server = createSmtpPost(options)
  return {
    async post(mailId, envelope) {
      const delivery = await server.hand(envelope.to, sender => composePeopleMail(envelope, { mailId, sender }))
      options.log({ ...delivery, mailId })
      return delivery.outcome
    },
    close: server.close,
  }
}
