/** Who did what with a campaign (behaviour.md, sections 7 and 8). */
import type { BankCaller, MerchantCaller } from '../access/caller.ts'
import type { CampaignDeps } from './deps.ts'
import { type HistoryEntry, listHistory } from './history-store.ts'
import { requireParty } from './parties.ts'

/**
 * Everything that has happened, first things first. A bank gets the campaign's own steps and those of its part.
 *
 * @throws DomainError 'not-found', also to a bank that is not invited; 'forbidden' for another merchant's campaign
 */
export async function readHistory(
  { database }: Pick<CampaignDeps, 'database'>,
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<HistoryEntry[]> {
  await requireParty(database, { caller, cashbackId })
  return listHistory(database, cashbackId, caller.type === 'bank' ? caller.bankId : null)
}

/** An entry as partners see it. */
export function historyView(entry: HistoryEntry) {
  const { at, actorType, actorId, login, subject, bankId, trigger, from, to, comment } = entry
  const actor = { type: actorType, id: actorId, login }
  return { at: at.toISOString(), actor, subject, bankId, trigger, from, to, comment }
}
