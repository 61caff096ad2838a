/**
 * Reads a bank's list of campaigns. Nearly all of it is stored as JSON text, so a read only joins texts. It builds JSON
 * only for merchants and countries, which come from the directory.
 */

import { beginSnapshot, type Database, type Queryable, queryable, type Statement } from '../../db/database.ts'
import { shownInstant } from '../../db/instants.ts'
import { withLiterals } from '../../db/literals.ts'
import { copyAsJson, type LongRead, type ReadLimits } from '../../db/streaming/copy-out.ts'
import type { PeriodFilter } from '../../text/period-filter.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'

/** The filters of a bank's list. A field that is null filters nothing. */
export type ListFilters = PeriodFilter & {
  /** A regular expression of PostgreSQL for the campaign's name. */
  namePattern: string | null
  sku: string[] | null
  retailerId: string | null
  campaignStatus: string | null
  bankStatuses: string[] | null
}

/** `version` counts the changes that the bank can see. `body` is the list as it is in this version. */
export type BankList<Body> = { version: number; body: Body }

/** The beginning of the segment's JSON object. The list of customers and the closing brackets follow. */
const segmentHead = `
  ',"segment":{"segmentId":"' || s.segment_id || '","cashbackId":"' || s.cashback_id
    || '","customersCount":' || s.customers_count || ',"formedAt":"' || ${shownInstant('s.formed_at')}
    || '","sourceFileName":' || to_json(s.source_file_name) || ',"customerIds":'`

/**
 * JSON text with the campaign's status and `updatedAt`. The stored text has the time of the campaign's last change. If
 * only other banks' parts have changed since, that time is secret. The text is then built with the time that this bank
 * may know.
 */
const standing = `case when ${updatedForBank('b.changed_at')} = c.updated_at then c.standing
  else ',"status":"' || c.status || '","updatedAt":"' || ${shownInstant(updatedForBank('b.changed_at'))} || '"' end`

const ownTerminals = `case when c.terminals_platform then coalesce(l.terminals, '[]') else c.terminals end`

/**
 * The columns that together give the JSON of a campaign. A campaign with a segment takes two rows: the first holds the
 * campaign, the second its segment. With both in one row, that row would have two long texts (terminals and customers),
 * and PostgreSQL would free and allocate the memory for them at each row. That takes longer than reading the texts.
 * Each campaign begins with a comma. The code that joins the campaigns removes the first comma.
 */
const columns = `
  case n when 1 then ',' end,
  case n when 1 then c.card end,
  case n when 1 then b.participation || ${standing} || m.json || k.json else ${segmentHead} end,
  case n when 1 then ${ownTerminals} else s.customer_ids end,
  case when n = 2 then '}}' when s.cashback_id is null then ',"segment":null}' end`

/**
 * The tables that `columns` reads. `offset 0` makes PostgreSQL build the JSON of a merchant or of a country in a
 * subquery of its own. The plan can then remember the result and use it for all other campaigns of that merchant or
 * country.
 */
const source = `
  from campaign_banks b
  join campaigns c using (cashback_id)
  cross join lateral (
    select ',"retailer":{"retailerId":"' || merchant_id || '","name":' || to_json(name) || '}' as json
    from merchants where merchant_id = c.merchant_id offset 0
  ) m
  cross join lateral (
    select ',"country":{"id":"' || country_id || '","name":' || to_json(name) || ',"code":' || to_json(code)
      || ',"currency":{"code":' || to_json(currency_code) || ',"name":' || to_json(currency_name)
      || ',"symbol":' || to_json(currency_symbol) || ',"icon":' || to_json(currency_icon) || '}},"terminals":' as json
    from countries where country_id = c.country_id offset 0
  ) k
  left join merchant_terminal_lists l using (merchant_id)
  left join campaign_segments s on s.cashback_id = b.cashback_id and s.bank_id = b.bank_id`

const filtered = `
  cross join (values (1), (2)) part (n)
  where b.bank_id = $1::uuid and (n = 1 or s.cashback_id is not null)
    and ($2::text is null or c.name ~ $2::text)
    and ($3::text[] is null or c.sku && $3::text[])
    and ($4::uuid is null or c.merchant_id = $4::uuid)
    and ($5::text is null or c.status = $5::text)
    and ($6::text[] is null or b.status = any($6::text[]))
    and ($7::timestamptz is null or c.date_from >= $7::timestamptz)
    and ($8::timestamptz is null or c.date_to <= $8::timestamptz)
    and ($9::timestamptz is null or c.date_to > $9::timestamptz)
    and ($10::timestamptz is null or c.date_from < $10::timestamptz)`

