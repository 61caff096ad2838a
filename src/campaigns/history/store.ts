/**
 * Reads the history of a campaign, and who may see the campaign. `transitions-store.ts` writes the history together with the
 * changes of status.
 */
import type { AccountType } from '../../caller.ts'
import type { Queryable, Statement } from '../../db/database.ts'
import type { FieldChanges, Note } from '../lifecycle/decided.ts'
import { hiddenFromBanks } from '../lifecycle/editable-fields.ts'
import { decided, decisions, type Subject, type Trigger } from '../lifecycle/transitions.ts'
import { isAboutBank, newestAboutBank } from './about-bank-sql.ts'

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
  trigger: Trigger | Note['trigger'] | typeof decided
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

/**
 * Fields that banks must not get in entries about the campaign itself. Some tell about other banks, and some are only
 * for the merchant.
 */
const fieldsAboutOthers = [...hiddenFromBanks, 'customersCount'].join(',')

/** SQL for the changes of an entry as banks see them. */
const shownToBanks = `case when h.subject <> 'campaign' then h.changes else h.changes - '{${fieldsAboutOthers}}'::text[] end`

/**
 * The maximum number of entries in a page, and of bytes of their changes and comments. A page with a single entry may
 * be larger.
 */
const pageLimits = { entries: 100, bytes: 512 * 1024 }
/**
 * How many entries are read to make a page of the merchant or the platform. The additional one shows whether there are
 * older entries.
 */
const examined = pageLimits.entries + 1
/** How many entries are read to make a page of a bank. Edits of fields that banks do not see are then left out. */
const examinedForBank = 500

/** An entry that may become part of a page. */
type Candidate = { id: number; isShown: boolean; bytes: number }

/**
 * SQL conditions for the newest entries before the entry `$2`: all entries of the campaign `$1`, only those about the
 * campaign itself, and only those about its bank `$3`. PostgreSQL uses the index only if the condition compares rows
 * and `order by` names every column of the index. Otherwise it may read the entries of other campaigns.
 */
const ofCampaign = `(h.cashback_id, h.history_id) < ($1, $2::bigint) and h.cashback_id >= $1 order by h.cashback_id desc, h.history_id desc`
const aboutCampaign = `h.cashback_id = $1 and h.bank_id is null and h.history_id < $2 order by h.bank_id desc, h.history_id desc`
const aboutBank = `${isAboutBank('$1::uuid', '$3::uuid', '$2::bigint')} order by ${newestAboutBank}`

/**
 * SQL that reads the entries from which a page is chosen.
 *
 * @param part one of the conditions above
 */
const candidates = (part: string, changes: string, limit: number) => `
  select id, shown is distinct from '{}' as "isShown",
    coalesce(octet_length(shown::text), 0) + coalesce(octet_length(comment), 0) as bytes
  from (
    select h.history_id as id, h.comment, ${changes} as shown from campaign_history h where ${part} limit ${limit}
  ) as newest`

const candidatesStatement: Statement = {
  name: 'campaigns.history-candidates',
  text: `${candidates(ofCampaign, 'h.changes', examined)} order by id desc`,
}

/** A bank gets the entries about the campaign itself and those about its own part. */
const candidatesForBankStatement: Statement = {
  name: 'campaigns.history-candidates-for-bank',
  text: `
    ${candidates(aboutCampaign, shownToBanks, examinedForBank)}
    union all ${candidates(aboutBank, shownToBanks, examinedForBank)}
    order by id desc limit ${examinedForBank}`,
}

/**
 * `$1` are the ids of the entries, `$2` is the reading bank, `$3` the reading merchant; both are null for the platform.
 * When another bank caused a step, a bank gets neither that bank's name and comment nor what it decided. The login is
 * shown only to the platform and to the actor's own bank or merchant.
 */
const entriesStatement: Statement = {
  name: 'campaigns.history',
  text: `
    select h.at, h.actor_type as "actorType", h.subject, h.bank_id as "bankId", h.from_state as from, h.to_state as to,
      case when seen.fully or h.trigger not in (${decisions.map(one => `'${one}'`).join(', ')}) then h.trigger else '${decided}' end as trigger,
      case when seen.fully then h.actor_id end as "actorId",
      case when seen.own then coalesce(u.login, h.actor_subject) end as login,
      case when seen.fully then coalesce(b.name, m.name) end as name,
      case when seen.fully then coalesce(h.actor_role, u.role, k.role) end as role,
      case when seen.fully then h.comment end as comment,
      case when $2::uuid is null then h.changes else ${shownToBanks} end as changes
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
    where h.history_id = any($1::bigint[])
    order by h.history_id`,
}

/**
 * Entries, oldest first. `next` is the id of an entry: the next page has the entries before it; null: there are no
 * older entries.
 */
export type FoundPage = { entries: HistoryEntry[]; next: number | null }

/**
 * The newest entries, or the newest ones before the entry `before`. A bank's page may be short or empty although older
 * entries exist.
 *
 * @param before the `next` of another page of the same reader; null: the newest page
 */
export async function findHistoryPage(
  database: Queryable,
  { cashbackId, reader, before }: { cashbackId: string; reader: Reader; before: number | null },
): Promise<FoundPage> {
  const idOf = (type: Reader['type']) => (reader.type === type && 'id' in reader ? reader.id : null)
  const [bankId, merchantId] = [idOf('bank'), idOf('retailer')]
  const end = before ?? Number.MAX_SAFE_INTEGER
  const found =
    bankId === null
      ? await database.query<Candidate>(candidatesStatement, [cashbackId, end])
      : await database.query<Candidate>(candidatesForBankStatement, [cashbackId, end, bankId])
  const { ids, next } = chosen(found, bankId === null ? examined : examinedForBank)
  return { entries: await database.query<HistoryEntry>(entriesStatement, [ids, bankId, merchantId]), next }
}

/** Chooses the entries of a page. @param found the newest candidates, at most `limit` */
function chosen(found: readonly Candidate[], limit: number): { ids: number[]; next: number | null } {
  const ids: number[] = []
  let bytes = 0
  for (const { id, isShown, bytes: more } of found) {
    if (!isShown) continue
    bytes += more
    const isFull = ids.length === pageLimits.entries || (ids.length > 0 && bytes > pageLimits.bytes)
    if (isFull) return { ids, next: ids.at(-1) ?? null }
    ids.push(id)
  }
  return { ids, next: found.length === limit ? (found.at(-1)?.id ?? null) : null }
}

export type Decision = { bankId: string; at: Date; comment: string | null }

/**
 * For each invited bank that is not pending: the step that gave it its present status. `$2` is the only bank to read;
 * null: all banks.
 */
const decisionsStatement: Statement = {
  name: 'campaigns.decisions',
  text: `
    select i.bank_id as "bankId", last.at, last.comment
    from campaign_banks i cross join lateral (
      select h.at, h.comment from campaign_history h
      where ${isAboutBank('i.cashback_id', 'i.bank_id')} and h.subject = 'bank' and h.to_state = i.status
        and h.from_state is distinct from h.to_state
      order by ${newestAboutBank} limit 1
    ) last
    where i.cashback_id = $1 and i.status <> 'pending' and ($2::uuid is null or i.bank_id = $2)
    order by last.at, i.bank_id`,
}

/**
 * For each invited bank that is not pending: when it got its status, and the comment. @param bankId only this bank;
 * null: all banks
 */
export function findDecisions(database: Queryable, cashbackId: string, bankId: string | null): Promise<Decision[]> {
  return database.query<Decision>(decisionsStatement, [cashbackId, bankId])
}
