/** In errors of the campaign form, names the wrong value of a list or the wrong terminal. */
import { ApiError } from '../../api/errors.ts'
import type { CampaignValues } from './values.ts'

const lists = ['sku', 'categoryId', 'merchantCategoryCode'] as const
export type ListName = (typeof lists)[number]

/**
 * Puts the typed values into the errors about lists, because the platform names a value by its place in the list.
 *
 * @param values the values that were sent
 */
export function withListedValues(error: unknown, values: Pick<CampaignValues, ListName | 'terminals'>): unknown {
  if (!(error instanceof ApiError)) return error
  const named = (field: string) => {
    const [name, place, property] = field.split('.')
    const terminal = name === 'terminals' && values.terminals[Number(place)]
    if (terminal) return `terminals.${terminal.terminal_id}${property === 'terminal_id' ? '' : `, ${property}`}`
    const list = lists.find(each => each === name)
    const value = list && values[list][Number(place)]
    return value === undefined ? field : `${list}.${value}`
  }
  return error.with({ fieldErrors: error.fieldErrors.map(one => ({ ...one, field: named(one.field) })) })
}
