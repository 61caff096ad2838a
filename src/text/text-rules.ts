/** Rules for the texts of partners and operators: codes, names, addresses of pictures. */
import type { Rule, RuleCode } from '../error-rules.ts'
import { isCountry } from './countries.ts'
import { isIanaName } from './time-zones.ts'
import { uuidForm } from './uuid.ts'
import { controls } from './visible.ts'

/** A rule for one text. `also` is a further rule for it. */
export type TextRule = Rule & { holds(text: string): boolean; also?: TextRule }

/**
 * Returns the rule that a text breaks, or undefined. Ill-formed Unicode and NUL break every rule, because PostgreSQL
 * cannot store them.
 */
export function brokenRule(text: string, of: TextRule): Rule | undefined {
  if (!text.isWellFormed() || text.includes('\0')) return { rule: 'unicode', params: {} }
  if (!of.holds(text)) return { rule: of.rule, params: of.params }
  return of.also && brokenRule(text, of.also)
}

/** Characters that change the direction of the text after them. With them a text can look like another text. */
const turning = '\\u202a-\\u202e\\u2066-\\u2069'

/**
 * The pattern, for schemas, of a text of several lines for people; it checks the rule `plain-lines`. It allows no
 * control characters except tabs and line ends, and no characters that change the direction of the text.
 */
export const plainLines = `^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f${turning}]*$`

const unfitForLine = new RegExp(`[\\p{Cc}\\u2028\\u2029${turning}]`, 'u')
/**
 * A text, perhaps empty, without control characters and without characters that end a line or change the direction of
 * the text.
 */
export const plainLine: TextRule = { rule: 'plain-line', params: {}, holds: text => !unfitForLine.test(text) }

/**
 * Spaces that are neither control characters nor line separators. The documented patterns below must not name U+2028 and
 * U+2029 (see `documentedInvisible`), so they exclude them as part of `\s`. They list all other spaces, because not all
 * engines of regular expressions mean the same by `\s`.
 */
const spaces = ' \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'
const plainCharacter = `[^\\s${spaces}${controls}${turning}]`

/** The rule `plainLine` as a pattern for the documents. */
export const plainLinePattern = `^(?:${plainCharacter}|[${spaces}])*$`
/** A pattern for the documents: a plain line with a character that is no space. */
export const filledLinePattern = `^[${spaces}]*${plainCharacter}(?:${plainCharacter}|[${spaces}])*$`

/**
 * The code of an entry of the directory, such as a bank. Codes appear in URLs and on command lines, so no code begins
 * with a hyphen or a dot.
 */
export const code = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'code')

export const countryCode: TextRule = { rule: 'upper-case-country', params: {}, holds: isCountry }
export const countryOrGlobal: TextRule = {
  rule: 'country-or-global',
  params: {},
  holds: text => text === 'global' || isCountry(text),
}
export const currencyCode = pattern(/^[A-Z]{3}$/, 'currency')
export const merchantCategoryCode = pattern(/^\d{4}$/, 'four-digits')
export const urlIdent = pattern(/^[A-Za-z0-9._~-]{1,200}$/, 'url-ident')
export const uuid = pattern(uuidForm, 'uuid')
export const domain = pattern(/^(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}.-]*[\p{L}\p{N}\p{M}])?$/u, 'domain')

/**
 * The IANA name of a time zone. Node.js must know it; the database need not, because only our code computes with time
 * zones.
 */
export const timeZone: TextRule = {
  rule: 'time-zone',
  params: {},
  holds: isIanaName,
}

/** One line for people to read. Lengths count Unicode code points. */
export function oneLine(max: number): TextRule {
  return {
    rule: 'one-line',
    params: { max },
    holds: text => text.trim() !== '' && !/\p{Cc}/u.test(text) && hasAtMost(max, text),
  }
}

/** Like `oneLine`, also without the characters that `plainLine` forbids. */
export const plainOneLine = (max: number): TextRule => ({ ...oneLine(max), also: plainLine })

/** A text of any number of lines, which may be empty. */
export function paragraph(max: number): TextRule {
  return { rule: 'max-characters', params: { max }, holds: text => hasAtMost(max, text) }
}

/** Spaces and invisible characters, such as a zero-width space. */
const invisible = /[\s\p{Default_Ignorable_Code_Point}\u2800]/gu
/** One line for people to read, of any length, in which something can be seen. */
export const visibleLine: TextRule = {
  rule: 'not-blank',
  params: {},
  holds: text => text.replace(invisible, '') !== '',
  also: plainLine,
}

/** The characters of `invisible` below U+10000 that `plainLine` allows, without spaces. */
const unseen =
  '\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2065\\u206a-\\u206f\\u2800\\u3164' +
  '\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8'
const blankCharacter = `[${spaces}${unseen}]`
const visibleCharacter = `[^\\s${spaces}${unseen}${controls}${turning}]`
/** The rule `visibleLine` as a pattern for the documents. Invisible characters above U+FFFF count as visible in it. */
export const visibleLinePattern = `^${blankCharacter}*${visibleCharacter}(?:${visibleCharacter}|${blankCharacter})*$`

export function oneLineOrEmpty(max: number): TextRule {
  const { holds } = oneLine(max)
  return { rule: 'one-line-or-empty', params: { max }, holds: text => text === '' || holds(text) }
}

/**
 * An absolute http or https URI with a host, by the characters of RFC 3986. The URL parser would accept more. It escapes or drops
 * other characters, so the address that people see would differ from the one that is opened.
 */
const httpUri = (() => {
  const name = "[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}"
  const host = `(?:${name})+|\\[[0-9A-Fa-f:.]+\\]`
  const pathCharacter = `${name}|[:@/]`
  return new RegExp(
    `^https?://(?:(?:${name}|:)*@)?(?:${host})(?::\\d*)?(?:/(?:${pathCharacter})*)?` +
      `(?:\\?(?:${pathCharacter}|\\?)*)?(?:#(?:${pathCharacter}|\\?)*)?$`,
    'i',
  )
})()

export const webAddress: TextRule = {
  rule: 'web-address',
  params: {},
  holds: text => text.length <= 2048 && httpUri.test(text) && URL.canParse(text),
}

/**
 * The address of a picture, or an empty text. A data URI, which contains the picture itself, may have at most 256 KiB,
 * like a campaign's banners.
 */
export const picture: TextRule = {
  rule: 'picture',
  params: {},
  holds: text => text === '' || webAddress.holds(text) || isPictureUri(text),
}

/**
 * Matches user info before the host: `user:password@`, or only `@`. The URL parser skips any number of slashes and
 * backslashes before it.
 */
const userInfo = /^https?:[\\/]*[^\\/?#]*@/i

/** Like `picture`, but without a user and password, because the directory shows the address to all partners. */
export const publicPicture: TextRule = { ...picture, holds: text => picture.holds(text) && !userInfo.test(text) }

function isPictureUri(text: string): boolean {
  const base64 = /^data:image\/[a-z0-9.+-]{1,64};base64,([A-Za-z0-9+/]+={0,2})$/i.exec(text)?.[1]
  return base64 !== undefined && base64.length % 4 === 0 && Buffer.byteLength(base64, 'base64') <= 256 * 1024
}

function pattern(form: RegExp, rule: RuleCode): TextRule {
  return { rule, params: {}, holds: text => form.test(text) }
}

function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || (text.length <= 2 * max && [...text].length <= max)
}
