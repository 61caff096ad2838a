import { periodOfDays } from '../../i18n/time-zone.ts'

/**
 * The days in a list's filters as parameters of the API.
 * @param timeZone the time zone of the days
 */
export const periodParams = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  timeZone: string,
) => ({
  ...(from && { dateFrom: periodOfDays(from, from, timeZone).dateFrom }),
  ...(to && { dateTo: periodOfDays(to, to, timeZone).dateTo }),
})
