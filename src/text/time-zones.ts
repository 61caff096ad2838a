/** The time zones of this runtime. */

const form = /^[a-z][a-z0-9_+/-]{0,63}$/

/**
 * The cached format of each zone; there are about 600. A format takes 70 kB outside of the heap, which the garbage
 * collector does not count. Without this cache, each call would make a new format, and the process would grow by
 * gigabytes before the formats are freed.
 */
const wallClocks = new Map<string, Intl.DateTimeFormat>()

/**
 * The format of local time in a time zone, from the year to the second.
 *
 * @param timeZone an IANA name in any case, or `UTC`
 * @returns null for an unknown zone
 */
export function wallClock(timeZone: string): Intl.DateTimeFormat | null {
  const name = timeZone.toLowerCase()
  const kept = wallClocks.get(name)
  if (kept || !form.test(name)) return kept ?? null
  try {
    const made = new Intl.DateTimeFormat('sv-SE', {
      timeZone: name,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    wallClocks.set(name, made)
    return made
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
