/** Sends messages through a mail server. It is loaded only when a mail server is set, because nodemailer needs much memory. */
import { isDeliverable } from './address.ts'
import { type Delivery, deliver } from './delivery.ts'
import { readSender, type Sender } from './sender.ts'
import { readSmtpUrl } from './server.ts'

const notConnected: Delivery = { outcome: 'failed', command: 'CONN', responseCode: undefined, errorCode: undefined }

/** Hands messages to a mail server, each over a separate connection. */
export type SmtpPost = {
  sender: Sender
  /**
   * Sends one message and never throws.
   * @param compose makes the message; called only if the address is valid
   */
  hand(to: string, compose: (sender: Sender) => Promise<Buffer>): Promise<Delivery>
  /** Waits for messages that are being sent and refuses later ones. */
  close(): Promise<void>
}

/**
 * Sends through the mail server at `smtpUrl` (see `readSmtpUrl`). Each message takes at most `timeoutMs`.
 * @throws Error for an invalid URL or sender
 */
export function createSmtpPost(options: { smtpUrl: string; from: string; timeoutMs: number }): SmtpPost {
  const server = readSmtpUrl(options.smtpUrl)
  const sender = readSender(options.from)
  const underWay = new Set<Promise<Delivery>>()
  let closed = false

  async function attempt(to: string, compose: (sender: Sender) => Promise<Buffer>): Promise<Delivery> {
    if (closed) return { ...notConnected, errorCode: 'ECLOSED' }
    if (!isDeliverable(to)) return { ...notConnected, errorCode: 'EADDRESS' }
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), options.timeoutMs)
    let content: Buffer | undefined
    try {
      content = await compose(sender)
      return await deliver(server, { from: sender.address, to }, content, deadline.signal)
    } catch {
      if (!content) return { ...notConnected, errorCode: 'ECOMPOSE' }
      // After an unexpected error we do not know whether the message arrived.
      return { ...notConnected, outcome: 'unknown', errorCode: 'EDELIVER' }
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    sender,
    async hand(to, compose) {
      const attempted = attempt(to, compose)
      underWay.add(attempted)
      const delivery = await attempted
      underWay.delete(attempted)
      return delivery
    },
    async close() {
      closed = true
      await Promise.all(underWay)
    },
  }
}
