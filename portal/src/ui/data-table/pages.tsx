import { Group, Pagination, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { uiTexts } from '../texts.ts'
import type { Paging } from './columns.ts'

/** How many there are, and the way to the other pages. */
export function Pages({ paging, onPage }: { paging: Paging; onPage: (page: number) => void }) {
  const { table } = useTexts(uiTexts)
  const format = useFormat()
  const { page, totalPages, totalItems } = paging
  const names: Record<string, string> = { previous: table.previousPage, next: table.nextPage }
  return (
    <Group justify="space-between" mt="md" gap="sm">
      <Text size="sm" c="dimmed" role="status">
        {table.found(totalItems)}
      </Text>
      {totalPages > 1 && (
        <Pagination
          component="nav"
          aria-label={table.pages}
          size="sm"
          total={totalPages}
          value={page}
          onChange={onPage}
          siblings={1}
          getItemProps={item => ({ 'aria-label': table.page(format.number(item)) })}
          getControlProps={control => ({ 'aria-label': names[control] ?? control })}
        />
      )}
    </Group>
  )
}
