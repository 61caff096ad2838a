/** Builds the responses about campaigns for merchants (contract/campaigns.md, "Detail for the merchant"). */

import type { MerchantCaller } from '../../caller.ts'
import { pageView } from '../../http/paging.ts'
import { hasRight } from '../../roles.ts'
import { type EditedCampaign, editable } from '../lifecycle/editable-fields.ts'
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { BankStatus } from '../lifecycle/transitions.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import type { Details, InvitedBank } from './details-store.ts'
import type { MerchantPage } from './list.ts'
import type { ListItem } from './list-store.ts'

/**
 * The details as JSON text. The fields that only an edit changes, and the terminals, are stored as text.
 *
 * @param merchant the caller; its role decides whether it may change anything
 * @param now the time at which the permitted actions are determined
 */
export function detailsText(details: Details, merchant: MerchantCaller, now: Date): string {
  const { card, terminals } = details
  const rest = {
    status: details.status,
    updatedAt: details.updatedAt,
    expectedCompensation: details.expectedCompensation === null ? null : Number(details.expectedCompensation),
    retailer: { retailerId: details.merchantId, name: details.retailerName },
    country: details.country,
    banks: details.banks.map(invitedBankView),
    permissions: hasRight(merchant, 'changeCampaigns') ? permissions(details, now) : onlyReading,
    statistics: statistics(details),
  }
  return `${card},${JSON.stringify(rest).slice(1, -1)},"terminals":${terminals}}`
}

function invitedBankView(bank: InvitedBank) {
  return {
    id: bank.bankId,
    name: bank.name,
    logoUrl: bank.logoUrl,
    status: bank.status,
    settlementConfirmed: lifecycle.isSettled(bank.stage),
    bankReportingStatus: lifecycle.bankReportingStatus(bank.stage),
    hasBankReport: bank.bankReportUploads > 0,
    hasSecondBankReport: bank.bankReportUploads > 1,
    merchantReportUploadsCount: bank.merchantReportUploads,
  }
}

const onlyReading = { editAbility: false, editableFields: [], deleteAbility: false, confirmAbility: false }

function permissions(campaign: EditedCampaign, now: Date) {
  const { fields } = editable(campaign, now)
  return {
    editAbility: fields.length > 0,
    editableFields: fields,
    deleteAbility: campaign.createdByBankId === null && lifecycle.isPossible(() => lifecycle.remove(campaign, now)),
    confirmAbility: lifecycle.isPossible(() => lifecycle.launch(campaign, now)),
  }
}

function statistics({ banks, terminalsCount, segmentSizes }: Details) {
  const count = (status: BankStatus) => banks.filter(bank => bank.status === status).length
  return {
    banksInvited: banks.length,
    banksPending: count('pending'),
    banksApproved: count('approved'),
    banksDeclined: count('declined'),
    banksExpired: count('expired'),
    terminals: terminalsCount,
    segmentCustomers: segmentSizes.reduce((sum, size) => sum + roundedCustomers(size), 0),
    uploadedReports: banks.reduce((sum, bank) => sum + bank.bankReportUploads + bank.merchantReportUploads, 0),
  }
}

/** One page of the list with its pagination, as JSON text. */
export function pageText({ items, totalItems, ...page }: MerchantPage): string {
  return JSON.stringify(pageView(items.map(listedView), page, totalItems))
}

function listedView(item: ListItem) {
  return {
    cashbackId: item.cashbackId,
    retailerId: item.retailerId,
    banks: item.banks.map(({ bankId, status, stage }) => ({
      id: bankId,
      status,
      settlementConfirmed: lifecycle.isSettled(stage),
    })),
    name: item.name,
    description: item.description,
    status: item.status,
    dateFrom: item.dateFrom,
    dateTo: item.dateTo,
    percentage: Number(item.percentage),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
  }
}
