/**
 * Fields for a day and a time of day. Both can be typed, and the day can also be chosen from a calendar below the
 * field. Import them only from lazily loaded pages.
 */
import { ActionIcon, Paper, TextInput } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { readClock, readDay, writeClock, writeDay } from '../i18n/typed-day.ts'
import { Calendar, useCalendarLabels } from './dates.tsx'
import { uiTexts } from './texts.ts'
import { useTyped } from './use-typed.ts'

type Field = {
  label: string
  description?: ReactNode
  error?: ReactNode
  isDisabled?: boolean
  'data-path'?: string
  onChange: (value: string) => void
}

/** @param props.value `YYYY-MM-DD`, or the typed text while it is not a valid day */
export function DayField(props: Field & { value: string; earliest?: string | undefined }) {
  const { value, earliest, isDisabled = false, onChange, ...others } = props
  const texts = useTexts(uiTexts).calendar
  const { language } = usePreferences()
  const { ariaLabels } = useCalendarLabels()
  const [isOpen, { toggle, close }] = useDisclosure()
  const input = useRef<HTMLInputElement>(null)
  const typed = useTyped<string>({
    value,
    read: readDay,
    write: input => (isDay(input) ? writeDay(input, language) : input),
    onChange,
  })
  const chosen = isDay(value) ? value : null
  return (
    <div>
      <TextInput
        {...others}
        {...typed}
        ref={input}
        required
        disabled={isDisabled}
        placeholder={texts.dayForm}
        autoComplete="off"
        rightSection={
          <ActionIcon
            variant="subtle"
            color="gray"
            disabled={isDisabled}
            aria-label={texts.open(others.label)}
            aria-expanded={isOpen}
            onClick={toggle}
          >
            <IconCalendar size={17} aria-hidden />
          </ActionIcon>
        }
      />
      {isOpen && (
        <Paper withBorder p="sm" mt="xs" w="fit-content" role="group" aria-label={others.label}>
          <Calendar>
            <DatePicker
              value={chosen}
              hideOutsideDates
              ariaLabels={ariaLabels}
              {...((chosen ?? earliest) ? { defaultDate: chosen ?? earliest ?? '' } : {})}
              {...(earliest && { minDate: earliest })}
              onChange={day => {
                if (day) onChange(day)
                close()
                input.current?.focus()
              }}
            />
          </Calendar>
        </Paper>
      )}
    </div>
  )
}

/** @param props.value `HH:mm:ss`, or the typed text while it is not a valid time */
export function ClockField(props: Field & { value: string }) {
  const { value, isDisabled = false, onChange, ...others } = props
  const texts = useTexts(uiTexts).calendar
  const typed = useTyped<string>({
    value,
    read: readClock,
    write: input => (isClock(input) ? writeClock(input) : input),
    onChange,
  })
  return (
    <TextInput {...others} {...typed} required disabled={isDisabled} placeholder={texts.clockForm} autoComplete="off" />
  )
}

/** Whether a value of `DayField` is a day. */
export const isDay = (value: string): boolean => readDay(value) === value

/** Whether a value of `ClockField` is a time of day. */
const isClock = (value: string): boolean => readClock(value) === value
