/** Detects numbers of payment cards, which must not be in a report (contract/security.md, "Card numbers"). Pure. */

/** The possible lengths of card numbers, by the first digits that identify the payment system. */
const ranges: readonly { first: RegExp; lengths: readonly number[] }[] = [
  { first: /^4/, lengths: [13, 16, 19] }, // Visa
  { first: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] }, // Mastercard
  { first: /^3[47]/, lengths: [15] }, // American Express
  { first: /^(?:50|5[6-9]|6)/, lengths: [16, 17, 18, 19] }, // Maestro
  { first: /^9804/, lengths: [16, 17, 18, 19] }, // PROSTIR
]

/**
 * Whether a text is a card number: digits with a length that the payment system uses and a valid check digit. Hyphens,
 * spaces and invisible characters around and between the digits are ignored.
 */
export function isCardNumber(text: string): boolean {
  if (text.length < 13) return false
  const digits = text.replace(/[\s\p{C}-]/gu, '')
  if (!/^\d{13,19}$/.test(digits)) return false
  return (
    ranges.some(({ first, lengths }) => lengths.includes(digits.length) && first.test(digits)) && passesLuhn(digits)
  )
}

/** Whether a text may hold a card number: 13 or more digits in a row or in groups. An error must not quote such a text. */
export const mayHoldCard = (text: string): boolean => /\d(?:[\s\p{C}-]*\d){12}/u.test(text)

/** The Luhn check of ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits.at(-1 - place))
    const doubled = digit * 2
    sum += place % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Whether a report must be refused, because at least half of its lines have card numbers as transaction ids. */
export const isFileOfCards = (cards: number, lines: number): boolean => lines > 0 && cards * 2 >= lines
