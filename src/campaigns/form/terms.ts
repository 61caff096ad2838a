/** The terms of a campaign: everything that its author fills in, except who is invited. */
import type { TerminalList } from './terminal-list.ts'

/** The terms of a campaign. Amounts and percentages are exact decimal texts. */
export type Terms = {
  name: string
  description: string | null
  participationTerms: string | null
  bannerSmall: string | null
  bannerBig: string | null
  sku: string[]
  categoryId: string[]
  allProducts: boolean
  purchaseOnline: boolean
  purchaseOffline: boolean
  dateFrom: Date
  dateTo: Date
  minAmount: string
  maxAmount: string
  maxBudget: string | null
  percentage: string
  merchantCompensationPercentage: string
  merchantCategoryCode: string[] | null
  /** ISO 3166-1 alpha-2, in upper case. */
  countryCode: string
  paymentSystemsId: string[]
  terminals: TerminalList
  terminalsPlatform: boolean
}

/** The terms without the terminals, which can be a long list. */
export type Offer = Omit<Terms, 'terminals'>

/** The merchant and the author of a campaign; they never change. */
export type Origin = {
  cashbackId: string
  merchantId: string
  /** null: the merchant is the author. */
  createdByBankId: string | null
  createdAt: Date
}

/**
 * JSON text of the fields that only an edit changes, without its closing brace. Banks, the merchant and the operator
 * get the same text, so it must not contain fields that only the merchant may see (`hiddenFromBanks`). Terminals are
 * stored separately, because they are long and may come from the platform's directory.
 */
export function cardText(origin: Origin, terms: Offer, countryId: string): string {
  const { cashbackId, merchantId, createdByBankId, createdAt } = origin
  return JSON.stringify({
    cashbackId,
    retailerId: merchantId,
    createdByRetailerId: createdByBankId === null ? merchantId : null,
    createdByBankId,
    createdByType: createdByBankId === null ? 'retailer' : 'bank',
    name: terms.name,
    description: terms.description,
    participationTerms: terms.participationTerms,
    bannerSmall: terms.bannerSmall,
    bannerBig: terms.bannerBig,
    sku: terms.sku,
    categoryId: terms.categoryId,
    allProducts: terms.allProducts,
    purchaseOnline: terms.purchaseOnline,
    purchaseOffline: terms.purchaseOffline,
    dateFrom: terms.dateFrom,
    dateTo: terms.dateTo,
    // Amounts have at most 2 decimals and are below 10^10, so the numbers are exact.
    minAmount: Number(terms.minAmount),
    maxAmount: Number(terms.maxAmount),
    maxBudget: terms.maxBudget === null ? null : Number(terms.maxBudget),
    percentage: Number(terms.percentage),
    merchantCompensationPercentage: Number(terms.merchantCompensationPercentage),
    merchantCategoryCode: terms.merchantCategoryCode,
    countryId,
    terminalsPlatform: terms.terminalsPlatform,
    paymentSystemsId: terms.paymentSystemsId,
    createdAt,
  }).slice(0, -1)
}
