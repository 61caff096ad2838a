/**
 * Formatted figures: money, percentages, instants, periods. All digits have the same width, so that columns can be
 * compared.
 */
import { useFormat } from '../i18n/preferences.tsx'
import { Hint } from './hint.tsx'
import classes from './values.module.css'

/** Shown when there is no value. */
export const none = '–'

/** @param props.currency code of ISO 4217, from the campaign's country or the tariff */
export function Money({
  amount,
  currency,
}: {
  amount: number | null | undefined
  currency?: string | null | undefined
}) {
  const format = useFormat()
  return (
    <span className="figure">{amount === null || amount === undefined ? none : format.money(amount, currency)}</span>
  )
}

/** @param props.value as in the API, 0 to 100 */
export function Percent({ value }: { value: number | null | undefined }) {
  const format = useFormat()
  return <span className="figure">{value === null || value === undefined ? none : format.percent(value)}</span>
}

export function Count({ value }: { value: number | null | undefined }) {
  const format = useFormat()
  return <span className="figure">{value === null || value === undefined ? none : format.number(value)}</span>
}

/** An instant in the chosen time zone; a tooltip shows weekday, seconds and zone. For facts, see `ExactTime`. */
export function DateTime({ at, withTime = true }: { at: string | null | undefined; withTime?: boolean }) {
  const format = useFormat()
  if (!at) return <span>{none}</span>
  return (
    <Hint label={() => format.precise(at)}>
      <time className="figure" dateTime={at}>
        {withTime ? format.dateTime(at) : format.date(at)}
      </time>
    </Hint>
  )
}

/** An instant with weekday, seconds and zone, for the page about one thing: nobody needs a mouse to read it. */
export function ExactTime({ at }: { at: string | null | undefined }) {
  const format = useFormat()
  if (!at) return <span>{none}</span>
  return (
    <time className={classes.exact} dateTime={at}>
      {format.precise(at)}
    </time>
  )
}

/** A campaign's period. A period of whole days is shown as its first and last day, any other period with times. */
export function Period({ dateFrom, dateTo }: { dateFrom: string; dateTo: string }) {
  const format = useFormat()
  const text = format.isWholeDays(dateFrom, dateTo)
    ? format.period(dateFrom, dateTo)
    : `${format.dateTime(dateFrom)} – ${format.dateTime(dateTo)}`
  const [start, end] = text.split(/(?<=–)\s/)
  return (
    <Hint label={() => `${format.precise(dateFrom)} – ${format.precise(dateTo)}`} multiline maw={360}>
      <span className={classes.period}>
        <span>{start}</span>
        {end && (
          <>
            {' '}
            <span>{end}</span>
          </>
        )}
      </span>
    </Hint>
  )
}
