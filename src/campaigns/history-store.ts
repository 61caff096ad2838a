/** All SQL that reads the history of a campaign; it is written together with the moves (`moves-store.ts`). */
import type { AccountType } from '../access/caller.ts'
import type { Queryable, Statement } from '../db/database.ts'
import type { Subject, Trigger } from './lifecycle.ts'

export type HistoryEntry = {
  at: Date
  actorType: AccountType | 'clock'
  actorId: string | null
  login: string | null
  subject: Subject
  bankId: string | null
  trigger: Trigger
  from: string | null
  to: string | null
  comment: string | null
}

const partiesStatement: Statement = {
  name: 'campaigns.parties',
  text: `
    select c.merchant_id as "merchantId",
      exists (select from campaign_banks b where b.cashback_id = c.cashback_id and b.bank_id = $2) as "isInvited"
    from campaigns c where c.cashback_id = $1`,
}

/**
 * Whose the campaign is, and whether this bank is invited now.
 *
 * @returns null when there is no such campaign
 */
export async function findParties(
  database: Queryable,
  cashbackId: string,
  bankId: string | null,
): Promise<{ merchantId: string; isInvited: boolean } | null> {
  const [parties] = await database.query<{ merchantId: string; isInvited: boolean }>(partiesStatement, [
    cashbackId,
    bankId,
  ])
  return parties ?? null
}

/** A bank sees the campaign's steps and its own; of what another bank has caused, neither which bank it was nor its words. */
const listStatement: Statement = {
  name: 'campaigns.history',
  text: `
    select h.at, h.actor_type as "actorType", h.subject, h.bank_id as "bankId", h.trigger, h.from_state as from, h.to_state as to,
      case when seen.fully then h.actor_id end as "actorId",
      case when seen.fully then coalesce(u.login, h.actor_subject) end as login,
      case when seen.fully then h.comment end as comment
    from campaign_history h
    left join portal_users u on u.user_id::text = h.actor_subject
    cross join lateral (select $2::uuid is null or h.actor_type <> 'bank' or h.actor_id = $2) as seen (fully)
    where h.cashback_id = $1 and ($2::uuid is null or h.subject = 'campaign' or h.bank_id = $2)
    order by h.history_id`,
}

/** @param bankId for whose eyes; null: all of it */
export function listHistory(database: Queryable, cashbackId: string, bankId: string | null): Promise<HistoryEntry[]> {
  return database.query(listStatement, [cashbackId, bankId])
}
