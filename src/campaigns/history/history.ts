/** The history of a campaign: who did what (contract/campaigns.md, "History"). */
import type { BankCaller, MerchantCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import type { FieldChanges } from '../lifecycle/decided.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import { requireParty } from './parties.ts'
import { type Decision, findDecisions, findHistoryPage, type HistoryEntry, type HistoryPage } from './store.ts'

/**
 * A page of the history, oldest entries first. A bank gets the entries about the campaign itself and about its own
 * part. A merchant gets rounded sizes of segments.
 *
 * @param params.before the `next` of the page that was read before; null: the newest page
 * @throws DomainError 'not-found' for an unknown campaign, and to a bank that is not invited; 'forbidden' for another
 *   merchant's campaign
 */
export async function readHistory(
  { database }: { database: Queryable },
  { caller, cashbackId, before }: { caller: BankCaller | MerchantCaller; cashbackId: string; before: number | null },
): Promise<HistoryPage> {
  await requireParty(database, { caller, cashbackId })
  if (caller.type === 'bank')
    return findHistoryPage(database, { cashbackId, reader: { type: 'bank', id: caller.bankId }, before })
  const reader = { type: 'retailer', id: caller.merchantId } as const
  const { entries, next } = await findHistoryPage(database, { cashbackId, reader, before })
  const isSegment = ({ trigger }: HistoryEntry) => trigger === 'segment'
  return {
    entries: entries.map(entry => (isSegment(entry) ? { ...entry, changes: rounded(entry.changes) } : entry)),
    next,
  }
}

/**
 * The current decisions of the campaign's banks; a bank gets only its own.
 *
 * @throws DomainError as `readHistory`
 */
export async function readDecisions(
  { database }: { database: Queryable },
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<Decision[]> {
  await requireParty(database, { caller, cashbackId })
  return findDecisions(database, cashbackId, caller.type === 'bank' ? caller.bankId : null)
}

const rounded = (changes: FieldChanges | null): FieldChanges =>
  Object.fromEntries(
    Object.entries(changes ?? {}).map(([field, values]) => [field, values && [round(values[0]), round(values[1])]]),
  )
const round = (count: unknown): number | null => (count === null ? null : roundedCustomers(Number(count)))
