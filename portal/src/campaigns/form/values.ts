/** The values of the campaign form, and their conversion to and from the API's fields. Pure. */
import { addDays, daysOfPeriod, fromZoned, periodOfDays, toZoned } from '../../i18n/time-zone.ts'
import { readClock, readDay } from '../../i18n/typed-day.ts'
import type {
  CampaignChange,
  CampaignDetails,
  CampaignOffer,
  CampaignTerminal,
  Directory,
  NewBankCampaign,
  NewCampaign,
} from '../types.ts'
import { asciiAddress } from './web-address.ts'

/** A number; a text while the field is empty or its content is invalid. */
export type Figure = number | string
/** The values for the start and for the end. */
type Sides = [string, string]

export type CampaignValues = {
  /** Used when a bank creates the campaign. If a merchant creates it, the platform knows the merchant. */
  retailerId: string
  name: string
  description: string
  participationTerms: string
  /** The time zone of the days and times. */
  zone: string
  /** Whether the period has times of day. Otherwise it consists of whole days, including the last one. */
  hasTimes: boolean
  /** `YYYY-MM-DD`, or the typed text while it is not a valid day. */
  days: Sides
  /** `HH:mm:ss`, or the typed text while it is not a valid time. Not used while the period consists of whole days. */
  clocks: Sides
  percentage: Figure
  merchantCompensationPercentage: Figure
  minAmount: Figure
  maxAmount: Figure
  maxBudget: Figure
  countryCode: string
  allProducts: boolean
  sku: string[]
  categoryId: string[]
  merchantCategoryCode: string[]
  purchaseOnline: boolean
  purchaseOffline: boolean
  participantsIds: string[]
  terminalsPlatform: boolean
  terminals: CampaignTerminal[]
  paymentSystemsId: string[]
  bannerSmall: string
  bannerBig: string
}

export type EditableField = CampaignDetails['permissions']['editableFields'][number]

/** The body of a form that may be incomplete. */
type Incomplete<Body> = { [Field in keyof Body]?: Body[Field] | undefined }

const midnight = '00:00:00'

export const emptyValues = (zone: string): CampaignValues => ({
  retailerId: '',
  name: '',
  description: '',
  participationTerms: '',
  zone,
  hasTimes: false,
  days: ['', ''],
  clocks: [midnight, midnight],
  percentage: '',
  merchantCompensationPercentage: '',
  minAmount: 0,
  maxAmount: '',
  maxBudget: '',
  countryCode: '',
  allProducts: true,
  sku: [],
  categoryId: [],
  merchantCategoryCode: [],
  purchaseOnline: true,
  purchaseOffline: true,
  participantsIds: [],
  terminalsPlatform: true,
  terminals: [],
  paymentSystemsId: [],
  bannerSmall: '',
  bannerBig: '',
})

/** The initial values of a new campaign. */
export function firstValues(zone: string, { countries }: Pick<Directory, 'countries'>): CampaignValues {
  const [only] = countries.length === 1 ? countries : []
  return { ...emptyValues(zone), countryCode: only?.code ?? '' }
}

/** The fields of an existing campaign from which `valuesOf` makes the form's values. */
type Source = CampaignOffer &
  Pick<CampaignDetails, 'name' | 'bannerSmall' | 'bannerBig' | 'retailer' | 'terminals'> & {
    banks: readonly { id: string }[]
  }

/**
 * The form's values for an existing campaign.
 * @param chosenZone the zone of the form's days and times; UTC is used if the period has whole days in UTC but not in this zone
 */
export function valuesOf(campaign: Source, chosenZone: string): CampaignValues {
  const { dateFrom, dateTo } = campaign
  const zone = [chosenZone, 'UTC'].find(each => daysOfPeriod(dateFrom, dateTo, each) !== null) ?? chosenZone
  const days = daysOfPeriod(dateFrom, dateTo, zone)
  const [from, to] = [toZoned(dateFrom, zone), toZoned(dateTo, zone)]
  return {
    retailerId: campaign.retailer.retailerId,
    name: campaign.name,
    description: campaign.description ?? '',
    participationTerms: campaign.participationTerms ?? '',
    zone,
    hasTimes: days === null,
    days: days ? [days.from, days.to] : [from.slice(0, 10), to.slice(0, 10)],
    clocks: days ? [midnight, midnight] : [from.slice(11), to.slice(11)],
    percentage: campaign.percentage,
    merchantCompensationPercentage: campaign.merchantCompensationPercentage,
    minAmount: campaign.minAmount,
    maxAmount: campaign.maxAmount,
    maxBudget: campaign.maxBudget ?? '',
    countryCode: campaign.country.code,
    allProducts: campaign.allProducts,
    sku: campaign.sku,
    categoryId: campaign.categoryId,
    merchantCategoryCode: campaign.merchantCategoryCode ?? [],
    purchaseOnline: campaign.purchaseOnline,
    purchaseOffline: campaign.purchaseOffline,
    participantsIds: campaign.banks.map(({ id }) => id),
    terminalsPlatform: campaign.terminalsPlatform,
    terminals: campaign.terminalsPlatform ? [] : campaign.terminals,
    paymentSystemsId: campaign.paymentSystemsId,
    bannerSmall: campaign.bannerSmall ?? '',
    bannerBig: campaign.bannerBig ?? '',
  }
}

/**
 * The terms of a campaign, without its dates, as the initial values of a new campaign.
 *
 * @param invitable the banks that can be invited now; others are left out
 * @param zone the time zone of the new dates
 */
