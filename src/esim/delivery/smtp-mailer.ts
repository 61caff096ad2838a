/** The mailer of QR e-mails for a real mail server. It is loaded only when a mail server is set (see `mail/post.ts`). */
import type { Delivery } from '../../mail/delivery.ts'
import { createSmtpPost } from '../../mail/post.ts'
import type { Mailer } from './mail.ts'
import { composeEsimMail } from './mail-message.ts'

/** The report of one attempt. It has no address, no activation code, and only the code of the server's reply. */
export type MailEvent = Delivery & { orderId: string }

/** The mailer of QR e-mails for a mail server, based on `createSmtpPost`. */
export function createSmtpMailer(options: {
  smtpUrl: string
  from: string
  timeoutMs: number
  log: (event: MailEvent) => void
}): Mailer {
  const post = createSmtpPost(options)
  return {
    async send(message) {
      const delivery = await post.hand(message.to, sender => composeEsimMail(message, sender))
      options.log({ ...delivery, orderId: message.orderId })
      return delivery.outcome
    },
    close: post.close,
  }
}
