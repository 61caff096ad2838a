/** The history of a campaign: who did what (contract/campaigns.md, "History"). */
import type { BankCaller, MerchantCaller } from '../../access/caller.ts'
import type { Queryable } from '../../db/database.ts'
import { roundedCustomers } from '../../segments/rounded-customers.ts'
import type { FieldChanges } from '../lifecycle/decided.ts'
import { requireParty } from './parties.ts'
import { type HistoryEntry, listHistory } from './store.ts'

/**
 * The whole history, oldest entries first. A bank gets the campaign's own steps and those of its part. A merchant gets rounded
 * sizes of segments.
 *
 * @throws DomainError 'not-found' for an unknown campaign, and to a bank that is not invited; 'forbidden' for another merchant's
 *   campaign
 */
export async function readHistory(
  { database }: { database: Queryable },
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<HistoryEntry[]> {
  await requireParty(database, { caller, cashbackId })
  if (caller.type === 'bank') return listHistory(database, cashbackId, { type: 'bank', id: caller.bankId })
  const entries = await listHistory(database, cashbackId, { type: 'retailer', id: caller.merchantId })
  return entries.map(entry => (entry.trigger === 'segment' ? { ...entry, changes: rounded(entry.changes) } : entry))
}

const rounded = (changes: FieldChanges | null): FieldChanges =>
  Object.fromEntries(
    Object.entries(changes ?? {}).map(([field, values]) => [field, values && [round(values[0]), round(values[1])]]),
  )
const round = (count: unknown): number | null => (count === null ? null : roundedCustomers(Number(count)))

/** An entry as its readers see it. */
export function historyView(entry: HistoryEntry) {
  const { at, actorType, actorId, login, name, role, subject, bankId, trigger, from, to, changes, comment } = entry
  const actor = { type: actorType, id: actorId, login, name, role }
  return { at: at.toISOString(), actor, subject, bankId, trigger, from, to, changes, comment }
}
