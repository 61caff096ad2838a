/** The time of a campaign's last change, as far as a bank may know it (contract/http.md, "Versions of a campaign"). */
import type { Queryable, Statement } from '../db/database.ts'
import type { LockedCampaign } from './lifecycle/locking-store.ts'

/**
 * SQL for the `updatedAt` that a bank gets: the last change of the campaign's status or terms, or of the bank's own
 * part or segment. Changes of other banks' parts do not count. The campaign's row is `c`.
 *
 * @param changedAt SQL for `changed_at` of the bank's row in `campaign_banks`
 */
export const updatedForBank = (changedAt: string): string =>
  `greatest(coalesce(c.shared_at, c.updated_at), ${changedAt})`

const seenStatement: Statement = {
  name: 'campaigns.updated-for-bank',
  text: `
    select ${updatedForBank('b.changed_at')} as "updatedAt"
    from campaigns c join campaign_banks b using (cashback_id) where c.cashback_id = $1 and b.bank_id = $2`,
}

/** Returns the campaign with its `updatedAt` replaced by the one that the bank may see. */
export async function asSeenByBank(
  transaction: Queryable,
  campaign: LockedCampaign,
  bankId: string,
): Promise<LockedCampaign> {
  const [seen] = await transaction.query<{ updatedAt: Date }>(seenStatement, [campaign.cashbackId, bankId])
  return { ...campaign, ...seen }
}
