/** The parameters of the merchant's list (contract/campaigns.md, "Merchant list"). */

import Type from 'typebox'
import { type BrokenRule, eachOnce, mustBe } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { closed } from '../../http/schemas.ts'
import { nameParameter, namePattern } from '../../text/name-pattern.ts'
import { periodParameters, readPeriodFilter } from '../../text/period-filter.ts'
import { skuParameter, together } from '../for-bank/list-query.ts'
import { type CampaignStatus, campaignStatuses } from '../lifecycle/transitions.ts'
import { CampaignStatus as Status } from '../schemas.ts'
import { type ListRequest, type SortBy, sortBys } from './list-store.ts'

const generalStatuses: Record<string, readonly CampaignStatus[]> = {
  awaitingApproval: ['awaitingBankApproval', 'awaitingMerchantApproval'],
  approved: ['approved'],
  active: ['active'],
  finished: [
    'awaitingCompensationConfirmation',
    'awaitingCompensationPayment',
    'paymentConfirmed',
    'compensationReceived',
    'completed',
  ],
  closed: ['declined', 'expired', 'deleted'],
}

const maxPageSize = 100
const defaultPageSize = 20
/** The highest page number, with fifteen digits. A JSON number holds every such number exactly. */
const maxPages = 999_999_999_999_999

export const MerchantListQuery = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPages,
        ...mustBe('whole-number', { min: 1, max: maxPages }),
        description: 'Page, from 1; a page past the end is empty. Default: 1',
      }),
    ),
    pageSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPageSize,
        ...mustBe('whole-number', { min: 1, max: maxPageSize }),
        description: `Campaigns on a page. Left out: ${defaultPageSize}`,
      }),
    ),
    ...nameParameter,
    ...skuParameter,
    status: Type.Optional({
      ...Status,
      description:
        'Campaigns in this status. Deleted ones are listed only with `status=deleted` or `generalStatus=closed`',
    }),
    generalStatus: Type.Optional(
      Type.Enum(Object.keys(generalStatuses), {
        title: 'CampaignGroup',
        description:
          'Campaigns in one of several statuses: awaitingApproval: both that await approval; approved; active; finished: the ' +
          'five after the period; closed: declined, expired and deleted',
        examples: ['active'],
      }),
    ),
    ...periodParameters,
    sortBy: Type.Optional(
      Type.Enum([...sortBys], {
        description:
          '`status` sorts from the first to the last state, `name` by Unicode code point; ties are sorted by id. Default: createdAt',
      }),
    ),
    sortOrder: Type.Optional(
      Type.String({
        pattern: '^(?:[Aa][Ss][Cc]|[Dd][Ee][Ss][Cc])$',
        ...mustBe('sort-order'),
        description: 'ASC or DESC, in any case. Default: DESC',
      }),
    ),
  },
  closed,
)

/** Converts the query to the schema's form. SKUs may be repeated or written with brackets. */
export function withSkuList(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { sku, 'sku[]': skus, ...others } = query
  const listed = together(sku, skus)
  return { ...others, ...pagesOf(others), ...(listed && { sku: listed }) }
}

/**
 * Marks a page number that is not written in digits as wrong, so that the schema refuses it. The schema's own
 * conversion would accept `1e1`, `0x1` or a leading space.
 */
function pagesOf({ page, pageSize }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isOdd = (text: unknown) => typeof text === 'string' && !/^\d{1,15}$/.test(text)
  return { ...(isOdd(page) && { page: 'odd' }), ...(isOdd(pageSize) && { pageSize: 'odd' }) }
}

type Query = {
  dateFrom?: string
  dateTo?: string
  page?: number
  pageSize?: number
  name?: string
  sku?: string[]
  status?: CampaignStatus
  generalStatus?: string
  sortBy?: SortBy
  sortOrder?: string
}

/**
 * Reads which page of the list is requested, with its filters and its sort.
 *
 * @param query in the form of the schema
 * @param schemaErrors the schema errors of the query
 * @throws DomainError 'invalid' with all errors
 */
export function readListRequest(query: Query, schemaErrors: readonly BrokenRule[]): ListRequest {
  const errors = [...schemaErrors]
  const { startsFrom, endsBy } = readPeriodFilter(query, errors)
  if (errors.length > 0) throw new DomainError('invalid', eachOnce(errors))
  return {
    page: query.page ?? 1,
    pageSize: query.pageSize ?? defaultPageSize,
    filter: {
      statuses: statusesOf(query),
      namePattern: query.name ? namePattern(query.name) : null,
      sku: query.sku ?? null,
      startsFrom,
      endsBy,
    },
    sort: { by: query.sortBy ?? 'createdAt', ascending: query.sortOrder?.toUpperCase() === 'ASC' },
  }
}

/** Deleted campaigns appear only when `status` or `generalStatus` asks for them. */
function statusesOf({ status, generalStatus }: Query): CampaignStatus[] {
  const group = generalStatus === undefined ? null : (generalStatuses[generalStatus] ?? [])
  if (status === undefined) return [...(group ?? campaignStatuses.filter(one => one !== 'deleted'))]
  return group === null || group.includes(status) ? [status] : []
}
