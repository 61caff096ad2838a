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
 * @param timeZone an IANA name in any case, or another name that `Intl` has
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

/** The only names of three letters that the IANA database has. */
const ianaAbbreviations = new Set('cet eet est gmt hst met mst prc roc rok uct utc wet'.split(' '))

/** Longer names of `Intl` that are not in the IANA database, or no longer. */
const otherNames = /^(?:systemv\/.*|us\/pacific-new|canada\/east-saskatchewan)$/

/**
 * Whether a text is the IANA name of a time zone, in any case; names of its file `backward` count. `Intl` has names of its
 * own, which may mean another zone than people expect: its `BST` is the time of Dhaka. Earlier versions stored them, so
 * `wallClock` knows them.
 */
export function isIanaName(text: string): boolean {
  const name = text.toLowerCase()
  const isOther = name.length === 3 ? !ianaAbbreviations.has(name) : otherNames.test(name)
  return !isOther && wallClock(name) !== null
}

/** The words in IANA names that are not one capital letter and then small ones. */
const irregularWords = new Map(
  [
    ...['ACT', 'au', 'BajaNorte', 'BajaSur', 'CHAT', 'ComodRivadavia', 'DeNoronha', 'DumontDUrville', 'EasterIsland'],
    ...['es', 'GMT', 'IN', 'LHI', 'McMurdo', 'NSW', 'of', 'UCT', 'US', 'UTC'],
  ].map(word => [word.toLowerCase(), word]),
)

/**
 * The name of a time zone with the letters that the IANA database gives it: `Europe/Kiev` for `europe/kiev`. Many
 * programs know no other. It stays the same name, also when the zone has a newer one. `Intl` would answer with another
 * name for some.
 *
 * @param timeZone an IANA name in any case
 */
export function usualZoneName(timeZone: string): string {
  const name = timeZone.toLowerCase()
  const known = wallClock(name)?.resolvedOptions().timeZone
  if (known?.toLowerCase() === name) return known
  // Short words of a name without a region are abbreviations, as in `W-SU` and `EST5EDT`.
  const isShort = (word: string) => word.length <= 3 && !name.includes('/')
  return name.replace(
    /[a-z]+/g,
    word =>
      irregularWords.get(word) ?? (isShort(word) ? word.toUpperCase() : word.slice(0, 1).toUpperCase() + word.slice(1)),
  )
}
