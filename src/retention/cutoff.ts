/** Computes when data is too old to be kept. */

const dayMs = 86_400_000

/** Returns the instant `days` days before `now`. Data that is kept for `days` days and is older than this must be removed. */
export const cutoff = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs)
