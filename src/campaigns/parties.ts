/** Who may see a campaign: its merchant, and the banks that are invited (behaviour.md, section 7). */
import type { BankCaller, MerchantCaller } from '../access/caller.ts'
import type { Queryable } from '../db/database.ts'
import { findParties } from './history-store.ts'
import { requireOwn } from './merchant-operations.ts'
import { campaignNotFound } from './moves-store.ts'

/** @throws DomainError 'not-found', also to a bank that is not invited; 'forbidden' for another merchant's campaign */
export async function requireParty(
  database: Queryable,
  { caller, cashbackId }: { caller: BankCaller | MerchantCaller; cashbackId: string },
): Promise<void> {
  const parties = await findParties(database, cashbackId, caller.type === 'bank' ? caller.bankId : null)
  if (!parties) throw campaignNotFound('not-found')
  if (caller.type === 'retailer') requireOwn(parties, caller)
  else if (!parties.isInvited) throw campaignNotFound('not-found')
}
