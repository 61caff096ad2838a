/** Who may see a campaign: its merchant, and the banks that are invited (contract/portal.md, "Reads"). */
import type { BankCaller, MerchantCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { requireOwn } from '../for-merchant/operations.ts'
import { campaignNotFound } from '../not-found.ts'
import { findParties } from './store.ts'

export const bankNotInvited = (): DomainError => new DomainError('not-found', 'The bank is not invited to the campaign')

/**
 * Checks that the caller may see the campaign.
 *
 * @param params.bankId the bank whose part is read. If it is left out, a bank reads its own part, and the merchant all
 *   parts
 * @throws DomainError 'not-found' for an unknown campaign, and when the calling bank or the requested bank is not invited;
 *   'forbidden' for another merchant's campaign
 */
export async function requireParty(
  database: Queryable,
  params: { caller: BankCaller | MerchantCaller; cashbackId: string; bankId?: string },
): Promise<void> {
  const { caller, cashbackId } = params
  const bankId = params.bankId ?? (caller.type === 'bank' ? caller.bankId : null)
  const parties = await findParties(database, cashbackId, bankId)
  if (!parties) throw campaignNotFound('not-found')
  if (caller.type === 'retailer') requireOwn(parties, caller)
  if (bankId === null || parties.isInvited) return
  throw caller.type === 'bank' ? campaignNotFound('not-found') : bankNotInvited()
}
