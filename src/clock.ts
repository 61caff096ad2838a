/**
 * The one clock that every rule asks (contract/reliability.md, "Clocks"): real time is the database's, so that processes whose machines
 * disagree hold the same rules. Between two looks at it a process counts with its monotonic clock: a jump of the machine's clock changes
 * nothing, and while the database is away time goes on.
 */

/** Real time when `performance.now()` was 0. The machine's until the database was asked. */
let startedAtMs = performance.timeOrigin

/** Real time, in milliseconds since 1970. */
export const realMs = (): number => startedAtMs + performance.now()

/** Real time, which also sandboxes have: for what protects, and for what is written down about it. */
export const realNow = (): Date => new Date(realMs())

/** How far the clock of this machine is ahead of the database's. */
export const machineOffsetMs = (): number => Date.now() - realMs()

/** Its answer is read by `followDatabaseClock`. */
export const databaseTime = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "databaseMs"'

/**
 * Takes over the database's time.
 *
 * @param read asks the database for `databaseTime`
 */
export async function followDatabaseClock(read: () => Promise<{ databaseMs: number }[]>): Promise<void> {
  const beforeMs = performance.now()
  const [row] = await read()
  const afterMs = performance.now()
  if (!row) throw new Error('A select without a table has one row')
  // It was read some time in between: an answer that took long tells little, and corrects only what it shows to be wrong.
  const [earliest, latest] = [row.databaseMs - afterMs, row.databaseMs - beforeMs]
  if (startedAtMs < earliest || startedAtMs > latest) startedAtMs = (earliest + latest) / 2
}

/**
 * The clock of campaigns and reservations. In live mode it is real time; in sandbox mode it may run ahead by an offset that all
 * processes share through the database. Tokens are not its business: they live in real time.
 */
export type Clock = {
  now(): Date
  /** How far the clock is ahead of real time. */
  offsetMs(): number
  /** @param asOfMs when its reading began (`performance.now()`): what was read before the present offset comes too late */
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

/** An instant of a record is never before the one that it follows, though the clock may go back (a failover, a sandbox). */
export const laterOf = (one: Date, other: Date): Date => (one < other ? other : one)
