/** The state that the bank's pages keep in their addresses. */

import { groupNames } from '../campaigns/list/campaign-groups.ts'
import { differenceFields } from '../campaigns/reconciliation/difference-search.ts'
import { counting, cursor, day, month, oneOf, searchParams, tableFields, text } from '../routing/search.ts'
import { orderStatuses } from '../ui/orders.ts'

export const decisions = ['pending', 'approved', 'declined', 'expired'] as const
export const authors = ['retailer', 'bank'] as const

export const campaignsSearch = searchParams({
  ...tableFields(['name', 'status', 'dateFrom', 'percentage', 'createdAt']),
  after: cursor,
  name: text,
  group: oneOf(groupNames),
  decision: oneOf(decisions),
  author: oneOf(authors),
  from: day,
  to: day,
})
export type CampaignsSearch = ReturnType<typeof campaignsSearch>

export const campaignTabs = ['offer', 'terminals', 'history'] as const
export const campaignSearch = searchParams({ tab: oneOf(campaignTabs), page: counting, find: text, since: day })

/** `from` is the id of the campaign to copy. */
export const newCampaignSearch = searchParams({ from: text })

export const reconciliationSearch = searchParams(differenceFields)

/** A chosen tariff: the code of its mobile operator, and the code of the tariff. */
const tariffFields = { operator: text, tariff: text }
export type TariffSearch = { operator?: string | undefined; tariff?: string | undefined }

export const salesSearch = searchParams({ from: day, to: day, ...tariffFields })
export type SalesSearch = ReturnType<typeof salesSearch>

export const statementsSearch = searchParams({ month })
export type StatementsSearch = ReturnType<typeof statementsSearch>

export const ordersSearch = searchParams({
  externalId: text,
  exact: oneOf(['yes']),
  orderId: text,
  status: oneOf(orderStatuses),
  ...tariffFields,
  from: day,
  to: day,
  page: counting,
})
export type OrdersSearch = ReturnType<typeof ordersSearch>
