/**
 * Mails to the people of banks, merchants and the platform (contract/people.md, "Mails"). The change that a mail tells of puts it into a
 * queue, in one transaction with itself; a job sends it. What it says is sealed until then, as it may hold a link.
 */
import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../db/database.ts'
import type { MailOutcome } from '../../esim/delivery/mail.ts'
import { createSealer } from '../../sealing.ts'
import * as store from './mail-store.ts'

export type Language = 'uk' | 'en'
export const defaultLanguage: Language = 'uk'

/** What a mail tells; `link` leads to the platform's own page. Instants are ISO 8601. */
export type PeopleMail =
  | { kind: 'invitation'; login: string; account: string; link: string; expiresAt: string }
  | { kind: 'reset'; login: string; link: string; expiresAt: string }
  | { kind: 'factors-removed'; login: string }
  | { kind: 'recovery-code-used'; login: string; at: string }

export type Envelope = { to: string; language: Language; mail: PeopleMail }

/** Hands one mail over; never throws. @param mailId makes a doubled message one */
export type PeoplePost = (mailId: string, envelope: Envelope) => Promise<MailOutcome>

export type PeopleMails = {
  /** Whether mails can be sent at all: else nothing is queued, and links are told. */
  canSend: boolean
  /** Puts a mail to a person, or one invited, into the queue. */
  queue(transaction: Queryable, userId: string, envelope: Envelope): Promise<void>
  /** Tells a person something, where their address is known. */
  tell(transaction: Queryable, userId: string, mail: (login: string) => PeopleMail): Promise<void>
  /** Sends one mail that is due. @returns whether there was one */
  sendOne(database: Queryable): Promise<boolean>
}

const purpose = 'mail'
const tryAfterMinutes = [0, 1, 5, 30]
/** How long a try that was taken is left alone; after the last one there is none. */
const waitSeconds = [...tryAfterMinutes.slice(1), 30].map(minutes => minutes * 60)

/** @param options.post null: there is no mail server */
export function createPeopleMails(options: { masterKeys: readonly Buffer[]; post: PeoplePost | null }): PeopleMails {
  const sealer = createSealer(options.masterKeys, purpose)
  const { post } = options
  const queue: PeopleMails['queue'] = async (transaction, userId, envelope) => {
    if (!post) return
    const mailId = randomUUID()
    const sealed = sealer.seal(Buffer.from(JSON.stringify(envelope)), Buffer.from(mailId))
    await store.insertMail(transaction, { mailId, userId, sealed })
  }
  return {
    canSend: post !== null,
    queue,
    async tell(transaction, userId, mail) {
      const recipient = await store.findRecipient(transaction, userId)
      if (!recipient) return
      const { email, language, login } = recipient
      await queue(transaction, userId, { to: email, language: language ?? defaultLanguage, mail: mail(login) })
    },
    async sendOne(database) {
      const claimed = post && (await store.claimMail(database, waitSeconds))
      if (!claimed) return false
      const { mailId, sealed, tries } = claimed
      const envelope = JSON.parse(sealer.open(sealed, Buffer.from(mailId)).toString()) as Envelope
      const outcome = await post(mailId, envelope)
      // What may have arrived is not sent again.
      if (outcome !== 'failed') await store.noteMail(database, mailId, 'sent')
      else if (tries >= tryAfterMinutes.length) await store.noteMail(database, mailId, 'failed')
      return true
    },
  }
}

const resealedAtOnce = 500

/** Seals all mails anew under the first master key, so that the others can be taken away. */
export async function resealMails(database: Queryable, masterKeys: readonly Buffer[]): Promise<void> {
  const sealer = createSealer(masterKeys, purpose)
  for (let after: string | null = null; ; ) {
    const mails: Awaited<ReturnType<typeof store.listMails>> = await store.listMails(database, after, resealedAtOnce)
    for (const { mailId, sealed } of mails) {
      const data = Buffer.from(mailId)
      if (!sealer.isCurrent(sealed))
        await store.replaceSealed(database, mailId, sealer.seal(sealer.open(sealed, data), data))
    }
    after = mails.at(-1)?.mailId ?? null
    if (mails.length < resealedAtOnce) return
  }
}
