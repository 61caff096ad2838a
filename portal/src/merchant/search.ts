/** The state that the merchant's pages keep in their addresses. */

import { groupNames, statusNames } from '../campaigns/list/campaign-groups.ts'
import { differenceFields } from '../campaigns/reconciliation/difference-search.ts'
import { counting, day, oneOf, searchParams, tableFields, text } from '../routing/search.ts'

const sortColumns = ['name', 'status', 'dateFrom', 'percentage', 'createdAt'] as const

export const campaignsSearch = searchParams({
  ...tableFields(sortColumns),
  name: text,
  group: oneOf(groupNames),
  status: oneOf(statusNames),
  from: day,
  to: day,
})
export type CampaignsSearch = ReturnType<typeof campaignsSearch>

export const campaignTabs = ['offer', 'banks', 'terminals', 'segment', 'history'] as const
export const campaignSearch = searchParams({ tab: oneOf(campaignTabs), page: counting, find: text })

/** `from` is the id of the campaign to copy. */
export const newCampaignSearch = searchParams({ from: text })

export const reconciliationSearch = searchParams(differenceFields)
