/** SQL for days of real time in UTC, for limits by the day. The sandbox clock does not count. */

/** The present day, a `date`. */
export const todaySql = `(clock_timestamp() at time zone 'UTC')::date`

/** The seconds until the end of the present day. */
export const secondsLeftToday = `extract(epoch from (${todaySql} + 1)::timestamp at time zone 'UTC' - clock_timestamp())::float8`
