/**
 * SQL of an order's e-mail (contract/esim.md, "The e-mail"). While a process sends the e-mail, the order has the state
 * `sending`, and `order_mail_claims` has the process's claim. Only the holder of the claim may store the outcome, and it
 * may try to do so again and again.
 */
import type { Database, Queryable } from '../../db/database.ts'
import { orderText, orderTextJoins, recordingEvents } from '../../outbox/event-writing.ts'
import type { MailState } from './mail-state.ts'

/** The attempt of one process to send the e-mail of an order. `claim` is a new UUID. */
export type MailAttempt = { orderId: string; claim: string }

/**
 * Marks the attempt to send the e-mail, before its first byte is sent.
 * @returns true for the first attempt, and after an attempt that certainly failed; otherwise false
 */
export async function claimMail(database: Queryable, { orderId, claim }: MailAttempt, now: Date): Promise<boolean> {
  const claimed = await database.execute(
    {
      name: 'esim.claim-mail',
      text: `
        with marked as (
          update orders set mail = 'sending', mail_at = $2
          where order_id = $1 and status = 'confirmed' and (mail is null or mail = 'failed') returning order_id
        )
        insert into order_mail_claims (order_id, claim) select order_id, $3 from marked
        on conflict (order_id) do update set claim = excluded.claim, claimed_at = excluded.claimed_at`,
    },
    [orderId, now, claim],
  )
  return claimed === 1
}

/** SQL that stores the outcome ($1) of the claims that `ended` deletes, and records the events. $2: when, by the platform's clock. */
const recordText = (ended: string): string => `
  with ended as (${ended} returning order_id), recorded as (
    update orders o set mail = $1, mail_at = $2 from ended where o.order_id = ended.order_id and mail = 'sending' returning o.*
  ), texts as (
    select o.bank_id, left(text, -1) || ',"emailDelivery":"' || $1::text || '"}' as text
    from recorded o ${orderTextJoins} cross join lateral (select ${orderText()} as text) as texts
  )
  ${recordingEvents({ type: 'order.email_delivery', from: 'texts', to: { bank: 'bank_id' }, at: '$2::timestamptz', text: 'text' })}`

/**
 * Stores the outcome of an attempt, if the attempt has a claim.
 *
 * @param at by the platform's clock, which a sandbox can shift
 * @returns whether it had a claim. It has none if its outcome is stored already
 */
export async function recordMail(
  database: Queryable,
  { orderId, claim }: MailAttempt,
  outcome: MailState,
  at: Date,
): Promise<boolean> {
  const recorded = await database.execute(
    { name: 'esim.record-mail', text: recordText('delete from order_mail_claims where order_id = $3 and claim = $4') },
    [outcome, at, orderId, claim],
  )
  return recorded > 0
}

/**
 * Ends an attempt that has sent nothing, because the answer to its claim got lost. The server may still be carrying out the claim, so
 * this waits for it where it holds the order's row. Repeat it for `claimingMs`.
 *
 * @returns whether the attempt had a claim
 */
export function withdrawClaim(database: Database, attempt: MailAttempt, at: Date): Promise<boolean> {
  return database.transaction(async transaction => {
    await transaction.execute('select from orders where order_id = $1 for update', [attempt.orderId])
    return recordMail(transaction, attempt, 'failed', at)
  })
}

/** A claim whose answer got lost is carried out within this time, or not at all: the server ends long statements. */
export const claimingMs = 15_000
/** How long a process tries to store an outcome. */
export const recordingMs = 5 * 60_000
/** After this time nobody sends the e-mail or tries to store its outcome any more. A confirm ends within 12 s. */
const lostAfter = `${recordingMs + 60_000} milliseconds`

/** Ends the attempts of processes that were killed. Their e-mails may have arrived, so the outcome is `unknown`. */
export async function endLostMails(database: Queryable, at: Date): Promise<void> {
  await database.execute(
    recordText(`delete from order_mail_claims where claimed_at < now() - interval '${lostAfter}'`),
    ['unknown' satisfies MailState, at],
  )
}
