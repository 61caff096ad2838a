/** When a campaign's own terminals were added: written by every edit that adds some. */
import type { Queryable } from '../db/database.ts'

/** Notes the terminals that an edit adds to a campaign, which the transaction has locked. */
export async function noteAddedTerminals(
  transaction: Queryable,
  given: { cashbackId: string; terminalIds: readonly string[]; now: Date },
): Promise<void> {
  if (given.terminalIds.length === 0) return
  await transaction.execute(
    `insert into campaign_terminal_additions as a (cashback_id, added_at, terminal_ids) values ($1, $2, $3)
     on conflict (cashback_id, added_at) do update set terminal_ids = a.terminal_ids || excluded.terminal_ids`,
    [given.cashbackId, given.now, given.terminalIds],
  )
}
