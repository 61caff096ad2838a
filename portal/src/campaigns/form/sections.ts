/** The sections of the form in the order of the page, and the state of each. Pure. */
import type { FormErrors } from '@mantine/form'
import type { FormField, FormPart } from './fields.ts'
import type { CampaignValues, EditableField } from './values.ts'

const sectionNames = [
  'retailer',
  'basics',
  'period',
  'money',
  'products',
  'banks',
  'terminals',
  'paymentSystems',
  'banners',
] as const
export type SectionName = (typeof sectionNames)[number]

const sectionFields: Record<SectionName, readonly FormField[]> = {
  retailer: ['retailerId'],
  basics: ['name', 'description', 'participationTerms', 'countryCode'],
  period: ['dateFrom', 'clockFrom', 'dateTo', 'clockTo'],
  money: ['percentage', 'merchantCompensationPercentage', 'minAmount', 'maxAmount', 'maxBudget'],
  products: ['allProducts', 'sku', 'categoryId', 'purchaseOnline', 'purchaseOffline', 'merchantCategoryCode'],
  banks: ['participantsIds'],
  terminals: ['terminalsPlatform', 'terminals'],
  paymentSystems: ['paymentSystemsId'],
  banners: ['bannerSmall', 'bannerBig'],
}

/** The id of the element to jump to. */
export const sectionId = (name: SectionName): string => `section-${name}`

/**
 * The state of a section. `error`: a field shows a message. `todo`: something is missing. `done`: it can be saved as it
 * is.
 */
export type SectionState = 'error' | 'todo' | 'done'

/**
 * @param errors the errors that the form shows now
 * @param problems the errors that an attempt to save would show
 */
export function sectionState(name: SectionName, errors: FormErrors, problems: FormErrors): SectionState {
  const fields = sectionFields[name]
  if (fields.some(field => errors[field])) return 'error'
  return fields.some(field => problems[field]) ? 'todo' : 'done'
}

/** The sections that have something to fill in. */
export function shownSections(
  { isOpen, isByBank }: Pick<FormPart, 'isOpen' | 'isByBank'>,
  { terminalsPlatform }: Pick<CampaignValues, 'terminalsPlatform'>,
): SectionName[] {
  return sectionNames.filter(name => {
    if (name === 'retailer') return isByBank
    if (name === 'banks' && isByBank) return false
    // The campaign uses the terminals of the platform's directory, and this can no longer be changed, so there is
    // nothing to enter here.
    if (name === 'terminals' && terminalsPlatform && !isOpen('terminalsPlatform')) return false
    return sectionFields[name].some(field => isOpen(field as EditableField))
  })
}
