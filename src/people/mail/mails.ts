/**
 * Mails to the people of banks, merchants and the platform (contract/people.md, "Mails"). A change queues its mail in
 * its own transaction, and a job sends it. The content is encrypted in the queue because it may hold a link.
 */
import { randomUUID } from 'node:crypto'
import type { AccountOwner } from '../../access/owners.ts'
import { realNow } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import type { MailOutcome } from '../../mail/delivery.ts'
import type { RecordedAccount } from '../../outbox/rows.ts'
import { createSealer } from '../../sealing.ts'
import { countIn } from '../../work/counting.ts'
import type { createLocalCounter } from '../../work/local-counter.ts'
import { persist } from '../../work/persist.ts'
import { type Addresses, addressFor } from '../addresses.ts'
import * as store from './mail-store.ts'

export type Language = 'uk' | 'en'
export const defaultLanguage: Language = 'uk'

/**
 * What a mail is about. `link` is an address of the platform itself. Instants are ISO 8601. Mails about removed factors
 * have no `at` if an earlier version of the program queued them.
 */
export type PeopleMail =
  | { kind: 'invitation'; login: string; account: string; link: string; expiresAt: string }
  | { kind: 'reset'; login: string; link: string; expiresAt: string }
  | { kind: 'factors-removed'; login: string; at?: string }
  | { kind: 'recovery-code-used'; login: string; at: string }
  | { kind: 'changed'; what: Changed; login: string; at: string }

/** Which part of a person's access the person or a manager has changed. */
export type Changed = 'password' | 'email' | 'enabled' | 'factor-added' | 'factor-removed' | 'recovery-codes'

/** @property host the host name at which the recipient reaches the platform */
export type Envelope = { to: string; language: Language; mail: PeopleMail; host: string }

/** Sends one mail; never throws. @param mailId becomes the message id, so that a mail sent twice can be recognised */
export type PeoplePost = (mailId: string, envelope: Envelope) => Promise<MailOutcome>

export type PeopleMails = {
  /** Whether mails can be sent. If not, nothing is queued and the links are shown to the manager instead. */
  canSend: boolean
  /** Queues a mail to a person or to somebody who is invited. */
  queue(
    transaction: Queryable,
    person: { userId: string; owner: AccountOwner },
    envelope: Omit<Envelope, 'host'>,
  ): Promise<void>
  /** Queues a mail to a person if the address is known. */
  notifyPerson(transaction: Queryable, userId: string, mail: (login: string) => PeopleMail): Promise<void>
  /** Queues a mail about a change of a person's access if the address is known. */
  notifyChange(transaction: Queryable, userId: string, what: Changed): Promise<void>
  /**
   * Counts a change that a person makes to their own access, even if the person has no mail address. Without this
   * limit, the person could repeat the change at will. Each change writes an audit entry and a mail, perhaps to a
   * stranger's address. Beyond the limit the change itself fails, because no change may be made without its mail. If
   * possible, call this before the change's transaction, because it may call Redis.
   *
   * @throws DomainError 'too-many' beyond 20 within an hour
   */
  countOwnChange(userId: string): Promise<void>
  /**
   * Counts a mail that a manager has caused: a link, or a notice about a change that the manager made. All accounts
   * share one queue, so no account may fill it. The limit also keeps a manager from flooding strangers with our mails.
   *
   * @param account the account of the manager
   * @throws DomainError 'too-many' beyond 1,000 within an hour
   */
  countMail(account: RecordedAccount): Promise<void>
  /**
   * Sends one due mail.
   *
   * @returns whether there was one
   * @throws Error when the mail cannot be decrypted. It is then tried again like a mail that could not be sent
   */
  sendOne(database: Queryable): Promise<boolean>
}

const purpose = 'mail'
const tryAfterMinutes = [0, 1, 5, 30]
/** How long a process tries to store the outcome of an attempt. Without it, the mail is sent again. */
const notingMs = 10_000
/** The wait after each of the four attempts. The last one is used only if the outcome of the fourth was not stored. */
const waitSeconds = [...tryAfterMinutes.slice(1), 30].map(minutes => minutes * 60)

