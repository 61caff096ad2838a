/** The state that the operator's pages keep in their addresses. */

import { statusNames } from '../campaigns/list/campaign-groups.ts'
import { counting, cursor, day, month, oneOf, searchParams, tableFields, text } from '../routing/search.ts'
import { orderStatuses } from '../ui/orders.ts'

export const partnersSearch = searchParams({ tab: oneOf(['banks', 'merchants']), page: counting, search: text })
export type PartnersSearch = ReturnType<typeof partnersSearch>

export const accessSearch = searchParams({ tab: oneOf(['users', 'credentials']), search: text, page: counting })
export type AccessSearch = ReturnType<typeof accessSearch>

const stockColumns = ['tariff', 'free', 'sold', 'cover'] as const
export const stockSearch = searchParams({ ...tableFields(stockColumns), level: oneOf(['low', 'out']) })
export type StockSearch = ReturnType<typeof stockSearch>

export const ordersSearch = searchParams({
  externalId: text,
  bank: text,
  status: oneOf(orderStatuses),
  from: day,
  to: day,
  page: counting,
})
export type OrdersSearch = ReturnType<typeof ordersSearch>

export const statementsSearch = searchParams({ month, bank: text, page: counting })
export type StatementsSearch = ReturnType<typeof statementsSearch>

export const campaignsSearch = searchParams({ page: counting, after: cursor, search: text, status: oneOf(statusNames) })
export type CampaignsSearch = ReturnType<typeof campaignsSearch>
