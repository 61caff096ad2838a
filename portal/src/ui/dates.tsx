/** Entering days, in people's calendar. Import it from pages that load by themselves: it brings the calendar's code. */
import '@mantine/dates/styles.layer.css'
import {
  type DateInputProps,
  DatePickerInput,
  DatesProvider,
  DateTimePicker,
  DateInput as MantineDateInput,
} from '@mantine/dates'
import { IconCalendar } from '@tabler/icons-react'
import 'dayjs/locale/uk'
import type { ReactNode } from 'react'
import { usePreferences } from '../i18n/preferences.tsx'

function Calendar({ children }: { children: ReactNode }) {
  const { language } = usePreferences()
  return <DatesProvider settings={{ locale: language, firstDayOfWeek: 1 }}>{children}</DatesProvider>
}

/** A day, `YYYY-MM-DD`. */
export function DayInput(props: DateInputProps) {
  return (
    <Calendar>
      <MantineDateInput valueFormat="D MMM YYYY" leftSection={<IconCalendar size={16} aria-hidden />} {...props} />
    </Calendar>
  )
}

/** First and last day; `periodOfDays` makes a campaign's period of them, in the chosen time zone. */
export function DaysInput(props: {
  /** Without one it needs an `aria-label`. */
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
  const { isRequired, isClearable, isDisabled, earliest, ...others } = props
  return (
    <Calendar>
      <DatePickerInput
        type="range"
        allowSingleDateInRange
        valueFormat="D MMM YYYY"
        leftSection={<IconCalendar size={16} aria-hidden />}
        required={isRequired ?? false}
        clearable={isClearable ?? false}
        disabled={isDisabled ?? false}
        {...(earliest && { minDate: earliest })}
        {...others}
      />
    </Calendar>
  )
}

/** A moment of a day, `YYYY-MM-DD HH:mm:ss` on the clocks of whichever time zone is meant. */
export function DayTimeInput(props: {
  label: string
  description?: ReactNode
  error?: ReactNode
  value: string | null
  onChange: (moment: string | null) => void
  isRequired?: boolean
  isDisabled?: boolean
  earliest?: string
  'data-path'?: string
}) {
  const { isRequired, isDisabled, earliest, ...others } = props
  return (
    <Calendar>
      <DateTimePicker
        valueFormat="D MMM YYYY HH:mm"
        leftSection={<IconCalendar size={16} aria-hidden />}
        required={isRequired ?? false}
        disabled={isDisabled ?? false}
        {...(earliest && { minDate: earliest })}
        {...others}
      />
    </Calendar>
  )
}
