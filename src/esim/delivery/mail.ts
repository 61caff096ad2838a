/** The mailers of QR e-mails, except the one for a real mail server (`smtp-mailer.ts`). */
import { join } from 'node:path'
import { isDeliverable } from '../../mail/address.ts'
import type { MailOutcome } from '../../mail/delivery.ts'
import { writeMessage } from '../../mail/message.ts'
import { readSender } from '../../mail/sender.ts'
import { composeEsimMail, type EsimMail } from './mail-message.ts'

export type { EsimMail }

/** Sends the QR e-mail. `send` never throws. `close` waits for messages that are being sent and refuses later ones. */
export type Mailer = { send(message: EsimMail): Promise<MailOutcome>; close(): Promise<void> }

/**
 * The sandbox's mailer when no mail server is set. It writes each message as `<orderId>-<time>.eml` into `directory`,
 * which is made when missing. Only the owner can read the files, and the folder if it is made here.
 * @throws Error for an invalid sender
 */
export function createFileMailer(options: { directory: string; from: string }): Mailer {
  const sender = readSender(options.from)
  return {
    async send(message) {
      if (!isDeliverable(message.to)) return 'failed'
      // The name and the message's header Date contain the real time, and not the time of the sandbox's clock.
      const name = `${message.orderId}-${new Date().toISOString().replaceAll(/[:.]/g, '')}.eml`
      return writeMessage(join(options.directory, name.replaceAll(/[^\w.-]/g, '_')), () =>
        composeEsimMail(message, sender),
      )
    },
    async close() {},
  }
}

/**
 * The mailer in live mode when no mail server is set. It sends and stores nothing. It is needed because a bank may
 * switch to delivery by e-mail while the platform runs.
 */
export function createNoMailer(onMessage: () => void): Mailer {
  return {
    async send() {
      onMessage()
      return 'failed'
    },
    async close() {},
  }
}
