/** SQL of the queue of mails to people. Each mail is taken by one process at a time. Times are real time. */
import { type AccountOwner, ownerOfIds } from '../../access/owners.ts'
import type { Queryable } from '../../db/database.ts'

export const mailStates = ['waiting', 'sent', 'failed'] as const
export type MailState = (typeof mailStates)[number]
export type QueuedMail = { mailId: string; userId: string; sealed: Buffer; tries: number; createdAt: Date }

export async function insertMail(
  transaction: Queryable,
  mail: { mailId: string; userId: string; sealed: Buffer },
): Promise<void> {
  await transaction.execute(
    `insert into people_mails (mail_id, user_id, sealed, state, created_at, next_at) values ($1, $2, $3, 'waiting', now(), now())`,
    [mail.mailId, mail.userId, mail.sealed],
  )
}

/**
 * Takes one due mail and postpones its next attempt, so that no other process sends it meanwhile.
 *
 * @param waitSeconds the wait after each attempt. The last value also applies to every further attempt
 */
export async function claimMail(database: Queryable, waitSeconds: readonly number[]): Promise<QueuedMail | null> {
  const [claimed] = await database.query<QueuedMail>(
    `update people_mails m set tries = tries + 1,
       next_at = now() + make_interval(secs => ($1::float8[])[least(tries + 1, cardinality($1::float8[]))])
     where mail_id = (select mail_id from people_mails where state = 'waiting' and next_at <= now()
                      order by next_at limit 1 for update skip locked)
     returning mail_id as "mailId", user_id as "userId", sealed, tries, created_at as "createdAt"`,
    [waitSeconds],
  )
  return claimed ?? null
}

export async function noteMail(database: Queryable, mailId: string, state: MailState): Promise<void> {
  await database.execute(`update people_mails set state = $2 where mail_id = $1 and state = 'waiting'`, [mailId, state])
}

const forgottenAtOnce = 1_000

/**
 * Deletes some of the mails that are older than a week. The links in them have expired. @returns whether there may be
 * more
 */
export async function forgetMails(database: Queryable): Promise<boolean> {
  const forgotten = await database.execute(
    `delete from people_mails where mail_id = any(array(
       select mail_id from people_mails where created_at < now() - interval '7 days' order by created_at
       limit ${forgottenAtOnce} for update skip locked))`,
  )
  return forgotten === forgottenAtOnce
}

export type Recipient = { owner: AccountOwner; email: string; language: 'uk' | 'en' | null; login: string }

/**
 * The address and language for notices to a person. A disabled person gets them, too. Otherwise a manager could hide a
 * change by disabling the person for a moment. @returns null when the person has no address
 */
export async function findRecipient(database: Queryable, userId: string): Promise<Recipient | null> {
  const [found] = await database.query<Omit<Recipient, 'owner'> & { bankId: string | null; merchantId: string | null }>(
    `select email, language, login, bank_id as "bankId", merchant_id as "merchantId"
     from portal_users where user_id = $1 and email is not null`,
    [userId],
  )
  return found ? { ...found, owner: ownerOfIds(found) } : null
}

/** Mails in the order of their ids, starting after the given one. */
export function listMails(
  database: Queryable,
  after: string | null,
  limit: number,
): Promise<{ mailId: string; sealed: Buffer }[]> {
  return database.query(
    `select mail_id as "mailId", sealed from people_mails where $1::uuid is null or mail_id > $1 order by mail_id limit $2`,
    [after, limit],
  )
}

export async function replaceSealed(database: Queryable, mailId: string, sealed: Buffer): Promise<void> {
  await database.execute('update people_mails set sealed = $2 where mail_id = $1', [mailId, sealed])
}
