/**
 * The rules of a campaign's form that no schema can express (contract/campaigns.md, "Create"): limits of single fields beyond
 * type and length, and rules between fields. Pure: values in, errors out. The schema (`schemas.ts`) reports wrong types and
 * lengths, and this module skips such fields, so that all errors are reported together and each only once.
 */

import { type BrokenRule, broken } from '../../error-rules.ts'
import { instantRule, readInstant } from '../../text/instant.ts'
import { brokenRule, picture, plainLine, type TextRule, visibleLine } from '../../text/text-rules.ts'
import { uuidForm } from '../../text/uuid.ts'
import { noTerminals, readTerminals, type TerminalList } from './terminal-list.ts'
import type { Terms } from './terms.ts'

/**
 * The fields that a partner fills in. `allProducts` is null when the form leaves it out. Its value then follows from
 * the other fields.
 */
export type Fields = Omit<Terms, 'allProducts'> & { allProducts: boolean | null; participantsIds: string[] }
export type FieldName = keyof Fields

/** The fields that are given and readable, and the errors. */
export type ReadFields = { fields: Partial<Fields>; errors: BrokenRule[] }

/** Maximum length of the lists of banks and of payment systems. */
export const maxIds = 1_000
/** Maximum number of errors in a response. Nobody reads more. */
export const maxErrors = 100

/** The value of an optional field that is left out or null. */
const whenLeftOut = {
  description: null,
  participationTerms: null,
  bannerSmall: null,
  bannerBig: null,
  sku: [],
  categoryId: [],
  allProducts: null,
  purchaseOnline: true,
  purchaseOffline: true,
  maxBudget: null,
  merchantCategoryCode: null,
  terminals: noTerminals,
} satisfies Partial<Fields>

/**
 * Reads one field. It returns the value, or undefined for an unusable value. It adds an error, unless the schema
 * reports it.
 */
type Reader<Value> = (value: unknown, field: string, errors: BrokenRule[]) => Value | undefined

const readers: { [Field in FieldName]: Reader<Fields[Field]> } = {
  participantsIds: ids,
  name: text,
  description: text,
  participationTerms: text,
  bannerSmall: text,
  bannerBig: text,
  sku: texts,
  categoryId: texts,
  allProducts: flag,
  purchaseOnline: flag,
  purchaseOffline: flag,
  dateFrom: instant,
  dateTo: instant,
  minAmount: money,
  maxAmount: money,
  maxBudget: money,
  percentage: decimal,
  merchantCompensationPercentage: decimal,
  merchantCategoryCode: texts,
  countryCode: (value, field, errors) => text(value, field, errors)?.toUpperCase(),
  paymentSystemsId: ids,
  terminals,
  terminalsPlatform: flag,
}

/**
 * Reads the fields of a body; null clears an optional field.
 *
 * @param body as it was sent; anything but an object has no fields
 */
export function readFields(body: unknown): ReadFields {
  const fields: Record<string, unknown> = {}
  const errors: BrokenRule[] = []
  for (const [field, value] of Object.entries(isObject(body) ? body : {})) {
    if (!Object.hasOwn(readers, field)) continue
    const read: unknown =
      value === null
        ? whenLeftOut[field as keyof typeof whenLeftOut]
        : readers[field as FieldName](value, field, errors)
    if (read !== undefined) fields[field] = read
  }
  return { fields: fields as Partial<Fields>, errors }
}

/** Like `readFields`, for a new campaign: absent optional fields get their defaults, and `errors` names unfit texts. */
export function readNewFields(body: unknown): ReadFields {
  const { fields, errors } = readFields(body)
  const present = new Set(isObject(body) ? Object.keys(body) : [])
  const defaults = Object.entries(whenLeftOut).filter(([field]) => !present.has(field))
  return { fields: { ...Object.fromEntries(defaults), ...fields }, errors: [...unfitTexts(fields), ...errors] }
}

/** SVG is refused, because its scripts would run if somebody opened the picture in a new tab. */
const noSvg: TextRule = { rule: 'no-svg', params: {}, holds: address => !/^data:image\/svg/i.test(address) }
const banner: TextRule = { rule: 'banner', params: {}, holds: address => address !== '' && picture.holds(address) }
const banners: TextRule = { ...noSvg, also: banner }

/** The rules of single texts. An edit does not check a text that the campaign has already. */
const textRules = {
  name: visibleLine,
  bannerSmall: banners,
  bannerBig: banners,
  sku: plainLine,
  categoryId: plainLine,
} as const satisfies Partial<Record<FieldName, TextRule>>

