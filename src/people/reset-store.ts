/** SQL of requests for forgotten passwords. Times are real time. */
import { type AccountOwner, ownerOfIds } from '../access/owners.ts'
import type { Queryable } from '../db/database.ts'

export type ResetRequest = { accountType: string; login: string }

/** Stores a request for any login, known or not, so that the time taken does not show which logins exist. */
export async function insertRequest(database: Queryable, request: ResetRequest): Promise<void> {
  await database.execute('insert into reset_requests (account_type, login, requested_at) values ($1, $2, now())', [
    request.accountType,
    request.login,
  ])
}

/**
 * Deletes some of the requests and returns them. `isLate` means that the request has waited too long to be answered,
 * because no worker was running.
 */
export function takeRequests(transaction: Queryable, limit: number): Promise<(ResetRequest & { isLate: boolean })[]> {
  return transaction.query(
    `delete from reset_requests where request_id = any(array(
       select request_id from reset_requests order by request_id limit $1 for update skip locked))
     returning account_type as "accountType", login, requested_at < now() - interval '1 hour' as "isLate"`,
    [limit],
  )
}

export type Recipient = {
  userId: string
  owner: AccountOwner
  login: string
  email: string
  language: 'uk' | 'en' | null
}

/** The person with this login, if a mail can be sent to them. */
export async function findForgetful(transaction: Queryable, request: ResetRequest): Promise<Recipient | null> {
  type Row = Omit<Recipient, 'owner'> & { bankId: string | null; merchantId: string | null }
  const [found] = await transaction.query<Row>(
    `select user_id as "userId", bank_id as "bankId", merchant_id as "merchantId", login, email, language from portal_users
     where login = $1 and disabled_at is null and email is not null
       and $2 = case when bank_id is not null then 'bank' when merchant_id is not null then 'retailer' else 'platform' end
     for update`,
    [request.login, request.accountType],
  )
  if (!found) return null
  const { bankId, merchantId, ...rest } = found
  return { ...rest, owner: ownerOfIds({ bankId, merchantId }) }
}

/** Counts a mail to a person, whose row must be locked. @returns false when the limit for this hour is reached */
export async function countResetMail(transaction: Queryable, userId: string, maxPerHour: number): Promise<boolean> {
  await transaction.execute(`delete from reset_mails where user_id = $1 and sent_at < now() - interval '1 hour'`, [
    userId,
  ])
  const counted = await transaction.execute(
    `insert into reset_mails (user_id, sent_at)
     select $1, now() where (select count(*) from reset_mails where user_id = $1) < $2`,
    [userId, maxPerHour],
  )
  return counted === 1
}
