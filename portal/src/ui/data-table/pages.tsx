import { Group, NativeSelect, Pagination, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { uiTexts } from '../texts.ts'
import type { Paging } from './columns.ts'
import { maxScanned } from './further.tsx'
import { pageSizes, usePageSize } from './page-size.ts'

/** How many rows a list with pages has. */
export const lengthText = (
  { totalItems, isComplete = true }: Paging,
  texts: SameTexts<(typeof uiTexts)['en']['table']>,
): string => (!isComplete && totalItems >= maxScanned ? texts.more(totalItems) : texts.found(totalItems))

/**
 * Shows the number of rows, with links to the other pages.
 *
 * @param props.of the name of the list for screen readers, if the page has several lists with pages
 * @param props.isSizeChosen the list uses `usePageSize`, so a choice of the size is offered
 * @param props.isTold screen readers hear the number of rows from another element, which stays while the list is read again
 */
export function Pages(props: {
  paging: Paging
  onPage: (page: number) => void
  of?: string
  isSizeChosen?: boolean
  isTold?: boolean
}) {
  const { paging, onPage, of, isSizeChosen = false, isTold = false } = props
  const { table } = useTexts(uiTexts)
  const format = useFormat()
  const { page, totalPages, totalItems } = paging
  const names: Record<string, string> = { previous: table.previousPage, next: table.nextPage }
  return (
    <Group justify="space-between" mt="md" gap="sm">
      <Text size="sm" c="dimmed" {...(isTold ? { 'aria-hidden': true } : { role: 'status' })}>
        {lengthText(paging, table)}
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
