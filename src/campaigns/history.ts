/** Who did what with a campaign (behaviour.md, sections 7 and 8). */
import type { BankCaller, MerchantCaller } from '../access/caller.ts'
import type { CampaignDeps } from './deps.ts'
import { findParties, type HistoryEntry, listHistory } from './history-store.ts'
import { requireOwn } from './merchant-operations.ts'
import { campaignNotFound } from './moves-store.ts'

/**
 * Everything that has happened, first things first. A bank gets the campaign's own steps and those of its part.
 *
 * @throws DomainError 'not-found', also to a bank that is not invited; 'forbidden' for another merchant's campaign
 */
export async function readHistory(
  { database }: Pick<CampaignDeps, 'database'>,
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<HistoryEntry[]> {
  const bankId = caller.type === 'bank' ? caller.bankId : null
  const parties = await findParties(database, cashbackId, bankId)
  if (!parties) throw campaignNotFound('not-found')
  if (caller.type === 'retailer') requireOwn(parties, caller)
  else if (!parties.isInvited) throw campaignNotFound('not-found')
  return listHistory(database, cashbackId, bankId)
}

/** An entry as partners see it. */
export function historyView(entry: HistoryEntry) {
  const { at, actorType, actorId, login, subject, bankId, trigger, from, to, comment } = entry
  const actor = { type: actorType, id: actorId, login }
  return { at: at.toISOString(), actor, subject, bankId, trigger, from, to, comment }
}
