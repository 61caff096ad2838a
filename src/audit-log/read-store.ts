/** SQL of searches in the audit log. */
import { platformAccountId } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import type { Span } from '../text/span.ts'
import { uuidForm } from '../text/uuid.ts'

/** An account as entries store it; null: all accounts. */
export type LogAccount = { type: 'bank' | 'merchant' | 'platform'; id: string } | null

export type StoredEntry = { seq: number; accountSeq: number; entry: string }

/** A period of the log of one account. `account` is null for the log of all accounts. */
type Period = Span & { account: LogAccount }

export type EntrySearch = Period & {
  action: string | null
  actor: string | null
  object: { type: string; id: string | null } | null
}

/**
 * The maximum number of entries that one request examines when an index alone cannot answer it: with several filters,
 * or with one filter over all accounts.
 */
const maxScanned = 10_000

/**
 * How much time may pass until an entry has its number. An entry gets its time when it is written, and its number only
 * after its transaction has committed. No transaction takes this long.
 */
const maxDisorder = `interval '2 hours'`

export type EntryPage = {
  entries: StoredEntry[]
  /** The number to continue from; null when there is no next page. */
  next: number | null
}

/**
 * The newest matching entries, ordered by number.
 *
 * @param page.before only entries with a lower number: the account's own number within one account, otherwise the
 *   number of the whole log; null: start with the newest
 */
export async function findEntries(
  database: Queryable,
  search: EntrySearch,
  page: { before: number | null; limit: number },
): Promise<EntryPage> {
  const values: unknown[] = []
  const put = (value: unknown): string => `$${values.push(value)}`
  const number = search.account ? 'account_seq' : 'seq'
  const within = [...accountIs(search, put), ...boundsOf(search, number, put)]
  if (page.before !== null) within.push(`${number} < ${put(page.before)}`)
  const filters = filtersOf(search)
  // Within an account, an index finds the entries for the first filter. The other filters are checked on a limited
  // number of these entries.
  if (search.account) within.push(...filters.splice(0, 1).map(filter => filter(put)))
  const looked = `select * from audit_log ${where(within)} order by ${number} desc`
  const lookedValues = [...values]
  const entries = await database.query<StoredEntry>(
    `select seq, account_seq as "accountSeq", entry from (${looked} limit ${maxScanned}) as looked
     ${where(filters.map(filter => filter(put)))} order by ${number} desc limit ${page.limit + 1}`,
    values,
  )
  const last = entries[page.limit - 1]
  if (entries.length > page.limit && last)
    return { entries: entries.slice(0, page.limit), next: search.account ? last.accountSeq : last.seq }
  if (filters.length === 0) return { entries, next: null }
  // If `maxScanned` entries were examined, the next page continues after the last of them, even if that entry does not match.
  const [end] = await database.query<{ next: number }>(
    `select ${number} as next from (${looked} offset ${maxScanned - 1} limit 1) as looked`,
    lookedValues,
  )
  return { entries, next: end?.next ?? null }
}

export const where = (conditions: string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''

export type Put = (value: unknown) => string

export const accountIs = ({ account }: Period, put: Put): string[] =>
  account ? [`account_type = ${put(account.type)} and account_id = ${put(account.id)}`] : []

type Filter = (put: Put) => string

/** The most selective filter comes first. For each filter there is an index within an account. */
function filtersOf({ action, actor, object, from, until }: EntrySearch): Filter[] {
  const filters: (Filter | null)[] = [
    object && object.id !== null ? put => `object_type = ${put(object.type)} and object_id = ${put(object.id)}` : null,
    actor === null ? null : put => `actor_id = ${put(actor)}`,
    action === null ? null : put => `action = ${put(action)}`,
    object && object.id === null ? put => `object_type = ${put(object.type)}` : null,
    from && (put => `at >= ${put(from)}`),
    until && (put => `at < ${put(until)}`),
  ]
  return filters.filter(filter => filter !== null)
}

/**
 * Turns the period of a search into conditions on the numbers of entries. So the search reads only entries in or near
 * the period.
 */
export function boundsOf(search: Period, number: string, put: Put): string[] {
  const near = (condition: string, order: string) =>
    `(select ${number} from audit_log ${where([...accountIs(search, put), condition])} order by at ${order}, ${number} ${order} limit 1)`
  return [
    ...(search.from
      ? [`${number} > coalesce(${near(`at < ${put(search.from)}::timestamptz - ${maxDisorder}`, 'desc')}, 0)`]
      : []),
    ...(search.until
      ? [
          `${number} < coalesce(${near(`at >= ${put(search.until)}::timestamptz + ${maxDisorder}`, 'asc')}, 9223372036854775807)`,
        ]
      : []),
  ]
}

/**
 * The current names of actors: logins of people and labels of systems. Actors without a name are missing in the map.
 */
export async function findActorNames(database: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    `select user_id::text as id, login as name from portal_users where user_id = any($1::uuid[])
     union all select client_id, label from credentials where client_id = any($2)`,
    [ids.filter(id => uuidForm.test(id)), ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** `nameEn` is for merchants only. */
export type AccountName = { name: string; nameEn?: string }

/** The current names of banks and merchants, by id. */
export async function findAccountNames(database: Queryable, ids: readonly string[]): Promise<Map<string, AccountName>> {
  const rows = await database.query<{ id: string; name: string; nameEn: string | null }>(
    `select bank_id as id, name, null as "nameEn" from banks where bank_id = any($1::uuid[])
     union all select merchant_id, name, name_en from merchants where merchant_id = any($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map(({ id, name, nameEn }) => [id, { name, ...(nameEn !== null && { nameEn }) }]))
}

/** Finds an account by its id. @returns null when the id belongs to no bank, no merchant and not to the platform */
export async function findAccount(database: Queryable, id: string): Promise<LogAccount> {
  if (id === platformAccountId) return { type: 'platform', id }
  const [account] = await database.query<NonNullable<LogAccount>>(
    `select 'bank' as type, bank_id as id from banks where bank_id = $1
     union all select 'merchant', merchant_id from merchants where merchant_id = $1`,
    [id],
  )
  return account ?? null
}
