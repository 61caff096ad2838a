import { isScalar } from 'yaml'
import { brokenRule, type TextRule } from '../../text/text-rules.ts'
import { type Reader, refuse, textOf } from './yaml-form.ts'

/** A text. A number without quotes counts as the text that stands in the file: `5411`, `1.0`, `0042`. */
export function text(rule: TextRule): Reader<string> {
  return (node, place) => {
    const value = textOf(node)
    if (value === undefined) return refuse(place, isScalar(node) ? 'must be text; put it in quotes' : 'must be text')
    const broken = brokenRule(value, rule)
    return broken === undefined ? value : refuse(place, broken)
  }
}

export function oneOf<const V extends string>(...values: V[]): Reader<V> {
  return (node, place) =>
    values.find(value => value === textOf(node)) ?? refuse(place, `must be one of ${values.join(', ')}`)
}

export const trueOrFalse: Reader<boolean> = (node, place) =>
  isScalar(node) && typeof node.value === 'boolean' ? node.value : refuse(place, 'must be true or false')

export function wholeNumber(min: number, max: number): Reader<number> {
  return (node, place) => {
    const value = /^(?:0|[1-9]\d{0,14})$/.test(textOf(node) ?? '') ? Number(textOf(node)) : Number.NaN
    return value >= min && value <= max ? value : refuse(place, `must be a whole number from ${min} to ${max}`)
  }
}

/** Money as the file writes it, exact: a text with two decimals, never a float. */
export const money: Reader<string> = (node, place) => {
  const [, whole, cents = ''] = /^(0|[1-9]\d{0,9})(?:\.(\d{1,2}))?$/.exec(textOf(node) ?? '') ?? []
  if (whole === undefined) return refuse(place, 'must be a number from 0 to 9999999999.99 with at most 2 decimals')
  return `${whole}.${cents.padEnd(2, '0')}`
}

/** The word `all`, or what `read` takes. */
export function allOr<T>(read: Reader<T>): Reader<'all' | T> {
  return (node, place) => {
    if (textOf(node) === 'all') return 'all'
    return isScalar(node) ? refuse(place, 'must be all or a list') : read(node, place)
  }
}
