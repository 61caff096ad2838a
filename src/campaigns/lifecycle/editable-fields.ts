/** Which fields of a campaign its merchant may change in each status (contract/campaigns.md, "Edit"). Pure. */
import { awaitsApproval, type CampaignState, isAgreed, isOver } from './lifecycle.ts'
import type { CampaignStatus } from './transitions.ts'

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

/** The fields that a merchant may still change from the launch of the campaign to the end of its period. */
const onceLaunched: readonly EditableField[] = ['description', 'bannerSmall', 'bannerBig', 'terminals']
/** The fields that can still change once a bank has approved. */
const onceAgreed: readonly EditableField[] = [...onceLaunched, 'participantsIds']

/** Once a bank has approved, entries can be added to these lists but not removed. */
export const growingFields: readonly EditableField[] = ['terminals', 'participantsIds']

/**
 * The data that decides which fields may change. If `terminalsPlatform` is true, the terminals are in the platform's
 * directory.
 */
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
  return { fields: fields.filter(field => !isOfDirectory(field, campaign)), onlyAdding: true }
}

const isLaunched = (status: CampaignStatus): boolean => status === 'approved' || status === 'active'

/**
 * Whether the field is `terminals` and cannot change only because the platform's directory has the campaign's
 * terminals. In this status, other campaigns can get more terminals.
 */
export const isOfDirectory = (field: EditableField, campaign: EditedCampaign): boolean =>
  field === 'terminals' && campaign.terminalsPlatform && (awaitsApproval(campaign) || isLaunched(campaign.status))
