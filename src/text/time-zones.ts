/** The time zones of this runtime. */

const form = /^[a-z][a-z0-9_+/-]{0,63}$/

/**
 * One for each of the about 600 zones. A format takes 70 kB outside of the engine's heap, where its garbage collector does not see them:
 * with a new one for each question a process grew by gigabytes before they were collected.
 */
const wallClocks = new Map<string, Intl.DateTimeFormat>()

/**
 * What a clock on the wall shows in a time zone, from the year to the second.
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
