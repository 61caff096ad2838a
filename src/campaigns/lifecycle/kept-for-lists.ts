/** Values that are stored with a campaign, so that lists and home pages need not read every campaign. */
import type { CampaignState, Change } from './lifecycle.ts'

/**
 * Whether the merchant can probably act now. Its home page shows these campaigns first. The lifecycle decides which
 * actions are really possible. The audit repeats this rule in SQL.
 */
export function isMerchantsTurn({ status, createdByBankId, banks }: CampaignState): boolean {
  switch (status) {
    case 'awaitingCompensationPayment':
      return true
    case 'awaitingBankApproval':
    case 'awaitingMerchantApproval':
      return createdByBankId === null && banks.some(bank => bank.status === 'approved')
    case 'awaitingCompensationConfirmation':
      return banks.some(
        ({ stage }) =>
          stage === 'awaitingMerchantReconciliationConfirmation' || stage === 'awaitingCompensationConfirmation',
      )
    default:
      return false
  }
}

/** A change of the number of a partner's campaigns in one status. `bankStatus` is empty for a merchant. */
export type CountChange = { partyId: string; status: string; bankStatus: string; by: number }

/** The changes of the numbers of campaigns in each status, for the merchants and the banks. */
export function countChanges(
  decided: readonly { before: CampaignState; changes: readonly Change[]; after: CampaignState }[],
): CountChange[] {
  const counts = new Map<string, CountChange>()
  const add = (key: readonly [partyId: string, status: string, bankStatus: string], by: number) => {
    const [partyId, status, bankStatus] = key
    const count = counts.get(key.join()) ?? { partyId, status, bankStatus, by: 0 }
    counts.set(key.join(), { ...count, by: count.by + by })
  }
  for (const { before, changes, after } of decided) {
    const isNew = changes.some(({ subject, from }) => subject === 'campaign' && from === null)
    if (!isNew) for (const key of countedAs(before)) add(key, -1)
    for (const key of countedAs(after)) add(key, 1)
  }
  return [...counts.values()].filter(({ by }) => by !== 0)
}

const countedAs = ({ merchantId, status, banks }: CampaignState) => [
  [merchantId, status, ''] as const,
  ...banks.map(bank => [bank.bankId, status, bank.status] as const),
]
