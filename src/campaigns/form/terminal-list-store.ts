/**
 * SQL that compares a given list of terminals with the stored one: the campaign's own, or the merchant's in the
 * directory. This is done in the database, because the lists may be long.
 */
import type { Queryable } from '../../db/database.ts'
import { type GivenText, givenText } from '../../db/staged-text.ts'

/** SQL for the entries of two lists, with their positions: the stored list, and the given one in `$2` and `$3`. */
const bothLists = (stored: string): string => `
  stored as materialized (select value, place from jsonb_array_elements((${stored})::jsonb) with ordinality as t (value, place)),
  given as materialized (select value, place from jsonb_array_elements((${givenText('$2', '$3')})::jsonb) with ordinality as t (value, place))`

const ofCampaign = 'select terminals from campaigns where cashback_id = $1'
const ofMerchant = 'select terminals from merchant_terminal_lists where merchant_id = $1'

export type TerminalChange = {
  isChanged: boolean
  /** The first stored terminal that the given list lacks. A terminal with another name counts as another terminal. */
  firstMissing: string | null
  /** Whether the given list has a terminal with the id `firstMissing`. */
  isOnlyOther: boolean
  /** Of the given positions, those whose terminal the stored list does not have. */
  added: number[]
}

/**
 * Finds how the given list differs from the campaign's own list, or from the list that the platform's directory has for
 * the merchant.
 *
 * @param positions positions in the given list
 */
export async function compareTerminals(
  transaction: Queryable,
  stored: { cashbackId: string } | { merchantId: string },
  input: GivenText,
  positions: readonly number[],
): Promise<TerminalChange> {
  const [source, id] = 'cashbackId' in stored ? [ofCampaign, stored.cashbackId] : [ofMerchant, stored.merchantId]
  const [found] = await transaction.query<Omit<TerminalChange, 'isChanged'> & { hasOthers: boolean }>(
    `with ${bothLists(source)}, missing as (
       select value ->> 'terminal_id' as id from stored s where not exists (select from given g where g.value = s.value)
       order by place limit 1
     )
     select
       (select id from missing) as "firstMissing",
       exists (select from given g join missing on g.value ->> 'terminal_id' = missing.id) as "isOnlyOther",
       exists (select from given g where not exists (select from stored s where s.value = g.value)) as "hasOthers",
       array(select (place - 1)::int from given g where (place - 1)::int = any($4::int[])
         and not exists (select from stored s where s.value = g.value)) as added`,
    [id, ...input, positions],
  )
  if (!found) throw new Error('A select without a table has one row')
  const { hasOthers, ...change } = found
  return { ...change, isChanged: hasOthers || change.firstMissing !== null }
}

/**
 * Records which terminals an edit adds to a campaign that the transaction has locked. Call it before the new list is
 * written.
 *
 * @returns how many were added
 */
export async function noteAddedTerminals(
  transaction: Queryable,
  { cashbackId, input, now }: { cashbackId: string; input: GivenText; now: Date },
): Promise<number> {
  const [noted] = await transaction.query<{ added: number }>(
    `with ${bothLists(ofCampaign)}, added as (
       select array_agg(value ->> 'terminal_id' order by place) as ids from given g
       where not exists (select from stored s where s.value ->> 'terminal_id' = g.value ->> 'terminal_id')
     ), noted as (
     insert into campaign_terminal_additions as a (cashback_id, added_at, terminal_ids)
     select $1, $4, ids from added where ids is not null
     on conflict (cashback_id, added_at) do update set terminal_ids = a.terminal_ids || excluded.terminal_ids)
     select coalesce(cardinality(ids), 0) as added from added`,
    [cashbackId, ...input, now],
  )
  return noted?.added ?? 0
}
