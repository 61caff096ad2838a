/** Finds an order by the customer's phone number or by its ICCID. */
export type ProfileSearch = { msisdn: string } | { iccid: string }
/**
 * Reads the typed, copied or dictated text, which may contain spaces, dashes, slashes, points and invisible direction marks. A phone
 * number may begin with 00 in place of +, and an ICCID may end with the letter F, with which SIM cards fill its last place. Returns
 * null if the text is neither a phone number nor an ICCID.
 */
export function profileSearchOf(typed: string): ProfileSearch | null {
  const text = typed.replace(/[\s()./\p{Cf}\p{Pd}]/gu, '')
  const iccid = text.length <= 20 ? text.replace(/F$/i, '') : text
  if (/^\d{18,20}$/.test(iccid)) return { iccid }
  const number = text.replace(/^00/, '+')
  return /^\+?[1-9]\d{0,14}$/.test(number) ? { msisdn: number } : null
}
