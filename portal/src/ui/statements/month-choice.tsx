import { ActionIcon, Group, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { monthAfter } from './months.ts'
import { statementTexts } from './texts.ts'

/**
 * Goes to the previous or next month.
 * @param props.month `YYYY-MM`
 */
export function MonthChoice({ month, onMonth }: { month: string; onMonth(month: string): void }) {
  const texts = useTexts(statementTexts)
  const { locale } = useFormat()
  const name = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return (
    <Group gap="xs" mb="md" role="group" aria-label={texts.month}>
      <ActionIcon variant="default" aria-label={texts.before} onClick={() => onMonth(monthAfter(month, -1))}>
        <IconChevronLeft size={16} aria-hidden />
      </ActionIcon>
      <Text fw={600} role="status" miw={140} ta="center">
        {name.format(new Date(`${month}-01T00:00:00Z`))}
      </Text>
      <ActionIcon variant="default" aria-label={texts.after} onClick={() => onMonth(monthAfter(month, 1))}>
        <IconChevronRight size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}
