/** Days of real time in UTC, for limits by the day. The sandbox clock does not count. */

/** SQL for the present day, a `date`. */
export const today = `(clock_timestamp() at time zone 'UTC')::date`

/** SQL for how many seconds the present day still has. */
export const secondsLeftToday = `extract(epoch from (${today} + 1)::timestamp at time zone 'UTC' - clock_timestamp())::float8`

/** The `Retry-After` of a limit that begins anew with the next day. */
export const retryTomorrow = (secondsLeft: number): { retryAfterSeconds: number } => ({
  retryAfterSeconds: Math.max(1, Math.ceil(secondsLeft)),
})