/**
 * The texts that break their rule and that the campaign does not have already. Campaigns of earlier versions may have
 * texts that were allowed then.
 *
 * @param known.present the fields of the campaign; left out: it is new
 * @param known.addedTerminals the positions of unfit terminals that the campaign does not have; left out: all are added
 */
export function unfitTexts(
  fields: Partial<Fields>,
  { present = {}, addedTerminals }: { present?: Partial<Fields>; addedTerminals?: readonly number[] } = {},
): BrokenRule[] {
  const errors: BrokenRule[] = []
  for (const name of Object.keys(textRules) as (keyof typeof textRules)[]) {
    const known = new Set([present[name]].flat())
    for (const [index, value] of [fields[name] ?? []].flat().entries()) {
      const rule = known.has(value) ? undefined : brokenRule(value, textRules[name])
      if (rule) errors.push({ field: Array.isArray(fields[name]) ? `${name}.${index}` : name, ...rule })
    }
  }
  const added = addedTerminals && new Set(addedTerminals)
  const ofTerminals = (fields.terminals?.unfit ?? []).filter(path => !added || added.has(Number.parseInt(path, 10)))
  return [...errors, ...ofTerminals.slice(0, maxErrors).map(path => broken(`terminals.${path}`, plainLine.rule))]
}

/** The violations of rules between fields. A rule is checked only when all of its fields are readable. */
export function crossErrors(fields: Partial<Fields>, now: Date): BrokenRule[] {
  const { dateTo } = fields
  return [...(dateTo && dateTo <= now ? [broken('dateTo', 'future')] : []), ...contradictions(fields)]
}

/** The violations that do not depend on the current time. */
export function contradictions(fields: Partial<Fields>): BrokenRule[] {
  const { dateFrom, dateTo, minAmount, maxAmount, allProducts, sku, categoryId, terminals, terminalsPlatform } = fields
  const errors: BrokenRule[] = []
  if (dateFrom && dateTo && dateTo <= dateFrom) errors.push(broken('dateTo', 'after', { field: 'dateFrom' }))
  // It is safe to compare amounts as numbers. They have 2 decimals and are below 10^10, so different amounts are
  // different numbers.
  if (minAmount !== undefined && maxAmount !== undefined && Number(maxAmount) < Number(minAmount))
    errors.push(broken('maxAmount', 'not-below', { field: 'minAmount' }))
  if (allProducts && (sku?.length || categoryId?.length)) errors.push(broken('allProducts', 'all-or-some-products'))
  if (terminalsPlatform === false && terminals?.count === 0) errors.push(broken('terminals', 'own-terminals'))
  return errors
}

/**
 * Makes the terms from the fields. When `allProducts` is left out, it is true if neither SKUs nor categories are given.
 */
export const termsOf = (fields: Omit<Fields, 'participantsIds'>): Terms => ({
  ...fields,
  allProducts: fields.allProducts ?? (fields.sku.length === 0 && fields.categoryId.length === 0),
})

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function text(value: unknown, _field: string, _errors: BrokenRule[]): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every(item => typeof item === 'string') ? value : undefined
}

function instant(value: unknown, field: string, errors: BrokenRule[]): Date | undefined {
  if (typeof value !== 'string') return undefined
  const read = readInstant(value)
  if (read === null) errors.push({ field, ...instantRule })
  return read ?? undefined
}

/** The number as decimal text. It has no zeros at the end, because JavaScript writes a number in the shortest way. */
function decimal(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined
}

function money(value: unknown, field: string, errors: BrokenRule[]): string | undefined {
  const amount = decimal(value)
  if (amount !== undefined && !/^-?\d+(?:\.\d{1,2})?$/.test(amount))
    errors.push(broken(field, 'decimals', { decimals: 2 }))
  return amount
}

/** A UUID in lower case, so that ids can be compared; undefined for anything else, which the schema reports. */
export function readId(value: unknown): string | undefined {
  const id = typeof value === 'string' ? value.toLowerCase() : ''
  return uuidForm.test(id) ? id : undefined
}

function ids(value: unknown, field: string, errors: BrokenRule[]): string[] | undefined {
  const read = texts(value)?.map(id => id.toLowerCase())
  if (!read || read.length > maxIds) return undefined
  if (new Set(read).size < read.length) errors.push(broken(field, 'no-repetitions'))
  return read.every(id => uuidForm.test(id)) ? read : undefined
}

function terminals(value: unknown, field: string, errors: BrokenRule[]): TerminalList | undefined {
  const read = readTerminals(value)
  for (const index of read?.repeated ?? [])
    if (errors.length < maxErrors) errors.push(broken(`${field}.${index}.terminal_id`, 'unique-in-list'))
  return read?.list ?? undefined
}
