/** Lists with pages, like the merchant's list of campaigns (contract/campaigns.md, "Merchant list"). */

import Type, { type TSchema } from 'typebox'
import { mustBe } from '../error-rules.ts'
import { count, flag } from './schemas.ts'

const maxPageSize = 100

export const pagingParameters = {
  page: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'From 1; a page past the end is empty',
  }),
  pageSize: Type.Integer({ minimum: 1, maximum: maxPageSize, default: 20, description: 'Items on a page' }),
}

/**
 * The query parameters of a list. With `after`, a client can read a list of any length completely, even while the list
 * grows.
 */
export const listingParameters = {
  ...pagingParameters,
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,18}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      ...mustBe('cursor'),
      description:
        'The `next` of the previous page. `page` then counts from there. So do `totalItems` and `totalPages` of a list that is ' +
        'filtered by more than states and partners, or not sorted newest first; of other lists they still count the whole list. ' +
        'Leave it out to begin with the newest campaign',
      examples: ['1795377600000000_9b2f1c52-6a3e-4d53-9d0f-2f8f7f0c6b11'],
    }),
  ),
}

/** The maximum number of items that one page of a list reads, filters and sorts. */
export const maxScanned = 10_000

/** The position of a page. @property after the cursor of the last item on the previous page */
export type Page = { page: number; pageSize: number; after?: string }

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

/** The paging of lists that may have more than `maxScanned` items. */
const ListingPagination = Type.Object(
  {
    ...Pagination.properties,
    hasPrevPage: flag('There is a page before this one; with `after` always true: the page that gave it'),
    isComplete: flag(
      `false: there are more campaigns than the newest ${maxScanned}, and only these were counted, filtered and sorted`,
    ),
    next: Type.Union([Type.String(), Type.Null()], {
      description:
        'Send it as `after` to read the following campaigns. Null: there are none; or the order is not the newest first: then continue ' +
        'by `page` while `hasNextPage` is true',
    }),
  },
  { title: 'ListingPagination' },
)

/** The schema of a page of a list with these items. */
export const pageOf = <Item extends TSchema>(item: Item, description: string) => pageWith(Pagination, item, description)

/** The schema of a page of a list that may have more than `maxScanned` items. */
export const listingOf = <Item extends TSchema>(item: Item, description: string) =>
  pageWith(ListingPagination, item, description)

function pageWith<Item extends TSchema, Paging extends TSchema>(pagination: Paging, item: Item, description: string) {
  return Type.Object({ data: Type.Array(item, { description: 'The items of this page' }), pagination }, { description })
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

/**
 * A page of a list that may have more than `maxScanned` items.
 *
 * @param found.isComplete false: there are more items than were examined
 * @param found.hasMore there are more items after this page
 */
export function listingView<View>(
  data: View[],
  page: Page,
  found: { totalItems: number; isComplete: boolean; hasMore: boolean; next: string | null },
) {
  const { pagination } = pageView(data, page, Math.min(found.totalItems, maxScanned))
  const { isComplete, next } = found
  if (page.after === undefined) return { data, pagination: { ...pagination, isComplete, next } }
  return { data, pagination: { ...pagination, hasNextPage: found.hasMore, hasPrevPage: true, isComplete, next } }
}

export const skipped = ({ page, pageSize }: Page): number => (page - 1) * pageSize
