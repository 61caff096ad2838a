import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isEmailAddress } from './email-address.ts'
import { composeEsimMail, type EsimMail, readSender } from './mail-message.ts'

export type { EsimMail }

/** `failed` may be tried again, `unknown` may not: the message may have arrived (behaviour 4). */
export type MailOutcome = 'sent' | 'failed' | 'unknown'

/** Sends the QR e-mail. `send` never throws; `close` waits for what is under way and refuses what comes later. */
export type Mailer = { send(message: EsimMail): Promise<MailOutcome>; close(): Promise<void> }

/**
 * The sandbox's mailer where no mail server is set: writes each message as `<orderId>-<time>.eml` into `directory`, which
 * is made when missing, both readable by their owner alone. Throws an Error for a sender that cannot be used.
 */
export function createFileMailer(options: { directory: string; from: string }): Mailer {
  const sender = readSender(options.from)
  return {
    async send(message) {
      if (!isDeliverable(message.to)) return 'failed'
      // Real time, as in the message's own Date: a mail server does not know the sandbox's clock either.
      const name = `${message.orderId}-${new Date().toISOString().replaceAll(/[:.]/g, '')}.eml`
      return writeMessage(join(options.directory, name.replaceAll(/[^\w.-]/g, '_')), () =>
        composeEsimMail(message, sender),
      )
    },
    async close() {},
  }
}

/** Writes a message into a folder, which is made when missing, both readable by their owner alone. Never throws. */
export async function writeMessage(file: string, compose: () => Promise<Buffer>): Promise<MailOutcome> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, await compose(), { mode: 0o600, flag: 'wx' })
    return 'sent'
  } catch (error) {
    // On a full disk a piece of the message is there: nobody is to take it for the message.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true }).catch(() => {})
    return 'failed'
  }
}

/** Where no mail server is set in live mode: a bank may come to deliver by e-mail while the platform serves. Nothing is kept. */
export function createNoMailer(onMessage: () => void): Mailer {
  return {
    async send() {
      onMessage()
      return 'failed'
    },
    async close() {},
  }
}

/** Angle brackets are allowed in a quoted local part, but the SMTP client cannot carry them. */
export function isDeliverable(address: string): boolean {
  return isEmailAddress(address) && !/[<>]/.test(address)
}
