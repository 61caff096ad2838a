/** A campaign's form: what it holds while somebody fills it in, and what is sent. Pure. */
import { daysOfPeriod, fromZoned, periodOfDays, toZoned } from '../../i18n/time-zone.ts'
import type { CampaignDetails, CampaignTerminal } from '../types.ts'

/** A field of numbers is a text while it is empty, or not a number yet. */
type Figure = number | string
type Days = [string | null, string | null]

export type CampaignValues = {
  /** Chosen where a bank creates the campaign; a merchant's own id is known. */
  retailerId: string
  name: string
  description: string
  participationTerms: string
  /** In which the days and times are meant. */
  zone: string
  /** False: the period is of whole days. */
  hasTimes: boolean
  days: Days
  /** `YYYY-MM-DD HH:mm:ss` in the zone. */
  times: Days
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

/** What is sent; a field that is not filled in is left out, and the platform says whether it has to be given. */
export type CampaignBody = { [Field in EditableField]?: unknown }

export const emptyValues = (zone: string): CampaignValues => ({
  retailerId: '',
  name: '',
  description: '',
  participationTerms: '',
  zone,
  hasTimes: false,
  days: [null, null],
  times: [null, null],
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

/** @param zone the chosen one; a period that is whole days of UTC, but not of it, is shown in UTC */
export function valuesOf(campaign: CampaignDetails, chosenZone: string): CampaignValues {
  const { dateFrom, dateTo } = campaign
  const zone = [chosenZone, 'UTC'].find(each => daysOfPeriod(dateFrom, dateTo, each) !== null) ?? chosenZone
  const days = daysOfPeriod(dateFrom, dateTo, zone)
  return {
    retailerId: campaign.retailer.retailerId,
    name: campaign.name,
    description: campaign.description ?? '',
    participationTerms: campaign.participationTerms ?? '',
    zone,
    hasTimes: days === null,
    days: days ? [days.from, days.to] : [null, null],
    times: [toZoned(dateFrom, zone), toZoned(dateTo, zone)],
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

/** The period in UTC; a side that is not chosen yet is left out. */
export function periodOf({ hasTimes, days, times, zone }: CampaignValues): { dateFrom?: string; dateTo?: string } {
  const [from, to] = hasTimes ? times : days
  const instant = (local: string) => fromZoned(local, zone).toISOString()
  return {
    ...(from && { dateFrom: instant(from) }),
    ...(to && { dateTo: hasTimes ? instant(to) : periodOfDays(to, to, zone).dateTo }),
  }
}

export function bodyOf(values: CampaignValues): CampaignBody {
  const { allProducts, terminalsPlatform, merchantCategoryCode } = values
  return {
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
    bannerSmall: values.bannerSmall.trim() || null,
    bannerBig: values.bannerBig.trim() || null,
  }
}

/** What a bank sends: the merchant in place of the banks. */
export function bankBodyOf(values: CampaignValues): Omit<CampaignBody, 'participantsIds'> & { retailerId?: string } {
  const { participantsIds: _, ...body } = bodyOf(values)
  return { ...body, ...(values.retailerId && { retailerId: values.retailerId }) }
}

const figure = (value: Figure): number | undefined => (value === '' ? undefined : Number(value))

/** Only what an edit changes. */
export function changedBody(before: CampaignValues, after: CampaignValues): CampaignBody {
  const [old, now] = [bodyOf(before), bodyOf(after)]
  const fields = Object.keys(now) as EditableField[]
  return Object.fromEntries(fields.filter(field => !isSame(old[field], now[field])).map(field => [field, now[field]]))
}

/** The values that differ; put over newer ones they are the same edit again. */
export function changedValues(before: CampaignValues, after: CampaignValues): Partial<CampaignValues> {
  const names = Object.keys(after) as (keyof CampaignValues)[]
  return Object.fromEntries(names.filter(name => !isSame(before[name], after[name])).map(name => [name, after[name]]))
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
