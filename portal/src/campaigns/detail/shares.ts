/** Amounts divided between merchant and bank, exact to the cent. Pure. */

/**
 * A percentage of an amount, rounded half up to whole cents as the platform does.
 * @param amount with at most 2 decimals
 * @param percent with any number of decimals
 */
export function shareOf(amount: number, percent: number): number {
  const { digits, decimals } = exact(percent)
  const unit = 10n ** BigInt(decimals + 2)
  return Number((centsOf(amount) * digits * 2n + unit) / (unit * 2n)) / 100
}

/** What is left of an amount without this part, exact to the cent. Both have at most 2 decimals. */
export const lessOf = (amount: number, part: number): number => Number(centsOf(amount) - centsOf(part)) / 100

const centsOf = (amount: number): bigint => BigInt(Math.round(amount * 100))

/** Splits a non-negative number into its digits and the number of decimals. `String` may write a number as `1.5e-7`. */
function exact(value: number): { digits: bigint; decimals: number } {
  const [written = '', exponent = '0'] = String(value).split('e-')
  const [whole = '', rest = ''] = written.split('.')
  return { digits: BigInt(whole + rest), decimals: rest.length + Number(exponent) }
}
