/**
 * The rules that a value in a request can break. Each rule has a code for programs and an English text, and an error
 * contains both. The contract specifies the texts. Clients translate the code with its `params`. A code never changes
 * its meaning.
 */

export type RuleParams = Record<string, string | number>

const httpUrl =
  'an http or https URL of at most 2048 characters of RFC 3986 (others are written as %…, in the host as xn--…)'
const listedTypes = '(GET /partner/v1/event-types lists them)'

/** The text that follows `<field> must `. */
const texts = {
  // Rules that JSON schemas express.
  given: () => 'be given',
  omitted: () => 'be omitted',
  type: ({ type }) => `be ${String(type).split(' or ').map(withArticle).join(' or ')}`,
  'given-once': () => 'be given once only',
  'max-fields': ({ max }) => `be an object of at most ${max} fields`,
  'max-length': ({ max }) => `be shorter than or equal to ${characters(max)}`,
  'min-length': ({ min }) => `be longer than or equal to ${characters(min)}`,
  min: ({ min }) => `be at least ${min}`,
  max: ({ max }) => `be at most ${max}`,
  'more-than': ({ limit }) => `be greater than ${limit}`,
  'exact-number': () => 'be a number that double precision keeps as it is written',
  'multiple-of': ({ divisor }) => `be a multiple of ${divisor}`,
  'min-items': ({ min }) => `be a list of at least ${min}`,
  'max-items': ({ max }) => `be a list of at most ${max}`,
  'no-repetitions': () => 'be a list without repetitions',
  'one-of': ({ values }) => `be one of ${values}`,
  value: ({ value }) => `be ${value}`,
  format: ({ format }) => `be in the format ${format}`,
  keyword: ({ keyword }) => `be right (${keyword})`,

  // Rules about the form of a string.
  uuid: () => 'be a UUID',
  url: () => 'be a URL',
  /** `isDay` in text/days.ts has the same first and last day. */
  day: () => 'be an ISO 8601 date from 0100-01-02 to 9999-12-30',
  'date-time': () => 'be an ISO 8601 date and time with a time zone',
  instant: ({ from, to }) => `be an ISO 8601 date, or a date and time with a time zone, from ${from} to ${to}`,
  duration: () => 'be an ISO 8601 duration, like PT15M',
  'overlap-duration': () => 'be an ISO 8601 duration of at most a year, like PT24H',
  'time-zone': () => 'be an IANA time zone, like Europe/Kyiv',
  unicode: () => 'be well-formed Unicode without NUL',
  'json-text': () => 'be well-formed text without NUL',
  text: ({ max }) => `be a text of 1 to ${max} characters`,
  login: ({ max }) => `be 1 to ${max} visible characters without a space at either end`,
  'one-line': ({ max }) => `be one line of 1 to ${max} characters`,
  'one-line-or-empty': ({ max }) => `be one line of 1 to ${max} characters, or empty`,
  'visible-line': ({ max }) => `be one line of at most ${max} visible characters that do not turn the text`,
  'visible-text': ({ max }) => `be at most ${max} visible characters that do not turn the text`,
  'max-characters': ({ max }) => `be at most ${max} characters`,
  'not-blank': () => 'be a text with at least one character that is not a space',
  'plain-lines': () => 'be a text without control characters and without characters that turn its direction',
  'plain-line': () => 'be one line, without characters that turn the direction of the text',
  code: () => 'be 1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or digit',
  country: () => 'be an ISO 3166-1 alpha-2 code',
  'upper-case-country': () => 'be an ISO 3166-1 alpha-2 code in upper case',
  'country-or-global': () => 'be an ISO 3166-1 alpha-2 code in upper case, or global',
  currency: () => 'be an ISO 4217 code: three upper-case letters',
  'four-digits': () => 'be four digits',
  'url-ident': () => 'be 1 to 200 letters, digits, dots, underscores, tildes or hyphens',
  domain: () => 'be a domain name',
  'web-address': () => `be ${httpUrl}`,
  picture: () => `be ${httpUrl} and without a user, a data:image/...;base64, URI of at most 256 KiB, or empty`,
  banner: () => `be ${httpUrl}, or a data:image/...;base64, URI of at most 256 KiB`,
  'no-svg': () => 'be an image other than SVG',
  email: () => 'be an e-mail address of at most 254 ASCII characters (international domains as xn--…)',
  msisdn: () => 'be an E.164 number, with or without a leading +',
  iccid: () => 'be 18 to 20 digits',
  cursor: () => 'be the cursor of an earlier page',
  'sort-order': () => 'be ASC or DESC',

  // Rules of events and endpoints.
  'sequence-or-now': () => 'be a sequence or now',
  'sequence-or-instant': () => 'be a sequence or an instant',
  'event-type': () => `be a type of event, or test.ping ${listedTypes}`,
  'event-types': ({ type }) => `be a type of event or a group, not ${type} ${listedTypes}`,
  'endpoint-scheme': ({ schemes }) => `be a URL that begins with ${schemes}`,
  'endpoint-characters': () => 'be a URL without spaces, backslashes and control characters',
  'endpoint-user': () => 'be a URL without a user',
  'endpoint-fragment': () => 'be a URL without a fragment',
  'endpoint-port': ({ ports }) => `be a URL with one of the ports ${ports}`,
  'endpoint-host': () => 'be a URL of a host that may be called',
  'max-replayed': ({ max }) => `be such that at most ${max} events are replayed`,

  'advance-or-now': () => 'be an object with either advance or now',

  // Rules of numbers.
  'whole-number': ({ min, max }) => `be a whole number from ${min}${max === undefined ? '' : ` to ${max}`}`,
  decimals: ({ decimals }) => `be a number with at most ${decimals} decimals`,
  percentage: ({ decimals }) => `be a number from 0 to 100 with at most ${decimals} decimals`,
  price: ({ decimals }) => `be a number from 0 to 9999999999.99 with at most ${decimals} decimals`,

  // Rules between a campaign's fields, its state and the directory.
  future: () => 'be in the future',
  after: ({ field }) => `be after ${field}`,
  'not-before': ({ field }) => `be ${field}, or a later day`,
  'max-days': ({ max, field }) => `be at most ${max} days from ${field}`,
  'before-end-of-time': () => 'be such that the clock stays before the year 9900',
  'clock-forwards': () => 'be at or after the clock’s present time: it goes only forwards',
  'one-of-two': ({ field }) => `be given, or ${field}, and only one of them`,
  'omitted-by-merchant': () => 'be omitted by a merchant',
  'idempotency-key': () => 'be 1 to 255 visible ASCII characters',
  'not-below': ({ field }) => `be at least ${field}`,
  'all-or-some-products': () => 'be false when sku or categoryId is given',
  'own-terminals': () => 'be a list of at least 1 when terminalsPlatform is false',
  'unique-in-list': () => 'be unique in the list',
  'unchanged-over': () => 'be unchanged: the campaign is over',
  'unchanged-approved': () => 'be unchanged: a bank has approved the campaign',
  'unchanged-status': ({ status }) => `be unchanged: the campaign is ${status}`,
  'unchanged-directory': () => 'be unchanged: the platform’s directory holds the terminals of this campaign',
  'only-additions': ({ missing }) => `be the present list and additions only: ${missing} is missing`,
  'unchanged-elements': ({ changed }) => `be the present list and additions only: ${changed} is changed`,
  'invitable-bank': () => 'be a connected bank that the merchant does not exclude',
  'open-merchant': () => 'be an active merchant that does not exclude the bank',
  'known-payment-system': () => 'be a payment system of the platform',
  'known-country': () => 'be a country of the platform',
  'max-pending': ({ max }) =>
    `be invited later: ${max} campaigns of the merchant wait for the first approval of a bank`,
  'max-pending-size': ({ mebibytes }) =>
    `be fewer: the merchant’s campaigns that no bank has approved yet have at most ${mebibytes} MiB, with terminals, banners and other terms`,

  // Rules of passwords and codes.
  'password-repeated': () => 'be more than one character or one word repeated',
  'password-run': () => 'be more than characters that follow each other',
  'password-known': () => 'be more than the login, the name of the account, and the commonest passwords',
  'present-password': () => 'be the present password',
  'present-code': () => 'be a present code of the authenticator app',
  network: () => 'be a network like 192.0.2.0/24 or 2001:db8::/32',
  'own-address': ({ address }) => `have a network with ${address}, from which you set it, or be forced`,

  // Rules of accounts.
  'login-taken': ({ login }) => `be free; ${login} is taken already`,
  'login-invited': ({ login }) => `be free; ${login} is invited already, withdraw that invitation first`,
  'login-of-disabled': ({ login }) => `be free; ${login} is taken by a disabled user`,
  'one-account': () => 'be given, or another one account, and only one',
  'bank-or-merchant': () => 'be given, or merchant',
  'no-role-of-merchant': () => 'be omitted: a merchant’s credential may do everything',
  'role-of-bank': () => 'be given for a bank',
  'with-tariff': () => 'be given with a tariff',

  // Rules of the directory file's syntax.
  'plain-text': () => 'be text',
  'quoted-text': () => 'be text; put it in quotes',
  'true-or-false': () => 'be true or false',
  'all-or-list': () => 'be all or a list',
  list: () => 'be a list',
  mapping: ({ keys }) => `be a mapping of ${keys}`,
  'known-key': ({ keys }) => `be omitted; the keys here are ${keys}`,
  once: ({ line }) => `be given once; line ${line} gives it too`,
  'not-null': () => 'not be null; leave the key out to keep the value',
  'no-alias': () => 'be written out; aliases are not read',
  unique: ({ line }) => `be unique; line ${line} has it already`,
  'readable-file': () => 'name a file that can be read',
  'one-of-terminals': () => 'have terminals or terminalsFile, not both',
  new: ({ kind, code }) => `be new; ${kind} ${code} exists`,
  existing: ({ kind, code }) => `be the code of a ${kind}, here or applied before; no ${kind} is called ${code}`,
  'mail-server': ({ mode }) => `be local: ${mode} needs SMTP_URL and MAIL_FROM, and this process has no mail server`,
  'lasting-id': ({ id }) => `be ${id} or omitted: an id never changes`,
  'free-id': ({ kind, code }) => `be unique; ${kind} ${code} has it already`,
} satisfies Record<string, (params: RuleParams) => string>

