/** Why the form cannot be sent yet, by field. The platform checks everything again. Pure. */
import type { SameTexts } from '../../i18n/texts.ts'
import { isSkipped } from '../../i18n/time-zone.ts'
import { isMissingDay, readClock, readDay } from '../../i18n/typed-day.ts'
import { isTooLong } from '../../ui/text-length.ts'
import { type FormField, maxLength } from './fields.ts'
import type { formTexts } from './form-texts.ts'
import { type CampaignValues, type EditableField, type Figure, periodOf } from './values.ts'

type Texts = SameTexts<(typeof formTexts)['en']>
/** The message for each wrong field; true if the field shows its own message. */
export type Problems = Partial<Record<FormField, string | true>>
type Found = Partial<Record<FormField, string | boolean | null | undefined>>

/**
 * @param form.isOpen whether a field may be changed; only these fields are checked
 * @param form.isByBank a bank fills in the form, so it chooses a merchant instead of banks
 * @param texts the texts of the form in the person's language
 */
export function problemsOf(
  values: CampaignValues,
  form: { isOpen(field: EditableField): boolean; isByBank: boolean },
  texts: Texts,
): Problems {
  const { problems: words } = texts
  const found: Found = {
    ...basics(values, words),
    ...period(values, words),
    ...money(values, words),
    retailerId: form.isByBank && values.retailerId === '' && words.retailer,
    sku: !values.allProducts && values.sku.length + values.categoryId.length === 0 && words.products,
    merchantCategoryCode: wrongCodes(values.merchantCategoryCode, words),
    participantsIds: !form.isByBank && values.participantsIds.length === 0 && words.banks,
    terminals: !values.terminalsPlatform && values.terminals.length === 0 && words.terminals,
    paymentSystemsId: values.paymentSystemsId.length === 0 && words.paymentSystems,
  }
  return Object.fromEntries(
    Object.entries(found).filter(([field, problem]) => problem && (isOwn(field) || form.isOpen(permissionOf(field)))),
  ) as Problems
}

const isOwn = (field: string): boolean => field === 'retailerId'

const permissionOf = (field: string): EditableField =>
  field === 'clockFrom' ? 'dateFrom' : field === 'clockTo' ? 'dateTo' : (field as EditableField)

function basics(values: CampaignValues, texts: Texts['problems']): Found {
  const tooLong = (field: keyof typeof maxLength) => isTooLong(values[field], maxLength[field])
  return {
    name: values.name.trim() === '' ? texts.required : tooLong('name'),
    description: tooLong('description'),
    participationTerms: tooLong('participationTerms'),
    countryCode: values.countryCode === '' && texts.required,
  }
}

const wrongCodes = (codes: readonly string[], texts: Texts['problems']): string =>
  codes
    .filter(code => !/^\d{4}$/.test(code))
    .map(texts.code)
    .join('; ')

function period(values: CampaignValues, texts: Texts['problems']): Found {
  const { days, clocks, hasTimes, zone } = values
  const day = (side: 0 | 1) => {
    const typed = days[side]
    if (typed.trim() === '') return texts.required
    return readDay(typed) === null && (isMissingDay(typed) ? texts.missingDay : texts.day)
  }
  const clock = (side: 0 | 1) => {
    if (!hasTimes) return null
    const [day, time] = [readDay(days[side]), readClock(clocks[side])]
    if (time === null) return texts.clock
    return day !== null && isSkipped(`${day} ${time}`, zone) && texts.skipped
  }
  const { dateFrom, dateTo } = periodOf(values)
  const isReversed = dateFrom !== undefined && dateTo !== undefined && dateTo <= dateFrom
  return {
    dateFrom: day(0),
    clockFrom: clock(0),
    dateTo: day(1) || (isReversed && texts.order),
    clockTo: clock(1),
  }
}

function money(values: CampaignValues, texts: Texts['problems']): Found {
  const number = (value: Figure, isRequired = true) => {
    if (typeof value === 'number') return null
    return value.trim() === '' ? isRequired && texts.required : texts.number
  }
  const share = (value: Figure) => number(value) || (Number(value) > 100 && texts.share)
  const { minAmount, maxAmount, maxBudget } = values
  const isReversed = typeof minAmount === 'number' && typeof maxAmount === 'number' && maxAmount < minAmount
  return {
    percentage: share(values.percentage),
    merchantCompensationPercentage: share(values.merchantCompensationPercentage),
    minAmount: number(minAmount),
    maxAmount: number(maxAmount) || (isReversed && texts.amounts),
    maxBudget: number(maxBudget, false) || (maxBudget === 0 && texts.budget),
  }
}
