/**
 * The one clock that every rule asks (behaviour.md, section 5). In live mode it is real time; in sandbox mode it may run ahead
 * by an offset that all processes share through the database. Tokens are not its business: they live in real time.
 */
export type Clock = {
  now(): Date
  /** How far the clock is ahead of real time. */
  offsetMs(): number
  setOffsetMs(offsetMs: number): void
}

export function createClock(): Clock {
  let offset = 0
  return {
    now: () => new Date(Date.now() + offset),
    offsetMs: () => offset,
    setOffsetMs(offsetMs) {
      offset = offsetMs
    },
  }
}