export type RuleCode = keyof typeof texts

export const ruleCodes = Object.keys(texts) as RuleCode[]

/** A broken rule with the values that its text contains. */
export type Rule = { rule: RuleCode; params: RuleParams }

/** A broken rule of a field's value; `line`, from 1, is the line in a file. */
export type BrokenRule = Rule & { field: string; line?: number }

export const broken = (field: string, rule: RuleCode, params: RuleParams = {}): BrokenRule => ({ field, rule, params })

/** The text of a broken rule, for example `be at most 100`. */
export const ruleText = ({ rule, params }: Rule): string => texts[rule](params)

/**
 * Returns the sentence about a broken rule: `<field> must be at most 100`. In a file it is: `<field> (line 7): must
 * be at most 100`.
 */
export function ruleMessage(of: BrokenRule): string {
  const { field, line } = of
  if (line === undefined) return `${field} must ${ruleText(of)}`
  return `${field === '' ? '' : `${field} (`}line ${line}${field === '' ? '' : ')'}: must ${ruleText(of)}`
}

/** Returns the broken rules without duplicates. Two rules with the same message are duplicates. */
export const eachOnce = (rules: readonly BrokenRule[]): BrokenRule[] => [
  ...new Map(rules.map(rule => [ruleMessage(rule), rule])).values(),
]

/**
 * Returns keywords for a schema whose pattern or format alone would give an unclear message. They name the broken rule:
 * `x-rule` for programs, and `x-must-be` with the English text for the documentation.
 */
export const mustBe = (rule: RuleCode, params: RuleParams = {}): { 'x-must-be': string; 'x-rule': Rule } => ({
  'x-must-be': ruleText({ rule, params }).replace(/^be /, ''),
  'x-rule': { rule, params },
})

function characters(limit: string | number | undefined): string {
  return `${limit} character${limit === 1 ? '' : 's'}`
}

function withArticle(type: string): string {
  return type === 'null' ? 'null' : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
}
