/** The mailers of QR e-mails, except the one for a real mail server (`smtp-mailer.ts`). */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isEmailAddress } from './email-address.ts'
import { composeEsimMail, type EsimMail, readSender } from './mail-message.ts'

export type { EsimMail }

/**
 * The outcome of sending. After `failed`, sending may be tried again. After `unknown` it may not, because the message
 * may have arrived (contract/esim.md, "The e-mail").
 */
export type MailOutcome = 'sent' | 'failed' | 'unknown'

/** Sends the QR e-mail. `send` never throws. `close` waits for messages that are being sent and refuses later ones. */
export type Mailer = { send(message: EsimMail): Promise<MailOutcome>; close(): Promise<void> }

/**
 * The sandbox's mailer when no mail server is set. It writes each message as `<orderId>-<time>.eml` into `directory`,
 * which is made when missing. Only the owner can read the folder and its files.
 * @throws Error for an invalid sender
 */
export function createFileMailer(options: { directory: string; from: string }): Mailer {
  const sender = readSender(options.from)
  return {
    async send(message) {
      if (!isDeliverable(message.to)) return 'failed'
      // The name contains the real time, and so does the header Date of the message. Neither follows the sandbox's clock.
      const name = `${message.orderId}-${new Date().toISOString().replaceAll(/[:.]/g, '')}.eml`
      return writeMessage(join(options.directory, name.replaceAll(/[^\w.-]/g, '_')), () =>
        composeEsimMail(message, sender),
      )
    },
    async close() {},
  }
}

/** Writes a message into a folder, which is made when missing. Only the owner can read both. Never throws. */
export async function writeMessage(file: string, compose: () => Promise<Buffer>): Promise<MailOutcome> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, await compose(), { mode: 0o600, flag: 'wx' })
    return 'sent'
  } catch (error) {
    // On a full disk only a part of the message was written. Remove it, so that nobody takes it for the whole message.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true }).catch(() => {})
    return 'failed'
  }
}

/**
 * The mailer in live mode when no mail server is set. It sends and stores nothing. Such a mailer is needed because a
 * bank may switch to delivery by e-mail while the platform runs.
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

/**
 * Whether the SMTP client can send to an address. A quoted local part may contain angle brackets, but the client cannot
 * send them.
 */
export function isDeliverable(address: string): boolean {
  return isEmailAddress(address) && !/[<>]/.test(address)
}
