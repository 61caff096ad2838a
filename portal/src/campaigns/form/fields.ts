/**
 * The fields of the form in the order of the page. They have the platform's names, so that an error of the platform can
 * be shown at its field.
 */
import type { UseFormReturnType } from '@mantine/form'
import type { CampaignValues, EditableField } from './values.ts'

export const campaignFields = [
  'retailerId',
  'name',
  'description',
  'participationTerms',
  'countryCode',
  'dateFrom',
  'clockFrom',
  'dateTo',
  'clockTo',
  'percentage',
  'merchantCompensationPercentage',
  'minAmount',
  'maxAmount',
  'maxBudget',
  'allProducts',
  'sku',
  'categoryId',
  'purchaseOnline',
  'purchaseOffline',
  'merchantCategoryCode',
  'participantsIds',
  'terminalsPlatform',
  'terminals',
  'paymentSystemsId',
  'bannerSmall',
  'bannerBig',
] as const satisfies readonly (EditableField | 'retailerId' | 'clockFrom' | 'clockTo')[]
export type FormField = (typeof campaignFields)[number]

/** The properties of every section of the form. */
export type FormPart = {
  form: UseFormReturnType<CampaignValues>
  /** Whether the campaign's status allows changes to the field. */
  isOpen(field: EditableField): boolean
  /** Whether a bank fills in the form for a merchant. */
  isByBank: boolean
}

export const maxLength = { name: 27, description: 666, participationTerms: 1024 }

/** Whether lists may only grow, because a bank has approved (contract/campaigns.md, "Edit"). */
export const mayOnlyGrow = (editable: readonly EditableField[]): boolean => !editable.includes('name')
