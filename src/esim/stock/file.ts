/** Reads and checks stock files. */
import type { Readable } from 'node:stream'
import { DomainError } from '../../errors.ts'
import { isOtherFormat, otherFormatText, readLines, splitRecord } from '../../text/csv-lines.ts'

/**
 * The columns of a stock file (contract/operations.md, "The stock file"), in the order that `checkStockLine` expects.
 */
export const stockColumns = ['iccid', 'msisdn', 'pin1', 'activationCode'] as const

/**
 * One profile from the file, with every value checked; `msisdn` has a leading `+`. All fields except `msisdn` are
 * secrets.
 */
export type StockLine = { iccid: string; msisdn: string; pin1: string; activationCode: string }

const errors = {
  tooLong: { rule: 'too-long', column: 'line', text: 'must be at most 4096 bytes' },
  quotes: { rule: 'quotes', column: 'line', text: 'must be quoted as in RFC 4180, without a line break in a value' },
  columnCount: { rule: 'column-count', column: 'line', text: 'must have four columns, as the header has' },
  iccidDigits: { rule: 'iccid-digits', column: 'iccid', text: 'must be 18 to 20 digits' },
  iccidLuhn: { rule: 'iccid-luhn', column: 'iccid', text: 'must end with the right Luhn digit' },
  msisdn: {
    rule: 'msisdn',
    column: 'msisdn',
    text: 'must be an E.164 number: at most 15 digits, the first not 0, with or without +',
  },
  pin1: { rule: 'pin1', column: 'pin1', text: 'must be 4 to 8 digits' },
  activationLength: { rule: 'activation-length', column: 'activationCode', text: 'must be at most 255 characters' },
  activationForm: {
    rule: 'activation-form',
    column: 'activationCode',
    text: 'must be LPA:1$SM-DP+ address$matching id',
  },
  smdpAddress: {
    rule: 'smdp-address',
    column: 'activationCode',
    text: 'must name an SM-DP+ address that is a full domain name',
  },
  matchingId: {
    rule: 'matching-id',
    column: 'activationCode',
    text: 'must have a matching id of letters, digits and hyphens',
  },
  smdpOid: {
    rule: 'smdp-oid',
    column: 'activationCode',
    text: 'must have an SM-DP+ OID, or nothing, as its fourth field',
  },
  confirmationFlag: {
    rule: 'confirmation-flag',
    column: 'activationCode',
    text: 'must have 1, or nothing, as its fifth field',
  },
  furtherFields: {
    rule: 'further-fields',
    column: 'activationCode',
    text: 'must consist of printable ASCII characters',
  },
  activationCodeTaken: {
    rule: 'activation-code-taken',
    column: 'activationCode',
    text: 'is already that of another profile',
  },
} as const

export type StockError = (typeof errors)[keyof typeof errors]

/**
 * All reasons to refuse a line; `column` and `text` together make one sentence. Files may have millions of errors, so
 * an error is kept as an index into this list. No text repeats a value, because values are secrets.
 */
export const stockErrors: readonly StockError[] = Object.values(errors)

/** The error of a line with the activation code of another profile. Only the import can find it. */
export const activationCodeTaken: StockError = errors.activationCodeTaken

export type StockResult = { line: StockLine } | { error: StockError }

/** `lineNumber` is the line of the file; the header is line 1. */
export type NumberedStockResult = { lineNumber: number; result: StockResult }

const domainName = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * Reads a stock file as a stream: arrays of at most 200 checked lines in the order of the file, without empty lines.
 * The use of memory is bounded for any file. Each line is a record, and no value may contain a line break, so a wrong
 * quote affects only its own line.
 * @throws DomainError 'invalid' when line 1 is not a header of exactly the four columns; the rule is `utf8` when the
 *   file is not UTF-8 text
 */
