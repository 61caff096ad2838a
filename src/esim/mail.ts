import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isEmailAddress } from './email-address.ts'
import { composeEsimMail, type EsimMail, readSender } from './mail-message.ts'
import { readSmtpUrl } from './mail-server.ts'
import { type Delivery, deliver } from './smtp-delivery.ts'

export type { EsimMail }

/** `failed` may be tried again, `unknown` may not: the message may have arrived (behaviour 4). */
export type MailOutcome = 'sent' | 'failed' | 'unknown'

/** Sends the QR e-mail. `send` never throws; `close` waits for what is under way and refuses what comes later. */
export type Mailer = { send(message: EsimMail): Promise<MailOutcome>; close(): Promise<void> }

/** What a mailer tells of each attempt: no address, no activation code, nothing that the mail server said but its code. */
export type MailEvent = Delivery & { orderId: string }

const notConnected: Delivery = { outcome: 'failed', command: 'CONN', responseCode: undefined, errorCode: undefined }

/**
 * A mailer that hands each message to the mail server at `smtpUrl` (see `readSmtpUrl`), on a connection of its own, and
 * answers within `timeoutMs` whatever that server does. Throws an Error for a URL or a sender that cannot be used.
 */
export function createSmtpMailer(options: {
  smtpUrl: string
  from: string
  timeoutMs: number
  log: (event: MailEvent) => void
}): Mailer {
  const server = readSmtpUrl(options.smtpUrl)
  const sender = readSender(options.from)
  const underWay = new Set<Promise<Delivery>>()
  let closed = false

  async function attempt(message: EsimMail): Promise<Delivery> {
    if (closed) return { ...notConnected, errorCode: 'ECLOSED' }
    if (!isDeliverable(message.to)) return { ...notConnected, errorCode: 'EADDRESS' }
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), options.timeoutMs)
    try {
      const content = await composeEsimMail(message, sender)
      return await deliver(server, { from: sender.address, to: message.to }, content, deadline.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async send(message) {
      const attempted = attempt(message).catch(() => ({ ...notConnected, errorCode: 'ECOMPOSE' }))
      underWay.add(attempted)
      const delivery = await attempted
      underWay.delete(attempted)
      options.log({ ...delivery, orderId: message.orderId })
      return delivery.outcome
    },
    async close() {
      closed = true
      await Promise.all(underWay)
    },
  }
}

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
      const file = join(options.directory, name.replaceAll(/[^\w.-]/g, '_'))
      try {
        await mkdir(options.directory, { recursive: true, mode: 0o700 })
        await writeFile(file, await composeEsimMail(message, sender), { mode: 0o600, flag: 'wx' })
        return 'sent'
      } catch {
        return 'failed'
      }
    },
    async close() {},
  }
}

/** Angle brackets are allowed in a quoted local part, but the SMTP client cannot carry them. */
function isDeliverable(address: string): boolean {
  return isEmailAddress(address) && !/[<>]/.test(address)
}
