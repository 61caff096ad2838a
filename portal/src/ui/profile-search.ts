/** Finds an order by the customer's phone number or by its ICCID. */
export type ProfileSearch = { msisdn: string } | { iccid: string }
/**
 * Reads the typed or copied text, which may contain spaces, dashes and invisible direction marks. Returns null if the text is neither
 * a phone number nor an ICCID.
 */
export function profileSearchOf(typed: string): ProfileSearch | null {
  const text = typed.replace(/[\s()\p{Cf}\p{Pd}]/gu, '')
  if (/^\d{18,20}$/.test(text)) return { iccid: text }
  return /^\+?[1-9]\d{0,14}$/.test(text) ? { msisdn: text } : null
}
