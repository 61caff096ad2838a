/** An order is found by its customer's phone number or by its ICCID. */
export type ProfileSearch = { msisdn: string } | { iccid: string }
/** What a person typed, with the spaces and hyphens that people write; null: neither a number nor an ICCID. */
export function profileSearchOf(typed: string): ProfileSearch | null {
  const text = typed.replace(/[\s()-]/g, '')
  if (/^\d{18,20}$/.test(text)) return { iccid: text }
  return /^\+?[1-9]\d{0,14}$/.test(text) ? { msisdn: text } : null
}
