/** Decides which country codes exist, by the data of this runtime. */

/** Regions that have a name in this data but are no countries. */
const noCountries = ['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** A withdrawn code, such as `SU`, is replaced by its successor. */
const isPresent = (code: string): boolean => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`

/**
 * @param code in upper case
 * @returns true for an ISO 3166-1 alpha-2 code in use, and for Kosovo's `XK`
 */
export const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) && !noCountries.includes(code) && isPresent(code) && names.of(code) !== undefined