const inOrder = 'order by b.created_at desc, b.cashback_id'

const valuesOf = (bankId: string, filters: ListFilters) => [
  bankId,
  filters.namePattern,
  filters.sku,
  filters.retailerId,
  filters.campaignStatus,
  filters.bankStatuses,
  filters.startsFrom,
  filters.endsBy,
  filters.active?.from ?? null,
  filters.active?.until ?? null,
]

const version = 'select coalesce((select version from bank_lists where bank_id = $1), 0) as version'
const versionStatement: Statement = { name: 'bank-list.version', text: version }

/** Reads the version of a bank's list. This read is cheap, and a new version shows that the list has changed. */
export async function readVersion(database: Queryable, bankId: string): Promise<number> {
  const [row] = await database.query<{ version: number }>(versionStatement, [bankId])
  return row?.version ?? 0
}

/** Up to these limits a list is short. A short list is read whole by one statement, on a connection of the pool. */
const shortCampaigns = 50
const shortBytes = 256 * 1024

const sizeStatement: Statement = {
  name: 'bank-list.size',
  text: `
    select count(*) <= $2 and coalesce(sum(bytes), 0) <= $3 as "isShort" from (
      select octet_length(c.card) + octet_length(${ownTerminals}) + coalesce(octet_length(s.customer_ids), 0) as bytes
      ${source} where b.bank_id = $1 limit $2::int + 1
    ) counted`,
}

/** Whether all campaigns of the bank together are few and short. */
export async function isShort(database: Queryable, bankId: string): Promise<boolean> {
  const [row] = await database.query<{ isShort: boolean }>(sizeStatement, [bankId, shortCampaigns, shortBytes])
  return row?.isShort ?? true
}

const shortStatement: Statement = {
  name: 'bank-list.short',
  text: `
    select (${version.replace('$1', '$1::uuid')}), '[' || substr(coalesce(string_agg(concat(${columns}), '' ${inOrder}, n), ''), 2) || ']' as items
    ${source} ${filtered}`,
}

/** A short list as JSON text. */
export async function readShort(database: Queryable, bankId: string, filters: ListFilters): Promise<BankList<Buffer>> {
  const [row] = await database.query<{ version: number; items: string }>(shortStatement, valuesOf(bankId, filters))
  if (!row) throw new Error('An aggregate has one row')
  return { version: row.version, body: Buffer.from(row.items) }
}

/**
 * Begins the read of a long list. The settings forbid sorts and force nested loops, which find the campaigns in the
 * order of the index. So PostgreSQL sends the first campaign at once; a sort would first have to find all of them. The
 * query also does not sort the two rows of each campaign (`order by ..., n`), because the nested loop gives them in
 * order, and sorting them would take a fifth of the whole time.
 */
const snapshot = `
  ${beginSnapshot};
  set local enable_sort = off; set local enable_hashjoin = off; set local enable_mergejoin = off;
  set local max_parallel_workers_per_gather = 0; set local jit = off`

/**
 * Reads a list of any length as JSON text. It resolves when the first bytes have arrived.
 *
 * @param reader.signal aborts when the client disconnects
 * @param reader.closed called when the read has ended, also after an error
 */
export function openLong(
  database: Database,
  params: { bankId: string; filters: ListFilters; limits: ReadLimits },
  reader: { signal: AbortSignal; closed(): void },
): Promise<BankList<LongRead>> {
  const { bankId, filters, limits } = params
  const opened = Promise.withResolvers<BankList<LongRead>>()
  database
    .longRead('lists', async client => {
      await client.query(snapshot)
      const version = await readVersion(queryable(client), bankId)
      reader.signal.throwIfAborted()
      const text = withLiterals(`select ${columns} ${source} ${filtered} ${inOrder}`, valuesOf(bankId, filters))
      const body = copyAsJson(client, text, limits)
      reader.signal.addEventListener('abort', () => body.stop(new Error('The reader has left')))
      await body.begun
      opened.resolve({ version, body })
      await body.ended
      await client.query('commit')
    })
    .catch(opened.reject)
    .finally(reader.closed)
  return opened.promise
}