const mailsPerHour = 1_000
const ownChangesPerHour = 20

/**
 * @param options.post null: no mail server is configured
 * @param options.addresses the addresses of the platform. A mail names the one that its recipient uses
 * @param options.counter makes a counter that all processes share
 */
export function createPeopleMails(options: {
  masterKeys: readonly Buffer[]
  post: PeoplePost | null
  addresses: Addresses
  counter: typeof createLocalCounter
}): PeopleMails {
  const sealer = createSealer(options.masterKeys, purpose)
  const { post } = options
  const counted = options.counter('mailed-links', mailsPerHour, 3_600)
  const ownChanges = options.counter('mailed-changes', ownChangesPerHour, 3_600)
  const queue: PeopleMails['queue'] = async (transaction, { userId, owner }, content) => {
    if (!post) return
    const mailId = randomUUID()
    const envelope: Envelope = { ...content, host: new URL(addressFor(options.addresses, owner)).host }
    const sealed = sealer.seal(Buffer.from(JSON.stringify(envelope)), Buffer.from(mailId))
    await store.insertMail(transaction, { mailId, userId, sealed })
  }
  const notify = async (transaction: Queryable, userId: string, mail: (login: string) => PeopleMail) => {
    const recipient = post && (await store.findRecipient(transaction, userId))
    if (!recipient) return
    const { owner, email, language, login } = recipient
    await queue(transaction, { userId, owner }, { to: email, language: language ?? defaultLanguage, mail: mail(login) })
  }
  const attempt = async (mailId: string, sealed: Buffer, post: PeoplePost) => {
    const stored = JSON.parse(sealer.open(sealed, Buffer.from(mailId)).toString()) as Omit<Envelope, 'host'> & {
      host?: string
    }
    const { mail } = stored
    // Earlier versions of the program queued mails without their host.
    const host = stored.host ?? new URL('link' in mail ? mail.link : options.addresses.publicUrl).host
    return isExpired(mail) ? 'expired' : post(mailId, { ...stored, host })
  }
  return {
    canSend: post !== null,
    queue,
    notifyPerson: notify,
    notifyChange: (transaction, userId, what) => notify(transaction, userId, login => changedMail(what, login)),
    countOwnChange: userId => countIn(ownChanges, userId, 'You have changed your access too often; wait a while'),
    countMail: ({ type, id }) =>
      countIn(counted, `${type}:${id}`, 'Your account has sent too many mails; wait a while'),
    async sendOne(database) {
      const claimed = post && (await store.claimMail(database, waitSeconds))
      if (!claimed) return false
      const { mailId, sealed, tries } = claimed
      const note = (state: store.MailState) => persist(notingMs, () => store.noteMail(database, mailId, state))
      // The outcomes of all tries could not be stored.
      if (tries > tryAfterMinutes.length) return note('failed').then(() => true)
      const isLastTry = tries === tryAfterMinutes.length
      const outcome = await attempt(mailId, sealed, post).catch(async error => {
        if (isLastTry) await note('failed')
        throw error
      })
      // A mail that may have arrived is not sent again.
      if (outcome === 'expired') await note('failed')
      else if (outcome !== 'failed') await note('sent')
      else if (isLastTry) await note('failed')
      return true
    },
  }
}

/** Whether the link in a mail no longer works. */
const isExpired = (mail: PeopleMail): boolean =>
  'expiresAt' in mail && realNow().getTime() >= Date.parse(mail.expiresAt)

/** The mail about a change. It names what was changed, but not the old or new value. */
export const changedMail = (what: Changed, login: string): PeopleMail => ({
  kind: 'changed',
  what,
  login,
  at: realNow().toISOString(),
})

const resealedAtOnce = 500

/** Encrypts all queued mails again with the first master key, so that the other keys can be removed. */
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
