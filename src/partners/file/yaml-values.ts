/** Readers of single values in the directory file. */
import { isScalar } from 'yaml'
import { brokenRule, type TextRule } from '../../text/text-rules.ts'
import { type Reader, refuse, textOf } from './yaml-form.ts'

/** Reads a text. A number without quotes is read as the characters in the file: `5411`, `1.0`, `0042`. */
export function text(rule: TextRule): Reader<string> {
  return (node, place) => {
    const value = textOf(node)
    if (value === undefined) return refuse(place, isScalar(node) ? 'quoted-text' : 'plain-text')
    const broken = brokenRule(value, rule)
    return broken === undefined ? value : refuse(place, broken.rule, broken.params)
  }
}

export function oneOf<const V extends string>(...values: V[]): Reader<V> {
  return (node, place) =>
    values.find(value => value === textOf(node)) ?? refuse(place, 'one-of', { values: values.join(', ') })
}

export const trueOrFalse: Reader<boolean> = (node, place) =>
  isScalar(node) && typeof node.value === 'boolean' ? node.value : refuse(place, 'true-or-false')

export function wholeNumber(min: number, max: number): Reader<number> {
  return (node, place) => {
    const value = /^(?:0|[1-9]\d{0,14})$/.test(textOf(node) ?? '') ? Number(textOf(node)) : Number.NaN
    return value >= min && value <= max ? value : refuse(place, 'whole-number', { min, max })
  }
}

/** Reads an amount of money. The result is an exact text with two decimals, never a float. */
export const money: Reader<string> = (node, place) => {
  const [, whole, cents = ''] = /^(0|[1-9]\d{0,9})(?:\.(\d{1,2}))?$/.exec(textOf(node) ?? '') ?? []
  if (whole === undefined) return refuse(place, 'price', { decimals: 2 })
  return `${whole}.${cents.padEnd(2, '0')}`
}

/** A decimal number. Its groups are the whole digits, the digits of the fraction, and the exponent. */
const decimalForm = /^(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Matches the zeros at the end. Without the look-behind it would try to match at each zero, in quadratic time. */
const lastZeros = /(?<!0)0+$/

/**
 * The number of decimals that a decimal number needs, however it is written: 4 for `0.0001`, `1e-4` and `10e-5`. Not above
 * 0 for a whole number, and NaN for a text of another form.
 */
function decimalsOf(text: string): number {
  const [found, whole = '', fraction = '', exponent = '0'] = decimalForm.exec(text) ?? []
  if (found === undefined) return Number.NaN
  const digits = whole + fraction
  const significant = digits.replace(lastZeros, '')
  return significant === '' ? 0 : fraction.length - (digits.length - significant.length) - Number(exponent)
}

/**
 * Reads a percentage from 0 to 100, also with an exponent (`1e-4`) or zeros at its end (`12.50000`). It has at most 4
 * decimals, so the number has the same decimal text.
 */
export const percentage: Reader<number> = (node, place) => {
  const text = textOf(node) ?? ''
  const isFit = decimalsOf(text) <= 4 && Number(text) <= 100
  return isFit ? Number(text) : refuse(place, 'percentage', { decimals: 4 })
}

/** The word `all`, or a list or mapping that `read` accepts. Any other single value is refused. */
export function allOr<T>(read: Reader<T>): Reader<'all' | T> {
  return (node, place) => {
    if (textOf(node) === 'all') return 'all'
    return isScalar(node) ? refuse(place, 'all-or-list') : read(node, place)
  }
}
