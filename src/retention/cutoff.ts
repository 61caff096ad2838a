/** When data is too old to be kept. */

const dayMs = 86_400_000

/** The instant before which data that is kept for so many days is too old. */
export const cutoff = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs)
