/** Decides which country codes exist, by the data of this runtime. */

/** Regions that have a name in the runtime's data but are no countries. */
const noCountries = ['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Whether a code is in use. The runtime replaces a withdrawn code, such as `SU`, by the code of its successor. */
const isPresent = (code: string): boolean => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`

/**
 * @param code in upper case
 * @returns true for an ISO 3166-1 alpha-2 code in use, and for Kosovo's `XK`
 */
export const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) && !noCountries.includes(code) && isPresent(code) && names.of(code) !== undefined
