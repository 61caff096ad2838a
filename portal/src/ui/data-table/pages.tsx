import { Group, NativeSelect, Pagination, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { uiTexts } from '../texts.ts'
import type { Paging } from './columns.ts'
import { maxScanned } from './further.tsx'
import { pageSizes, usePageSize } from './page-size.ts'

/**
 * Shows the number of rows, with links to the other pages.
 *
 * @param props.of the name of the list for screen readers, if the page has several lists with pages
 * @param props.isSizeChosen the list uses `usePageSize`, so a choice of the size is offered
 */
export function Pages(props: { paging: Paging; onPage: (page: number) => void; of?: string; isSizeChosen?: boolean }) {
  const { paging, onPage, of, isSizeChosen = false } = props
  const { table } = useTexts(uiTexts)
  const format = useFormat()
  const { page, totalPages, totalItems, isComplete = true } = paging
  const names: Record<string, string> = { previous: table.previousPage, next: table.nextPage }
  return (
    <Group justify="space-between" mt="md" gap="sm">
      <Text size="sm" c="dimmed" role="status">
        {!isComplete && totalItems >= maxScanned ? table.more(totalItems) : table.found(totalItems)}
      </Text>
      <Group gap="sm">
        {isSizeChosen && totalItems > pageSizes[0] && <SizeSelect onChosen={() => onPage(1)} />}
        {totalPages > 1 && (
          <Pagination
            component="nav"
            aria-label={of === undefined ? table.pages : `${table.pages}: ${of}`}
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
    </Group>
  )
}

function SizeSelect({ onChosen }: { onChosen: () => void }) {
  const { table } = useTexts(uiTexts)
  const [size, choose] = usePageSize()
  return (
    <NativeSelect
      aria-label={table.pageSize}
      size="xs"
      data={pageSizes.map(each => ({ value: String(each), label: table.onPage(each) }))}
      value={String(size)}
      onChange={({ currentTarget }) => {
        const chosen = pageSizes.find(each => String(each) === currentTarget.value)
        if (!chosen) return
        choose(chosen)
        onChosen()
      }}
    />
  )
}
