/** Stores the terminals of each merchant as the JSON text that banks get (contract/campaigns.md, "Create"). */
import type { Queryable } from '../db/database.ts'

/**
 * Writes the lists of these merchants again, and also the lists of all merchants that have none yet.
 *
 * @param merchantIds merchants whose terminals have changed
 */
export async function writeTerminalLists(transaction: Queryable, merchantIds: readonly string[]): Promise<void> {
  await transaction.execute(
    `insert into merchant_terminal_lists (merchant_id, terminals, terminals_count)
     select m.merchant_id, '[' || coalesce(string_agg(row_to_json(t)::text, ',' order by t.terminal_id collate "C"), '') || ']',
       count(t.terminal_id)
     from merchants m
     left join lateral (
       select terminal_id, name as terminal_name, location as terminal_location, payment_system_merchant_id as merchant_id,
         payment_system_merchant_name as merchant_name
       from terminals where terminals.merchant_id = m.merchant_id
     ) t on true
     where m.merchant_id = any($1)
       or not exists (select from merchant_terminal_lists l where l.merchant_id = m.merchant_id)
     group by m.merchant_id
     on conflict (merchant_id) do update set terminals = excluded.terminals, terminals_count = excluded.terminals_count`,
    [merchantIds],
  )
}

/**
 * Raises the version of every bank's list of campaigns, so that banks read the list again. The list shows terminals and
 * the names of merchants and countries. All banks are included, because other transactions may change which banks are
 * affected until this one ends. Call it last, because it locks the versions, and other transactions then wait until
 * this one ends.
 */
export async function renewBankLists(transaction: Queryable): Promise<void> {
  await transaction.execute(
    `insert into bank_lists (bank_id, version) select bank_id, 1 from banks order by bank_id
     on conflict (bank_id) do update set version = bank_lists.version + 1`,
  )
}
