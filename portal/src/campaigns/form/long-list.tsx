import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { formTexts } from './form-texts.ts'

/** How many values of a long list are shown. */
export const shownOfLong = 5

/**
 * A list that is too long to show: how long it is, its first values, and a button that clears it.
 *
 * @param props.status how long the list is, or how it has just changed
 * @param props.count the number of values
 * @param props.children the first values, at most `shownOfLong`
 * @param props.onClear null: the list cannot be cleared
 * @param props.onShowAll shows every value, so that one of them can be removed; left out: the list cannot be shown in full
 */
export function LongList(props: {
  status: string
  count: number
  children: ReactNode
  isDisabled: boolean
  onClear: (() => void) | null
  onShowAll?: () => void
}) {
  const { status, count, children, isDisabled, onClear, onShowAll } = props
  const texts = useTexts(formTexts)
  return (
    <>
      <Text size="sm" fw={600} role="status">
        {status}
      </Text>
      {count > 0 && (
        <div>
          {count > shownOfLong && (
            <Text size="sm" c="dimmed">
              {texts.first(shownOfLong)}
            </Text>
          )}
          {children}
        </div>
      )}
      {count > 0 && onClear && (
        <Group>
          <Button variant="default" size="xs" disabled={isDisabled} onClick={onClear}>
            {texts.clearList}
          </Button>
          {onShowAll && (
            <Button variant="default" size="xs" disabled={isDisabled} onClick={onShowAll}>
              {texts.showAll}
            </Button>
          )}
        </Group>
      )}
    </>
  )
}
