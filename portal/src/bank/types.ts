/** Types of the platform's answers to a bank, named as in its documents. */
import type { paths as PartnerPaths } from '../api/schema/partner.ts'
import type { paths } from '../api/schema/perkline.ts'
import type { Versioned } from '../campaigns/types.ts'

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

export type ListedCampaign = Answer<'/portal/cashbacks'>['data'][number]
export type BankCampaign = Answer<'/portal/cashbacks/{cashbackId}'> & Versioned
export type Sales = Answer<'/portal/esim/sales'>
export type Order = Answer<'/portal/esim/orders'>['data'][number]
export type OrderWithTimeline = Answer<'/portal/esim/orders/{orderId}'>
type PartnerAnswer<Path extends keyof PartnerPaths> = PartnerPaths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
export type Statement = PartnerAnswer<'/partner/v1/statements/{statementId}'>
export type StatementLine = PartnerAnswer<'/partner/v1/statements/{statementId}/lines'>['data'][number]
export type StockOperator = Answer<'/portal/esim/stock'>[number]
