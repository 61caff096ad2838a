import { List } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { directoryQuery } from '../queries.ts'
import type { HistoryEntry } from '../types.ts'
import { changeTexts } from './change-texts.ts'

type Changes = NonNullable<HistoryEntry['changes']>
type Named = { id: string; name: string }

/**
 * The changes of an edit, field by field, with old and new values.
 * @param props.banks the banks whose names are known
 */
export function FieldChanges({ changes, banks }: { changes: Changes; banks: readonly Named[] }) {
  const texts = useTexts(changeTexts)
  const shown = useShownValue(banks)
  const fields: Record<string, string> = texts.fields
  return (
    <List size="sm" withPadding={false} listStyleType="none">
      {Object.entries(changes).map(([field, values]) => (
        <List.Item key={field} style={{ overflowWrap: 'anywhere' }}>
          {fields[field] ?? field}:{' '}
          {values === null ? texts.changed : texts.fromTo(shown(field, values[0]), shown(field, values[1]))}
        </List.Item>
      ))}
    </List>
  )
}

const percents = ['percentage', 'merchantCompensationPercentage']
const amounts = ['minAmount', 'maxAmount', 'maxBudget']
const instants = ['dateFrom', 'dateTo']
/** The maximum number of shown entries; the rest is only counted. */
const maxListed = 5

function useShownValue(banks: readonly Named[]): (field: string, value: unknown) => string {
  const texts = useTexts(changeTexts)
  const format = useFormat()
  const names = useNames()
  const { data: directory } = useQuery(directoryQuery)
  const nameOf = (field: string, element: unknown): string => {
    if (field === 'participantsIds') return banks.find(({ id }) => id === element)?.name ?? texts.otherBank
    if (field !== 'paymentSystemsId') return String(element)
    return directory?.paymentSystems.find(({ id }) => id === element)?.name ?? String(element)
  }
  return (field, value) => {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return texts.nothing
    if (typeof value === 'boolean') return value ? texts.yes : texts.no
    if (Array.isArray(value))
      return value.length > maxListed
        ? texts.entries(format.number(value.length))
        : format.list(value.map(element => nameOf(field, element)))
    if (percents.includes(field)) return format.percent(Number(value))
    if (amounts.includes(field)) return format.money(Number(value))
    if (instants.includes(field)) return format.dateTime(String(value))
    if (field === 'countryCode') return names.country(String(value))
    return typeof value === 'number' ? format.number(value) : String(value)
  }
}
