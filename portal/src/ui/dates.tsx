/** Input of days with a calendar. Import it only from lazily loaded pages, because it brings the calendar's code. */
import '@mantine/dates/styles.layer.css'
import { type DateInputProps, DatePickerInput, DatesProvider, DateInput as MantineDateInput } from '@mantine/dates'
import { IconCalendar } from '@tabler/icons-react'
import dayjs from 'dayjs'
import 'dayjs/locale/uk'
import type { ReactNode } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'

const daysFormat = 'D MMM YYYY'

/** Wraps everything from `@mantine/dates`: the calendar in the person's language, with weeks from Monday. */
export function Calendar({ children }: { children: ReactNode }) {
  const { language } = usePreferences()
  return <DatesProvider settings={{ locale: language, firstDayOfWeek: 1, weekendDays: [] }}>{children}</DatesProvider>
}

/** Names of the calendar's buttons for screen readers. */
export function useCalendarLabels() {
  const { calendar } = useTexts(uiTexts)
  return {
    ariaLabels: {
      previousMonth: calendar.previousMonth,
      nextMonth: calendar.nextMonth,
      previousYear: calendar.previousYear,
      nextYear: calendar.nextYear,
      previousDecade: calendar.previousYears,
      nextDecade: calendar.nextYears,
    },
    clearButtonProps: { 'aria-label': calendar.clear },
  }
}

/** Settings that all inputs of days share. Days of other months are hidden, because they are hard to read. */
function useCalendarProps() {
  return {
    ...useCalendarLabels(),
    leftSection: <IconCalendar size={16} aria-hidden />,
    hideOutsideDates: true,
    popoverProps: { withRoles: false },
  }
}

/** A field for a day; its value is `YYYY-MM-DD`. */
export function DayInput(props: DateInputProps) {
  const shared = useCalendarProps()
  return (
    <Calendar>
      <MantineDateInput valueFormat={daysFormat} {...shared} {...props} />
    </Calendar>
  )
}

/** The first and last day; `periodOfDays` turns them into a campaign's period in the chosen time zone. */
export function DaysInput(props: {
  /** Without it, `aria-label` is required. */
  label?: string
  'aria-label'?: string
  placeholder?: string
  description?: ReactNode
  error?: ReactNode
  value: [string | null, string | null]
  onChange: (days: [string | null, string | null]) => void
  isRequired?: boolean
  isClearable?: boolean
  isDisabled?: boolean
  earliest?: string
  'data-path'?: string
}) {
  const shared = useCalendarProps()
  const { language } = usePreferences()
  const { isRequired, isClearable, isDisabled, earliest, 'aria-label': name, ...others } = props
  const [from, to] = props.value.map(day => (day ? dayjs(day).locale(language).format(daysFormat) : ''))
  return (
    <Calendar>
      <DatePickerInput
        type="range"
        allowSingleDateInRange
        valueFormat={daysFormat}
        {...shared}
        required={isRequired ?? false}
        clearable={isClearable ?? false}
        disabled={isDisabled ?? false}
        {...(earliest && { minDate: earliest })}
        {...others}
        // The name for screen readers contains the label and the chosen days, because `aria-label` replaces the visible
        // text.
        {...(name && { 'aria-label': from ? `${name}: ${from} – ${to}` : name })}
      />
    </Calendar>
  )
}
