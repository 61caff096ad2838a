/** The filters of the bank's list of campaigns (contract/campaigns.md, "Bank list"). */

import Type from 'typebox'
import { type BrokenRule, eachOnce } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { closed, uuid } from '../../http/schemas.ts'
import { nameParameter, namePattern } from '../../text/name-pattern.ts'
import { activeOnParameter, periodParameters, readPeriodFilter } from '../../text/period-filter.ts'
import { type BankStatus, bankStatuses, type CampaignStatus } from '../lifecycle/transitions.ts'
import type { ListFilters } from './list-store.ts'

/** How each value of `status` filters the campaign and this bank's part in it. */
const statusFilters: Record<string, { campaign: CampaignStatus; bank: BankStatus | null }> = {
  active: { campaign: 'active', bank: 'approved' },
  finished: { campaign: 'awaitingCompensationConfirmation', bank: null },
  approved: { campaign: 'approved', bank: 'approved' },
  deleted: { campaign: 'deleted', bank: null },
}

export const skuParameter = {
  sku: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 100,
      description: 'Campaigns that name any of these SKUs; repeated: `sku=a&sku=b` or `sku[]=a&sku[]=b`',
      examples: [['4820000000017']],
    }),
  ),
}

export const ListQuery = Type.Object(
  {
    ...nameParameter,
    ...skuParameter,
    retailerId: Type.Optional(uuid('Campaigns of this merchant')),
    status: Type.Optional(
      Type.Enum(Object.keys(statusFilters), {
        description:
          'active: the campaign runs and this bank takes part; approved: both have agreed, it has not started; finished: its ' +
          'period has ended and reconciliation is under way; deleted: deleted. Left out: every campaign, deleted ones too',
        examples: ['active'],
      }),
    ),
    bankApprovalStatus: Type.Optional(
      Type.Array(Type.Enum([...bankStatuses], { title: 'BankStatus' }), {
        maxItems: 100,
        description: 'Campaigns in which this bank has one of these statuses; repeated, or with commas',
        examples: [['pending', 'approved']],
      }),
    ),
    ...periodParameters,
    ...activeOnParameter,
  },
  closed,
)

/** Converts the query to the schema's form. Lists may be repeated or written with brackets, and statuses with commas. */
export function withLists(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { sku, 'sku[]': skus, bankApprovalStatus, 'bankApprovalStatus[]': statuses, ...others } = query
  const listed = {
    sku: together(sku, skus),
    bankApprovalStatus: together(bankApprovalStatus, statuses)?.flatMap(text => text.split(',')),
  }
  return { ...others, ...Object.fromEntries(Object.entries(listed).filter(([, list]) => list !== undefined)) }
}

/** Joins the values of a repeatable parameter; undefined when it is absent. */
export function together(...params: unknown[]): string[] | undefined {
  const values = params.flat().filter(value => typeof value === 'string')
  return values.length > 0 ? values : undefined
}

type Query = {
  name?: string
  sku?: string[]
  retailerId?: string
  status?: string
  bankApprovalStatus?: string[]
  dateFrom?: string
  dateTo?: string
  activeOn?: string
}

/**
 * Reads the filters of the list.
 *
 * @param query in the form of the schema
 * @param schemaErrors the schema errors of the query
 * @throws DomainError 'invalid' with all errors
 */
export function readFilters(query: Query, schemaErrors: readonly BrokenRule[]): ListFilters {
  const errors = [...schemaErrors]
  const period = readPeriodFilter(query, errors)
  if (errors.length > 0) throw new DomainError('invalid', eachOnce(errors))
  const { name, sku, retailerId, status, bankApprovalStatus } = query
  const statusFilter = status === undefined ? undefined : statusFilters[status]
  // The value of `status` may demand a status of the bank. If `bankApprovalStatus` is given as well, both must hold.
  const requestedBankStatuses = bankApprovalStatus ?? (statusFilter?.bank ? [statusFilter.bank] : null)
  return {
    namePattern: name === undefined ? null : namePattern(name),
    sku: sku ?? null,
    retailerId: retailerId ?? null,
    campaignStatus: statusFilter?.campaign ?? null,
    bankStatuses: statusFilter?.bank
      ? (requestedBankStatuses?.filter(one => one === statusFilter.bank) ?? null)
      : requestedBankStatuses,
    ...period,
  }
}
