import { Button, Group, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { uiTexts } from '../texts.ts'
import type { Paging } from './columns.ts'
import type { TableSearch } from './use-table-search.ts'

/** The maximum number of items that the platform examines for one list. */
export const maxScanned = 10_000

/**
 * Explains that only a part of a list was examined, with links to the next part and back to the first.
 *
 * @param props.after where the list begins, from the address
 */
export function Further(props: {
  paging: Paging | undefined
  after: string | undefined
  onSearch: (change: TableSearch) => void
}) {
  const { paging, after, onSearch } = props
  const { table } = useTexts(uiTexts)
  const format = useFormat()
  const { isComplete = true, next, page, totalPages } = paging ?? { page: 1, totalPages: 1 }
  if (isComplete && after === undefined) return null
  return (
    <Group gap="sm" mt="sm">
      {!isComplete && (
        <Text size="sm" c="dimmed">
          {table.notAll(format.number(maxScanned))}
        </Text>
      )}
      {!isComplete && next && page >= totalPages && (
        <Button size="xs" variant="light" onClick={() => onSearch({ after: next })}>
          {table.further}
        </Button>
      )}
      {after !== undefined && (
        <Button size="xs" variant="subtle" onClick={() => onSearch({ after: undefined })}>
          {table.back}
        </Button>
      )}
    </Group>
  )
}
