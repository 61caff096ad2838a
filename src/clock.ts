/**
 * The one clock that every rule asks (contract/operations.md, "The clock of the sandbox"). In live mode it is real time; in sandbox mode it may run ahead
 * by an offset that all processes share through the database. Tokens are not its business: they live in real time.
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
    now: () => new Date(Date.now() + offset),
    offsetMs: () => offset,
    setOffsetMs(offsetMs, asOfMs = performance.now()) {
      if (asOfMs < knownAsOfMs) return
      knownAsOfMs = asOfMs
      offset = offsetMs
    },
  }
}
