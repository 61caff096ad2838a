/**
 * The one clock that all rules use (contract/reliability.md, "Clocks"). Real time is the time of the database, so that
 * all processes agree even if their machines' clocks differ. Between two reads of the database's clock, a process
 * counts with its monotonic clock. So a jump of the machine's clock changes nothing, and this clock goes on while the
 * database is away.
 */

/**
 * The instant at which `performance.now()` was 0. It comes from the machine's clock until this process first reads the
 * database's clock. After that it comes from the database's clock.
 */
let startedAtMs = performance.timeOrigin

/** Real time, in milliseconds since 1970. */
export const realMs = (): number => startedAtMs + performance.now()

/** Real time, even in a sandbox. Security rules and records of what happened use it. */
export const realNow = (): Date => new Date(realMs())

/** How many milliseconds the clock of this machine is ahead of the database's clock. */
export const machineOffsetMs = (): number => Date.now() - realMs()

/** The query whose result `followDatabaseClock` needs. */
export const databaseTime = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "databaseMs"'

/**
 * Adopts the database's time.
 *
 * @param read asks the database for `databaseTime`
 */
export async function followDatabaseClock(read: () => Promise<{ databaseMs: number }[]>): Promise<void> {
  const beforeMs = performance.now()
  const [row] = await read()
  const afterMs = performance.now()
  if (!row) throw new Error('A select without a table has one row')
  // The database read its clock between the beginning and the end of the query. So the correct `startedAtMs` lies
  // between `earliest` and `latest`. A value within this range is kept, because it may be more exact than this answer.
  const [earliest, latest] = [row.databaseMs - afterMs, row.databaseMs - beforeMs]
  if (startedAtMs < earliest || startedAtMs > latest) startedAtMs = (earliest + latest) / 2
}

/**
 * The clock of campaigns and reservations. In live mode it is real time; in sandbox mode it may be ahead by an offset
 * that all processes share through the database. Tokens do not use it: they follow real time.
 */
export type Clock = {
  now(): Date
  /** How far the clock is ahead of real time. */
  offsetMs(): number
  /**
   * @param asOfMs when the read of the offset began (`performance.now()`). If the current offset comes from a later
   *   read, the call changes nothing
   */
  setOffsetMs(offsetMs: number, asOfMs?: number): void
}

export function createClock(): Clock {
  let offset = 0
  let knownAsOfMs = Number.NEGATIVE_INFINITY
  return {
    now: () => new Date(realMs() + offset),
    offsetMs: () => offset,
    setOffsetMs(offsetMs, asOfMs = performance.now()) {
      if (asOfMs < knownAsOfMs) return
      knownAsOfMs = asOfMs
      offset = offsetMs
    },
  }
}

/**
 * Returns `now` if it is later than the previous record, otherwise one millisecond after the previous record. So no two
 * versions of a record have the same time. `now` may not be later when two changes happen within one millisecond, after
 * a failover, or in a sandbox.
 */
export const laterThan = (previous: Date, now: Date): Date => (now > previous ? now : new Date(previous.getTime() + 1))

const dayMs = 86_400_000

/** Returns the instant `days` days before `now`. Data that is kept for `days` days and is older than this must be removed. */
export const cutoff = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs)
