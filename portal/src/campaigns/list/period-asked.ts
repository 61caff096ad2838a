import { periodOfDays } from '../../i18n/time-zone.ts'

/** The days of a list's filters as the platform is asked for them. @param timeZone in which they are meant */
export const periodAsked = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  timeZone: string,
) => ({
  ...(from && { dateFrom: periodOfDays(from, from, timeZone).dateFrom }),
  ...(to && { dateTo: periodOfDays(to, to, timeZone).dateTo }),
})
