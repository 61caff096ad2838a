/** The query of the campaign list for a bank's people. */

import Type from 'typebox'
import type { BrokenRule } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { listingParameters, type Page } from '../../http/paging.ts'
import { closed } from '../../http/schemas.ts'
import { nameParameter, namePattern } from '../../text/name-pattern.ts'
import { periodParameters, readPeriodFilter } from '../../text/period-filter.ts'
import { type BankStatus, bankStatuses, type CampaignStatus, campaignStatuses } from '../lifecycle/transitions.ts'
import { type BankCampaignSearch, type SortBy, sortBys } from './bank-table-store.ts'

const several = <Value extends string>(title: string, values: readonly Value[], description: string) =>
  Type.Optional(
    Type.Array(Type.Enum([...values], { title }), {
      maxItems: values.length,
      description: `${description}; repeated for several`,
      examples: [[values[0]]],
    }),
  )

const filters = {
  ...nameParameter,
  status: several(
    'CampaignStatus',
    campaignStatuses,
    'Campaigns in one of these statuses; left out, all but deleted ones',
  ),
  bankStatus: several('BankStatus', bankStatuses, 'Campaigns in which this bank has one of these statuses'),
  createdByType: Type.Optional(
    Type.Enum(['bank', 'retailer'], { title: 'CreatorType', description: 'Who created it' }),
  ),
  ...periodParameters,
}

export const CampaignsExportQuery = Type.Object(filters, closed)

export const BankCampaignsQuery = Type.Object(
  {
    ...listingParameters,
    ...filters,
    sortBy: Type.Enum([...sortBys], {
      default: 'createdAt',
      description:
        '`status` sorts from the first to the last state, `name` by Unicode code point; ties are sorted by id',
    }),
    sortOrder: Type.Enum(['ASC', 'DESC'], { default: 'DESC', description: 'Direction' }),
  },
  closed,
)

/** Makes a repeatable parameter a list even when it is given once. */
export function withLists(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lists = (['status', 'bankStatus'] as const).filter(name => query[name] !== undefined)
  return { ...query, ...Object.fromEntries(lists.map(name => [name, [query[name]].flat()])) }
}

type Filters = {
  name?: string
  status?: CampaignStatus[]
  bankStatus?: BankStatus[]
  createdByType?: 'bank' | 'retailer'
  dateFrom?: string
  dateTo?: string
}
type Query = Page & Filters & { sortBy: SortBy; sortOrder: 'ASC' | 'DESC' }

/** @throws DomainError 'invalid' for an invalid date */
export function readBankCampaignSearch(query: Query): BankCampaignSearch {
  return { ...readFilters(query), sort: { by: query.sortBy, ascending: query.sortOrder === 'ASC' } }
}

/** @throws DomainError 'invalid' for an invalid date */
export function readFilters(query: Filters): Omit<BankCampaignSearch, 'sort'> {
  const errors: BrokenRule[] = []
  const { startsFrom, endsBy } = readPeriodFilter(query, errors)
  if (errors.length > 0) throw new DomainError('invalid', errors)
  return {
    namePattern: query.name ? namePattern(query.name) : null,
    statuses: query.status ? [...new Set(query.status)] : campaignStatuses.filter(status => status !== 'deleted'),
    bankStatuses: query.bankStatus ? [...new Set(query.bankStatus)] : bankStatuses,
    createdByType: query.createdByType ?? null,
    startsFrom,
    endsBy,
  }
}
