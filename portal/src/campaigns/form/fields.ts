/** The fields of the form in the order of the page. They have the platform's names, so that its errors find their fields. */
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

/** What every section of the form works with. */
export type FormPart = {
  form: UseFormReturnType<CampaignValues>
  /** Whether the state of the campaign permits a change of the field. */
  isOpen(field: EditableField): boolean
  /** A bank writes it, for a merchant. */
  isByBank: boolean
}

export const maxLength = { name: 27, description: 666, participationTerms: 1024 }

/** Lengths count characters as a person does. */
export const lengthOf = (text: string): number => [...text].length
