/** Which country codes there are, by the data that this runtime brings. */

/** Regions that have a name there and are no country. */
const noCountries = ['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** A withdrawn code, such as `SU`, is replaced by the one that took its place. */
const isPresent = (code: string): boolean => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`

/** @param code in upper case; true for an ISO 3166-1 alpha-2 code that is in use, and for Kosovo's `XK` */
export const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) && !noCountries.includes(code) && isPresent(code) && names.of(code) !== undefined
