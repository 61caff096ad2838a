import { SimpleGrid, Switch } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import { ClockField, DayField, isDay } from '../../ui/day-field.tsx'
import { TimeZoneSelect } from '../../ui/search-select.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'
import { periodOf, withTimes } from './values.ts'

/** The period of the campaign, in days or to the minute, in a time zone. */
export function PeriodSection(part: FormPart) {
  const { form, isOpen } = part
  const texts = useTexts(formTexts)
  const { zone, hasTimes, days } = form.values
  const isLocked = !isOpen('dateFrom')
  const [first] = days
  return (
    <FormSection name="period" title={texts.sections.period} isOpen={isOpen} fields={['dateFrom', 'dateTo']}>
      <Moment {...part} side={0} day="dateFrom" clock="clockFrom" />
      <Moment {...part} side={1} day="dateTo" clock="clockTo" earliest={isDay(first) ? first : undefined} />
      <Switch
        label={texts.hasTimes}
        description={hasTimes ? undefined : texts.wholeDays(zone)}
        disabled={isLocked}
        checked={hasTimes}
        onChange={({ currentTarget }) => {
          form.setValues(withTimes(form.values, currentTarget.checked))
          clearErrors(form)
        }}
      />
      <TimeZoneSelect
        label={texts.zone}
        disabled={isLocked}
        value={zone}
        onChange={chosen => {
          form.setFieldValue('zone', chosen)
          clearErrors(form)
        }}
      />
    </FormSection>
  )
}

type Side = { side: 0 | 1; day: 'dateFrom' | 'dateTo'; clock: 'clockFrom' | 'clockTo'; earliest?: string | undefined }

/** The start or the end: a day, and a time if times are entered. */
function Moment({ form, isOpen, side, day, clock, earliest }: FormPart & Side) {
  const { period: texts } = useTexts(formTexts)
  const { hasTimes, days, clocks } = form.values
  const shared = { isDisabled: !isOpen('dateFrom') }
  const change = (name: 'days' | 'clocks', value: string) => {
    const sides: [string, string] = [...form.values[name]]
    sides[side] = value
    form.setFieldValue(name, sides)
    clearErrors(form)
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <DayField
        {...shared}
        label={(hasTimes ? texts.days : texts.wholeDays)[day]}
        error={form.errors[day]}
        value={days[side]}
        earliest={earliest}
        onChange={value => change('days', value)}
        data-path={day}
      />
      {hasTimes && (
        <ClockField
          {...shared}
          label={texts.clocks[clock]}
          error={form.errors[clock]}
          value={clocks[side]}
          onChange={value => change('clocks', value)}
          data-path={clock}
        />
      )}
    </SimpleGrid>
  )
}

function clearErrors(form: FormPart['form']): void {
  for (const field of ['dateFrom', 'clockFrom', 'dateTo', 'clockTo']) form.clearFieldError(field)
}

/** For the preview: the end of the period (exclusive); null if the input is invalid. */
export const endOf = (values: FormPart['form']['values']): string | null => periodOf(values).dateTo ?? null
