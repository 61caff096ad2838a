/** Types of the platform's answers about campaigns, named as in its documents. */
import type { components, paths } from '../api/schema/perkline.ts'

/** `etag` is the version that was read; a change must send it. */
export type Versioned = { etag: string | null }
export type CampaignDetails = components['schemas']['CampaignDetails'] & Versioned
export type InvitedBank = CampaignDetails['banks'][number]
export type CampaignTerminal = CampaignDetails['terminals'][number]

export type NewCampaign = components['schemas']['NewCampaign']
export type NewBankCampaign = components['schemas']['NewBankCampaign']
export type CampaignChange = components['schemas']['CampaignChange']

/** The fields of the offer that merchants and banks both get. */
export type CampaignOffer = Pick<
  CampaignDetails,
  | 'description'
  | 'participationTerms'
  | 'sku'
  | 'categoryId'
  | 'allProducts'
  | 'purchaseOnline'
  | 'purchaseOffline'
  | 'dateFrom'
  | 'dateTo'
  | 'minAmount'
  | 'maxAmount'
  | 'maxBudget'
  | 'percentage'
  | 'merchantCompensationPercentage'
  | 'merchantCategoryCode'
  | 'paymentSystemsId'
  | 'terminalsPlatform'
  | 'country'
>

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

export type Directory = Answer<'/portal/directory'>
export type ListedTerminal = Answer<'/portal/cashbacks/{cashbackId}/terminals'>['data'][number]
export type Segment = Answer<'/portal/cashbacks/{cashbackId}/segment'>
export type Home = Answer<'/portal/home'>
export type HomeTask = Home['tasks'][number]
export type HistoryEntry = Answer<'/portal/cashbacks/{cashbackId}/history'>[number]
/** A page of a history, oldest entries first. `next`: where the page with older entries begins; null: there is none. */
export type HistoryPage = { data: HistoryEntry[]; next: string | null }
export type BankDecision = Answer<'/portal/cashbacks/{cashbackId}/decisions'>[number]
type Reconciliation = Answer<'/portal/cashbacks/{cashbackId}/reconciliation'>
export type ReconciledBank = Reconciliation['banks'][number] & Versioned
export type Report = ReconciledBank['reports'][number]
export type Difference = ReconciledBank['differences']['items'][number]
export type DifferenceKind = Difference['kind']
