/** Computes when data is too old to be kept. */

const dayMs = 86_400_000

/** Returns the instant that data must not be older than, if it is kept for `days` days. */
export const cutoff = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs)
