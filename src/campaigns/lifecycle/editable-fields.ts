/** Which fields of a campaign its merchant may change in each status (contract/campaigns.md, "Edit"). Pure. */
import { awaitsApproval, type CampaignState, type CampaignStatus, isAgreed, isOver } from './lifecycle.ts'

/** The contract's names of the fields that a merchant can fill in. */
export const editableFields = [
  'participantsIds',
  'name',
  'description',
  'participationTerms',
  'bannerSmall',
  'bannerBig',
  'sku',
  'categoryId',
  'allProducts',
  'purchaseOnline',
  'purchaseOffline',
  'dateFrom',
  'dateTo',
  'minAmount',
  'maxAmount',
  'maxBudget',
  'percentage',
  'countryCode',
  'terminals',
  'terminalsPlatform',
  'paymentSystemsId',
  'merchantCompensationPercentage',
  'merchantCategoryCode',
] as const
export type EditableField = (typeof editableFields)[number]

/**
 * The fields that only the merchant sees. Banks get neither their values (so `cardText` leaves them out) nor their
 * changes. If an edit changes only these fields, banks get no event, and the version that a bank has seen stays
 * current.
 */
export const hiddenFromBanks: readonly EditableField[] = ['participantsIds']
export const isHiddenFromBanks = (field: string): boolean => hiddenFromBanks.some(hidden => hidden === field)

/** The fields that can still change once the campaign is launched, until its period ends. */
const onceLaunched: readonly EditableField[] = ['description', 'bannerSmall', 'bannerBig', 'terminals']
/** The fields that can still change once a bank has approved. */
const onceAgreed: readonly EditableField[] = [...onceLaunched, 'participantsIds']

/** Once a bank has approved, entries can be added to these lists but not removed. */
export const growingFields: readonly EditableField[] = ['terminals', 'participantsIds']

/** What decides which fields may change. With `terminalsPlatform`, the platform's directory holds the terminals. */
export type EditedCampaign = CampaignState & { terminalsPlatform: boolean }

/** @returns which fields the merchant may change now, and whether entries can only be added to lists, not removed */
export function editable(
  campaign: EditedCampaign,
  now: Date,
): { fields: readonly EditableField[]; onlyAdding: boolean } {
  const { status } = campaign
  if (campaign.createdByBankId !== null || isOver(campaign, now)) return { fields: [], onlyAdding: true }
  if (awaitsApproval(campaign) && !isAgreed(campaign)) return { fields: editableFields, onlyAdding: false }
  const fields = awaitsApproval(campaign) ? onceAgreed : isLaunched(status) ? onceLaunched : []
  return { fields: fields.filter(field => field !== 'terminals' || !campaign.terminalsPlatform), onlyAdding: true }
}

const isLaunched = (status: CampaignStatus): boolean => status === 'approved' || status === 'active'

/**
 * Whether an unchanged `terminals` is explained by the platform's directory: in every other campaign of this status terminals can be
 * added.
 */
export const isOfDirectory = (field: EditableField, campaign: EditedCampaign): boolean =>
  field === 'terminals' && campaign.terminalsPlatform && (awaitsApproval(campaign) || isLaunched(campaign.status))
