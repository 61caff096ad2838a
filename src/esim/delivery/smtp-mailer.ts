/** The mailer for a real mail server. Loaded only where one is set: nodemailer takes its share of memory. */
import { isDeliverable, type Mailer } from './mail.ts'
import { composeEsimMail, type EsimMail, readSender } from './mail-message.ts'
import { readSmtpUrl } from './mail-server.ts'
import { type Delivery, deliver } from './smtp-delivery.ts'

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
