/** How mails to people leave the platform. */
import { join } from 'node:path'
import { writeMessage } from '../../esim/delivery/mail.ts'
import { readSender } from '../../esim/delivery/mail-message.ts'
import type { Delivery } from '../../esim/delivery/smtp-delivery.ts'
import type { PeoplePost } from './mails.ts'
import { composePeopleMail } from './message.ts'

/** The sandbox's: each message as `people-<mailId>.eml` in a folder. */
export function createFilePost(options: { directory: string; from: string; publicUrl: string }): PeoplePost {
  const { directory, publicUrl } = options
  const sender = readSender(options.from)
  return (mailId, envelope) =>
    writeMessage(join(directory, `people-${mailId}.eml`), () =>
      composePeopleMail(envelope, { mailId, sender, publicUrl }),
    )
}

/**
 * By a mail server. Loaded only where one is set: nodemailer takes its share of memory.
 *
 * @param options.log told of each attempt: no address, nothing of what the mail says
 * @returns the post, and what waits for the attempts under way
 */
export async function createServerPost(options: {
  smtpUrl: string
  from: string
  publicUrl: string
  timeoutMs: number
  log: (event: Delivery & { mailId: string }) => void
}): Promise<{ post: PeoplePost; close(): Promise<void> }> {
  const { createSmtpPost } = await import('../../esim/delivery/smtp-mailer.ts')
  const server = createSmtpPost(options)
  return {
    async post(mailId, envelope) {
      const { publicUrl } = options
      const delivery = await server.hand(envelope.to, sender =>
        composePeopleMail(envelope, { mailId, sender, publicUrl }),
      )
      options.log({ ...delivery, mailId })
      return delivery.outcome
    },
    close: server.close,
  }
}
