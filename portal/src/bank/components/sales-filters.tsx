import { Chip, Group, Stack, Text } from '@mantine/core'
import classes from '../../campaigns/parts.module.css'
import { useTexts } from '../../i18n/preferences.tsx'
import { addDays, toZoned } from '../../i18n/time-zone.ts'
import { useNow } from '../../session/use-now.ts'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { esimTexts } from '../esim-texts.ts'
import { daysIn, maxDays } from '../sales-figures.ts'
import type { SalesSearch } from '../search.ts'
import { TariffSelect } from './tariff-select.tsx'

/** The person can choose the last 7, 30, 90 or 365 days. */
const spans = [7, 30, 90, 365]
/** The number of days that the platform counts when no days are given. */
const defaultSpan = 30

/** Whether the chosen period has more days than the platform counts. */
export const isTooLong = ({ from, to }: SalesSearch): boolean =>
  from !== undefined && to !== undefined && daysIn(from, to) > maxDays

type Props = {
  search: SalesSearch
  onSearch: (change: Partial<SalesSearch>) => void
  /** The time zone of the days; undefined until it is known. */
  timeZone: string | undefined
}

/** The filters of the sales figures: days and tariff. */
export function SalesFilters({ search, onSearch, timeZone }: Props) {
  const { days, sales: texts } = useTexts(esimTexts)
  const { from, to } = search
  return (
    <Stack gap="sm" mb="lg">
      <Spans search={search} onSearch={onSearch} timeZone={timeZone} />
      <div className={classes.filters}>
        <DaysFilter
          aria-label={days}
          placeholder={days}
          isClearable
          value={[from ?? null, to ?? null]}
          onChange={([first, last]) => onSearch({ from: first ?? undefined, to: last ?? undefined })}
        />
        <TariffSelect value={search} onChange={onSearch} />
      </div>
      {isTooLong(search) && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {texts.tooLong}
        </Text>
      )}
    </Stack>
  )
}

function Spans({ search: { from, to }, onSearch, timeZone }: Props) {
  const { sales: texts } = useTexts(esimTexts)
  const today = toZoned(useNow(), timeZone ?? 'UTC').slice(0, 10)
  const firstOf = (span: number) => addDays(today, 1 - span)
  const chosen = from ? spans.find(span => to === today && from === firstOf(span)) : to ? undefined : defaultSpan
  const choose = (span: number) =>
    onSearch(span === defaultSpan ? { from: undefined, to: undefined } : { from: firstOf(span), to: today })
  return (
    <Chip.Group value={String(chosen ?? '')} onChange={value => choose(Number(value))}>
      <Group gap={6} role="radiogroup" aria-label={texts.spans}>
        {spans.map(span => (
          <Chip key={span} value={String(span)} disabled={timeZone === undefined && span !== defaultSpan}>
            {texts.lastDays(span)}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}