export function copyOf(values: CampaignValues, invitable: readonly { id: string }[], zone: string): CampaignValues {
  const { days, clocks, hasTimes } = emptyValues(zone)
  const participantsIds = values.participantsIds.filter(id => invitable.some(bank => bank.id === id))
  return { ...values, zone, days, clocks, hasTimes, participantsIds }
}

/** The period in UTC; an invalid start or end is left out. */
export function periodOf({ hasTimes, days, clocks, zone }: CampaignValues): { dateFrom?: string; dateTo?: string } {
  const isRead = (side: 0 | 1) => readDay(days[side]) !== null && (!hasTimes || readClock(clocks[side]) !== null)
  const instant = (side: 0 | 1) =>
    fromZoned(hasTimes ? `${readDay(days[side])} ${readClock(clocks[side])}` : days[side], zone).toISOString()
  return {
    ...(isRead(0) && { dateFrom: instant(0) }),
    ...(isRead(1) && { dateTo: hasTimes ? instant(1) : periodOfDays(days[1], days[1], zone).dateTo }),
  }
}

/**
 * Converts the period between times and whole days: days become the times at which they begin and end, and vice versa.
 */
export function withTimes(
  values: CampaignValues,
  hasTimes: boolean,
): Pick<CampaignValues, 'hasTimes' | 'days' | 'clocks'> {
  const [from, to] = values.days
  const end = readDay(to)
  const endsAtMidnight = readClock(values.clocks[1]) === midnight
  const shifted = end === null ? to : hasTimes ? addDays(end, 1) : endsAtMidnight ? addDays(end, -1) : end
  return { hasTimes, days: [from, shifted], clocks: [midnight, midnight] }
}

/**
 * The body of the request. Empty fields are left out, although the type requires them: the platform decides whether they
 * are required, and names them.
 */
export function bodyOf(values: CampaignValues): NewCampaign {
  const { allProducts, terminalsPlatform, merchantCategoryCode } = values
  const body: Incomplete<NewCampaign> = {
    ...periodOf(values),
    name: values.name.trim(),
    description: values.description.trim() || null,
    participationTerms: values.participationTerms.trim() || null,
    percentage: figure(values.percentage),
    merchantCompensationPercentage: figure(values.merchantCompensationPercentage),
    minAmount: figure(values.minAmount),
    maxAmount: figure(values.maxAmount),
    maxBudget: figure(values.maxBudget) ?? null,
    countryCode: values.countryCode || undefined,
    allProducts,
    sku: allProducts ? [] : values.sku,
    categoryId: allProducts ? [] : values.categoryId,
    merchantCategoryCode: merchantCategoryCode.length > 0 ? merchantCategoryCode : null,
    purchaseOnline: values.purchaseOnline,
    purchaseOffline: values.purchaseOffline,
    participantsIds: values.participantsIds,
    terminalsPlatform,
    ...(!terminalsPlatform && { terminals: values.terminals }),
    paymentSystemsId: values.paymentSystemsId,
    bannerSmall: asciiAddress(values.bannerSmall.trim()) || null,
    bannerBig: asciiAddress(values.bannerBig.trim()) || null,
  }
  return body as NewCampaign
}

/** The request of a bank: it names the merchant instead of banks. */
export function bankBodyOf(values: CampaignValues): NewBankCampaign {
  const { participantsIds: _, ...others } = bodyOf(values)
  const body: Incomplete<NewBankCampaign> = { ...others, ...(values.retailerId && { retailerId: values.retailerId }) }
  return body as NewBankCampaign
}

const figure = (value: Figure): number | undefined => (typeof value === 'number' ? value : undefined)

/** Only the fields that an edit changes. */
export function changedBody(before: CampaignValues, after: CampaignValues): CampaignChange {
  const [old, now] = [bodyOf(before), bodyOf(after)]
  const fields = Object.keys(now) as EditableField[]
  return Object.fromEntries(
    fields.filter(field => !isSame(unordered(old[field]), unordered(now[field]))).map(field => [field, now[field]]),
  )
}

/** Whether two forms describe the same campaign. If only one form has a day that cannot be read, they are different. */
export const areSame = (one: CampaignValues, other: CampaignValues): boolean =>
  [changedBody(one, other), changedBody(other, one)].every(body => Object.keys(body).length === 0)

/** The values that make up a period. They belong together: for example, a day has no meaning without its time zone. */
export const periodValues = ['zone', 'hasTimes', 'days', 'clocks'] as const satisfies (keyof CampaignValues)[]

const isOfPeriod = (name: string): boolean => (periodValues as readonly string[]).includes(name)

/**
 * The values that differ. If one value of the period differs, all values of the period are included. So the whole
 * period is kept when the changes are applied to another version of the campaign or in another time zone.
 */
export function changedValues(before: CampaignValues, after: CampaignValues): Partial<CampaignValues> {
  const names = Object.keys(after) as (keyof CampaignValues)[]
  const differing = names.filter(name => !isSame(before[name], after[name]))
  const hasPeriod = differing.some(isOfPeriod)
  const kept = names.filter(name => differing.includes(name) || (hasPeriod && isOfPeriod(name)))
  return Object.fromEntries(kept.map(name => [name, after[name]]))
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Sorts lists, because the platform may return the lists of a campaign in a different order than they were sent. */
const unordered = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(item => JSON.stringify(item)).sort() : value
