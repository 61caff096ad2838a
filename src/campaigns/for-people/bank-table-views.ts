/** Builds the answers about campaigns for a bank's people. */
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { BankCampaign, BankCampaignDetails, OwnPart } from './bank-table-store.ts'

/** The bank's part with the contract's field names, and its compensation. */
function partView(part: OwnPart) {
  return {
    bankStatus: part.bankStatus,
    settlementConfirmed: lifecycle.isSettled(part.stage),
    compensationAcknowledged: part.stage === 'acknowledged',
    bankReportingStatus: lifecycle.bankReportingStatus(part.stage),
    hasBankReport: part.bankReportUploads > 0,
    hasSecondBankReport: part.bankReportUploads > 1,
    merchantReportUploadsCount: part.merchantReportUploads,
    expectedCompensation: part.expectedCompensation === null ? null : Number(part.expectedCompensation),
  }
}

export function bankCampaignView(campaign: BankCampaign) {
  return {
    cashbackId: campaign.cashbackId,
    retailer: { retailerId: campaign.retailerId, name: campaign.retailerName, nameEn: campaign.retailerNameEn },
    createdByType: campaign.createdByBankId === null ? 'retailer' : 'bank',
    name: campaign.name,
    status: campaign.status,
    ...partView(campaign),
    dateFrom: campaign.dateFrom.toISOString(),
    dateTo: campaign.dateTo.toISOString(),
    percentage: Number(campaign.percentage),
    merchantCompensationPercentage: Number(campaign.merchantCompensationPercentage),
    maxBudget: campaign.maxBudget === null ? null : Number(campaign.maxBudget),
    currency: campaign.currency,
    terminalsCount: campaign.terminalsCount,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  } as const
}

/**
 * One campaign as JSON text. The fields that only an edit changes are stored as text.
 *
 * @param now the time at which the permitted actions are determined
 */
export function bankCampaignText(details: BankCampaignDetails, bankId: string, now: Date): string {
  const { segment } = details
  const rest = {
    status: details.status,
    updatedAt: details.updatedAt,
    retailer: { retailerId: details.merchantId, name: details.retailerName, nameEn: details.retailerNameEn },
    country: details.country,
    ...partView(details),
    terminalsCount: details.terminalsCount,
    segment: segment && { ...segment, formedAt: new Date(segment.formedAt).toISOString() },
    permissions: permissions(details, bankId, now),
  }
  return `${details.card},${JSON.stringify(rest).slice(1)}`
}

function permissions(details: BankCampaignDetails, bankId: string, now: Date) {
  const bank = { bankId, status: details.bankStatus, stage: details.stage }
  const campaign = { ...details, banks: [bank] }
  return {
    confirmAbility: lifecycle.isPossible(() => lifecycle.confirm(campaign, bank, now)),
    rejectAbility: lifecycle.isPossible(() => lifecycle.reject(campaign, bank, now)),
    uploadReportAbility: lifecycle.isPossible(() => lifecycle.uploadBankReport(bank)),
    acknowledgeAbility: lifecycle.isPossible(() => lifecycle.acknowledge(campaign, bank)),
  }
}
