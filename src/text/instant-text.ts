/** Formats instants as answers show them. */

const dayMs = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

let lastDay = Number.NaN
let lastDayText = ''

/**
 * Returns the same text as `Date.toISOString`, but several times faster while successive instants are on the same
 * day. Each order in an answer shows two or three instants.
 */
export function instantText(instant: Date): string {
  const ms = instant.getTime()
  const day = Math.floor(ms / dayMs)
  if (day !== lastDay) {
    lastDayText = instant.toISOString().slice(0, -'00:00:00.000Z'.length)
    lastDay = day
  }
  const left = ms - day * dayMs
  const seconds = Math.floor(left / 1000)
  const minutes = Math.floor(seconds / 60)
  const time = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`
  return `${lastDayText}${time}.${String(left % 1000).padStart(3, '0')}Z`
}
