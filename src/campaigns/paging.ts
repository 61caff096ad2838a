/** Lists that are shown page by page, as the merchant's list of campaigns is (contract/campaigns.md, "Merchant list"). */

import Type, { type TSchema } from 'typebox'
import { count, flag } from './campaign-schemas.ts'

const mostOnAPage = 100

export const pagingParameters = {
  page: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'From 1; a page past the end is empty',
  }),
  pageSize: Type.Integer({ minimum: 1, maximum: mostOnAPage, default: 20, description: 'Items on a page' }),
}

export type Page = { page: number; pageSize: number }

export const Pagination = Type.Object(
  {
    page: Type.Integer({ description: 'This page, from 1', examples: [1] }),
    pageSize: Type.Integer({ description: 'Items on a full page', examples: [20] }),
    totalPages: count('Pages of all that the filters find; 0 for none', 3),
    totalItems: count('Items that the filters find', 42),
    hasNextPage: flag('There are items after this page'),
    hasPrevPage: flag('There are items before this page'),
  },
  { title: 'Pagination' },
)

/** One page of such items. */
export function pageOf<Item extends TSchema>(item: Item, description: string) {
  return Type.Object(
    { data: Type.Array(item, { description: 'The items of this page' }), pagination: Pagination },
    { description },
  )
}

export function pageView<View>(data: View[], { page, pageSize }: Page, totalItems: number) {
  const totalPages = Math.ceil(totalItems / pageSize)
  return {
    data,
    pagination: {
      page,
      pageSize,
      totalPages,
      totalItems,
      hasNextPage: page < totalPages,
      hasPrevPage: page > 1 && totalItems > 0,
    },
  }
}

export const skipped = ({ page, pageSize }: Page): number => (page - 1) * pageSize
