import { Select, SimpleGrid, Switch } from '@mantine/core'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { timeZones, toZoned } from '../../i18n/time-zone.ts'
import { DaysInput, DayTimeInput } from '../../ui/dates.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'
import { periodOf } from './values.ts'

/** When it runs, in days or to the minute, on the clocks of a time zone. */
export function PeriodSection(part: FormPart) {
  const { form, isOpen } = part
  const texts = useTexts(formTexts)
  const { timeZone } = usePreferences()
  const { zone, hasTimes } = form.values
  const isLocked = !isOpen('dateFrom')
  const zones = [...new Set([timeZone, zone, ...timeZones()])]
  return (
    <FormSection title={texts.sections.period} isOpen={isOpen} fields={['dateFrom', 'dateTo']}>
      {hasTimes ? <Times {...part} /> : <Days {...part} />}
      <Switch
        label={texts.hasTimes}
        disabled={isLocked}
        checked={hasTimes}
        onChange={({ currentTarget }) => switchTimes(form, currentTarget.checked)}
      />
      <Select
        label={texts.zone}
        searchable
        allowDeselect={false}
        disabled={isLocked}
        data={zones}
        limit={60}
        value={zone}
        onChange={chosen => chosen && form.setFieldValue('zone', chosen)}
      />
    </FormSection>
  )
}

/** Whole days become the times at which they begin and end; times become the days that they lie in. */
function switchTimes(form: FormPart['form'], hasTimes: boolean): void {
  const { values } = form
  const { dateFrom, dateTo } = periodOf(values)
  const zoned = (instant: string | undefined, earlierMs = 0) =>
    instant === undefined ? null : toZoned(new Date(Date.parse(instant) - earlierMs), values.zone)
  if (hasTimes) form.setFieldValue('times', [zoned(dateFrom), zoned(dateTo)])
  else form.setFieldValue('days', [zoned(dateFrom)?.slice(0, 10) ?? null, zoned(dateTo, 1)?.slice(0, 10) ?? null])
  form.setFieldValue('hasTimes', hasTimes)
}

function Days({ form, isOpen }: FormPart) {
  const texts = useTexts(formTexts)
  const { days, zone } = form.values
  return (
    <DaysInput
      label={texts.days}
      description={texts.daysHint(zone)}
      isRequired
      isDisabled={!isOpen('dateFrom')}
      error={form.errors.dateFrom ?? form.errors.dateTo}
      value={days}
      onChange={chosen => {
        clearFaults(form)
        form.setFieldValue('days', chosen)
      }}
      data-path="dateFrom"
    />
  )
}

function Times({ form, isOpen }: FormPart) {
  const texts = useTexts(formTexts)
  const [from, to] = form.values.times
  const change = (times: [string | null, string | null]) => {
    clearFaults(form)
    form.setFieldValue('times', times)
  }
  const shared = { isRequired: true, isDisabled: !isOpen('dateFrom'), description: form.values.zone }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <DayTimeInput
        {...shared}
        label={texts.from}
        error={form.errors.dateFrom}
        value={from}
        onChange={value => change([value, to])}
        data-path="dateFrom"
      />
      <DayTimeInput
        {...shared}
        label={texts.to}
        error={form.errors.dateTo}
        {...(from && { earliest: from.slice(0, 10) })}
        value={to}
        onChange={value => change([from, value])}
        data-path="dateTo"
      />
    </SimpleGrid>
  )
}

function clearFaults(form: FormPart['form']): void {
  form.clearFieldError('dateFrom')
  form.clearFieldError('dateTo')
}

/** For the preview: the instant after the last moment, if it is chosen. */
export const endOf = (values: FormPart['form']['values']): string | null => periodOf(values).dateTo ?? null