export async function* readStockLines(source: Readable): AsyncGenerator<NumberedStockResult[], void, undefined> {
  let places: number[] | undefined
  for await (const lines of readLines(source)) {
    const results: NumberedStockResult[] = []
    for (const { lineNumber, text } of lines) {
      if (places === undefined) places = placesInHeader(text)
      else if (text === undefined) results.push({ lineNumber, result: { error: errors.tooLong } })
      else if (text !== '') results.push({ lineNumber, result: checkText(text, places) })
    }
    if (results.length > 0) yield results
  }
  if (places === undefined)
    throw new DomainError('invalid', `the file is empty; ${headerRule}`, {
      problems: [{ line: null, column: null, rule: 'not-empty', params: {}, value: null }],
    })
}

/**
 * Checks one line. `record` has its values in the order of `stockColumns`. Returns the profile, or the first error. The
 * activation code is checked by SGP.22 section 4.1, but its matching id may also be in lower case: phones accept it, so
 * a mobile operator's stock must not be refused for it.
 */
export function checkStockLine(record: readonly string[]): StockResult {
  const [iccid = '', msisdn = '', pin1 = '', activationCode = ''] = record
  if (record.length !== stockColumns.length) return { error: errors.columnCount }
  if (!/^\d{18,20}$/.test(iccid)) return { error: errors.iccidDigits }
  if (luhnDigit(iccid.slice(0, -1)) !== iccid.at(-1)) return { error: errors.iccidLuhn }
  if (!/^\+?[1-9]\d{0,14}$/.test(msisdn)) return { error: errors.msisdn }
  if (!/^\d{4,8}$/.test(pin1)) return { error: errors.pin1 }
  const error = activationError(activationCode)
  if (error !== undefined) return { error }
  return { line: { iccid, msisdn: msisdn.startsWith('+') ? msisdn : `+${msisdn}`, pin1, activationCode } }
}

/** The Luhn check digit for `digits` (ISO/IEC 7812-1, as GSMA and ITU-T E.118 use it for ICCIDs). */
export function luhnDigit(digits: string): string {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    const weighted = place % 2 === 0 ? digit * 2 : digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return String((10 - (sum % 10)) % 10)
}

function activationError(code: string): StockError | undefined {
  if (code.length > 255) return errors.activationLength
  const [format, address, matchingId, oid = '', flag = '', ...further] = code.split('$')
  if (format !== 'LPA:1' || address === undefined || matchingId === undefined) return errors.activationForm
  if (!domainName.test(address)) return errors.smdpAddress
  if (!/^[A-Za-z0-9-]*$/.test(matchingId)) return errors.matchingId
  if (!/^(?:\d+(?:\.\d+)*)?$/.test(oid)) return errors.smdpOid
  if (flag !== '' && flag !== '1') return errors.confirmationFlag
  return further.every(field => /^[\x21-\x7e]*$/.test(field)) ? undefined : errors.furtherFields
}

const headerRule = `line 1 must be the header ${stockColumns.join(',')} (in any order)`

/**
 * Returns the position of each of `stockColumns` in line 1. The error repeats line 1 only if it has the names of the
 * columns, separated by semicolons or tabs. Otherwise line 1 could be a profile with secrets, in a file without a
 * header.
 */
function placesInHeader(text: string | undefined): number[] {
  if (text !== undefined && isOtherFormat(text))
    throw new DomainError('invalid', otherFormatText, {
      problems: [{ line: 1, column: null, rule: 'utf8', params: {}, value: null }],
    })
  const names = splitRecord(text ?? '')
  const places = stockColumns.map(column => names?.indexOf(column) ?? -1)
  if (names?.length !== stockColumns.length || places.includes(-1)) {
    const params = { columns: stockColumns.join(',') }
    const others = text?.split(/[;\t]/).toSorted().join()
    const value = others === stockColumns.toSorted().join() ? (text ?? null) : null
    throw new DomainError('invalid', headerRule, {
      problems: [{ line: 1, column: null, rule: 'header', params, value }],
    })
  }
  return places
}

function checkText(text: string, places: readonly number[]): StockResult {
  const fields = splitRecord(text)
  if (fields === undefined) return { error: errors.quotes }
  if (fields.length !== places.length) return { error: errors.columnCount }
  return checkStockLine(places.map(place => fields[place] ?? ''))
}
