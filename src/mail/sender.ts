/** Reads the sender of e-mails from its setting. */
import addressparser from 'nodemailer/lib/addressparser'
import { isDeliverable } from './address.ts'

/** The sender of e-mails; `name` is empty when there is none. */
export type Sender = { name: string; address: string }

/**
 * Reads a sender from a setting: `no-reply@bank.example` or `Name <no-reply@bank.example>`.
 * @throws Error when it is not exactly one ASCII address
 */
export function readSender(from: string): Sender {
  const [sender, ...others] = addressparser(from, { flatten: true })
  if (!sender || others.length > 0 || !isDeliverable(sender.address)) {
    throw new Error('The sender of e-mails must be one address, with or without a name')
  }
  return { name: sender.name, address: sender.address }
}
