import { uuidForm } from './uuid.ts'

/** A rule for one text: `must` ends the sentence "<field> must ...". */
export type TextRule = { must: string; holds(text: string): boolean }

/** What `text` breaks, as "must ...", or undefined. Ill-formed Unicode and NUL break every rule: PostgreSQL keeps neither. */
export function brokenRule(text: string, rule: TextRule): string | undefined {
  if (!text.isWellFormed() || text.includes('\0')) return 'must be well-formed Unicode without NUL'
  return rule.holds(text) ? undefined : `must ${rule.must}`
}

/** Key of an entry. It stands in addresses and on command lines, so it never begins with a hyphen or a dot. */
export const code: TextRule = {
  must: 'be 1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or digit',
  holds: text => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text),
}

export const countryCode = pattern(/^[A-Z]{2}$/, 'be an ISO 3166-1 alpha-2 code in upper case')
export const countryOrGlobal = pattern(
  /^(?:[A-Z]{2}|global)$/,
  'be an ISO 3166-1 alpha-2 code in upper case, or global',
)
export const currencyCode = pattern(/^[A-Z]{3}$/, 'be an ISO 4217 code: three upper-case letters')
export const merchantCategoryCode = pattern(/^\d{4}$/, 'be four digits')
export const urlIdent = pattern(
  /^[A-Za-z0-9._~-]{1,200}$/,
  'be 1 to 200 letters, digits, dots, underscores, tildes or hyphens',
)
export const uuid = pattern(uuidForm, 'be a UUID')
export const domain = pattern(
  /^(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}.-]*[\p{L}\p{N}\p{M}])?$/u,
  'be a domain name',
)

/** One line for people to read. Lengths count Unicode code points. */
export function oneLine(max: number): TextRule {
  return {
    must: `be one line of 1 to ${max} characters`,
    holds: text => text.trim() !== '' && !/\p{Cc}/u.test(text) && hasAtMost(max, text),
  }
}

/** Text of any lines; may be empty. */
export function paragraph(max: number): TextRule {
  return { must: `be at most ${max} characters`, holds: text => hasAtMost(max, text) }
}

export function orEmpty(rule: TextRule): TextRule {
  return { must: `${rule.must}, or empty`, holds: text => text === '' || rule.holds(text) }
}

export const webAddress: TextRule = {
  must: 'be an http or https URL of at most 2048 characters',
  holds: text => text.length <= 2048 && /^https?:\/\/\S+$/i.test(text) && URL.canParse(text),
}

/** Where a picture is; may be empty. A data URI holds the picture itself: 256 KiB, as for a campaign's banners. */
export const picture: TextRule = {
  must: 'be an http or https URL of at most 2048 characters, a data:image/...;base64, URI of at most 256 KiB, or empty',
  holds: text => text === '' || webAddress.holds(text) || isPictureUri(text),
}

function isPictureUri(text: string): boolean {
  const base64 = /^data:image\/[a-z0-9.+-]{1,64};base64,([A-Za-z0-9+/]+={0,2})$/i.exec(text)?.[1]
  return base64 !== undefined && base64.length % 4 === 0 && Buffer.byteLength(base64, 'base64') <= 256 * 1024
}

function pattern(form: RegExp, must: string): TextRule {
  return { must, holds: text => form.test(text) }
}

function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || (text.length <= 2 * max && [...text].length <= max)
}
