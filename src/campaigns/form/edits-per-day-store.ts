/**
 * Limits how often a campaign is edited per day, because its history keeps every edit (contract/campaigns.md, "Edit").
 */
import type { Queryable, Statement } from '../../db/database.ts'
import { secondsLeftToday, todaySql } from '../../db/today-sql.ts'
import { DomainError } from '../../errors.ts'
import { retryAfter } from '../../work/counting.ts'

/** How many edits of one campaign are allowed on one day, by real time in UTC. */
export const maxEdits = 1_000

/** Counts an edit, unless the campaign has reached its maximum for today. */
const countStatement: Statement = {
  name: 'campaigns.count-edit',
  text: `
    with counted as (
      insert into campaign_edits as e (cashback_id, day, edits) values ($1, ${todaySql}, 1)
      on conflict (cashback_id) do update
      set day = excluded.day, edits = case when e.day = excluded.day then e.edits + 1 else 1 end
      where e.day <> excluded.day or e.edits < $2
      returning edits
    )
    select exists (select from counted) as "isCounted", ${secondsLeftToday} as "secondsLeft"`,
}

/**
 * Counts an edit that changes something. The statement also checks the limit, so edits at the same time cannot exceed
 * it together.
 *
 * @throws DomainError 'too-many' when the campaign has reached its maximum of edits for today
 */
export async function countEdit(transaction: Queryable, cashbackId: string): Promise<void> {
  const [row] = await transaction.query<{ isCounted: boolean; secondsLeft: number }>(countStatement, [
    cashbackId,
    maxEdits,
  ])
  if (!row) throw new Error('A select without a table has one row')
  if (row.isCounted) return
  const text = `A campaign can be edited ${maxEdits} times a day: go on tomorrow (UTC)`
  throw new DomainError('too-many', text, retryAfter(row.secondsLeft))
}
