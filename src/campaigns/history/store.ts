/**
 * Reads the history of a campaign, and who may see the campaign. `transitions-store.ts` writes the history together with the
 * changes of status.
 */
import type { AccountType } from '../../access/caller.ts'
import type { Queryable, Statement } from '../../db/database.ts'
import type { FieldChanges, Note } from '../lifecycle/decided.ts'
import { hiddenFromBanks } from '../lifecycle/editable-fields.ts'
import type { Subject, Trigger } from '../lifecycle/lifecycle.ts'

export type HistoryEntry = {
  at: Date
  actorType: AccountType | 'clock'
  actorId: string | null
  login: string | null
  /** The name of the bank or the merchant. */
  name: string | null
  role: string | null
  subject: Subject
  bankId: string | null
  trigger: Trigger | Note['trigger']
  from: string | null
  to: string | null
  changes: FieldChanges | null
  comment: string | null
}

/** Who reads; the platform sees everything. */
export type Reader = { type: 'bank' | 'retailer'; id: string } | { type: 'platform' }

const partiesStatement: Statement = {
  name: 'campaigns.parties',
  text: `
    select c.merchant_id as "merchantId",
      exists (select from campaign_banks b where b.cashback_id = c.cashback_id and b.bank_id = $2) as "isInvited"
    from campaigns c where c.cashback_id = $1`,
}

/**
 * The merchant of a campaign, and whether this bank is invited now.
 *
 * @returns null when the campaign is unknown
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

/** Fields in entries of the campaign itself that would tell a bank about the other banks, or about what only the merchant sees. */
const fieldsAboutOthers = [...hiddenFromBanks, 'customersCount'].join(',')

/**
 * `$2` is the bank that reads, `$3` the merchant that reads. A bank gets the steps of the campaign and those of its own
 * part. When another bank caused a step, the bank sees neither who it was nor the comment. The login of a person is
 * shown only to the person's own bank or merchant. A bank does not get `fieldsAboutOthers`, and does not get entries
 * that have only these fields.
 */
const listStatement: Statement = {
  name: 'campaigns.history',
  text: `
    select h.at, h.actor_type as "actorType", h.subject, h.bank_id as "bankId", h.trigger, h.from_state as from, h.to_state as to,
      case when seen.fully then h.actor_id end as "actorId",
      case when seen.own then coalesce(u.login, h.actor_subject) end as login,
      case when seen.fully then coalesce(b.name, m.name) end as name,
      case when seen.fully then coalesce(h.actor_role, u.role, k.role) end as role,
      case when seen.fully then h.comment end as comment, visible.changes
    from campaign_history h
    left join portal_users u on u.user_id = case when h.actor_subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then h.actor_subject::uuid end
    left join credentials k on k.client_id = h.actor_subject
    left join banks b on h.actor_type = 'bank' and b.bank_id = h.actor_id
    left join merchants m on h.actor_type = 'retailer' and m.merchant_id = h.actor_id
    cross join lateral (select
      $2::uuid is null or h.actor_type <> 'bank' or h.actor_id = $2 as fully,
      coalesce($2, $3::uuid) is null or h.actor_id = coalesce($2, $3) as own
    ) as seen
    cross join lateral (select case when $2 is null or h.subject <> 'campaign' then h.changes
      else h.changes - '{${fieldsAboutOthers}}'::text[] end as changes) as visible
    where h.cashback_id = $1 and ($2::uuid is null or h.subject = 'campaign' or h.bank_id = $2) and visible.changes is distinct from '{}'
    order by h.history_id`,
}

export function listHistory(database: Queryable, cashbackId: string, reader: Reader): Promise<HistoryEntry[]> {
  const idOf = (type: Reader['type']) => (reader.type === type && 'id' in reader ? reader.id : null)
  return database.query(listStatement, [cashbackId, idOf('bank'), idOf('retailer')])
}
