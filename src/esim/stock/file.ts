import type { Readable } from 'node:stream'
import { DomainError } from '../../errors.ts'
import { readLines, splitRecord } from '../../text/csv-lines.ts'

/** The columns of a stock file (contract/operations.md, "The stock file"), in the order in which `checkStockLine` takes them. */
export const stockColumns = ['iccid', 'msisdn', 'pin1', 'activationCode'] as const

/** One profile as it is loaded: every value checked, `msisdn` with a leading `+`. All but `msisdn` are secrets. */
export type StockLine = { iccid: string; msisdn: string; pin1: string; activationCode: string }

const faults = {
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
} as const

export type StockFault = (typeof faults)[keyof typeof faults]

/**
 * Every reason for which a line is refused, `column` and `text` making one sentence. A fault's place in this list stands
 * for it where millions are kept or sent. No text repeats a value: values are secrets.
 */
export const stockFaults: readonly StockFault[] = Object.values(faults)

export type StockResult = { line: StockLine } | { fault: StockFault }

/** `lineNumber` is the line of the file, 1 being the header. */
export type NumberedStockResult = { lineNumber: number; result: StockResult }

const domainName = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * Reads a stock file as a stream: arrays of at most 200 checked lines in the order of the file, empty lines left out.
 * Memory is bounded whatever the file holds. A line is a record: no value may hold a line break, so a stray quote costs
 * one line and not the rest of the file. Throws `invalid` when line 1 is not a header of exactly the four columns.
 */
export async function* readStockLines(source: Readable): AsyncGenerator<NumberedStockResult[], void, undefined> {
  let places: number[] | undefined
  for await (const lines of readLines(source)) {
    const results: NumberedStockResult[] = []
    for (const { lineNumber, text } of lines) {
      if (places === undefined) places = placesInHeader(text)
      else if (text === undefined) results.push({ lineNumber, result: { fault: faults.tooLong } })
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
 * Checks one line, `record` holding its values in the order of `stockColumns`; gives the profile, or the first fault.
 * The activation code is read by SGP.22 section 4.1. Its matching id is taken in lower case too: phones take it, and a
 * mobile operator's stock is not refused for it.
 */
export function checkStockLine(record: readonly string[]): StockResult {
  const [iccid = '', msisdn = '', pin1 = '', activationCode = ''] = record
  if (record.length !== stockColumns.length) return { fault: faults.columnCount }
  if (!/^\d{18,20}$/.test(iccid)) return { fault: faults.iccidDigits }
  if (luhnDigit(iccid.slice(0, -1)) !== iccid.at(-1)) return { fault: faults.iccidLuhn }
  if (!/^\+?[1-9]\d{0,14}$/.test(msisdn)) return { fault: faults.msisdn }
  if (!/^\d{4,8}$/.test(pin1)) return { fault: faults.pin1 }
  const fault = activationFault(activationCode)
  if (fault !== undefined) return { fault }
  return { line: { iccid, msisdn: msisdn.startsWith('+') ? msisdn : `+${msisdn}`, pin1, activationCode } }
}

/** The Luhn check digit that belongs behind `digits` (ISO/IEC 7812-1, as GSMA and ITU-T E.118 use it for ICCIDs). */
export function luhnDigit(digits: string): string {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    const weighted = place % 2 === 0 ? digit * 2 : digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return String((10 - (sum % 10)) % 10)
}

function activationFault(code: string): StockFault | undefined {
  if (code.length > 255) return faults.activationLength
  const [format, address, matchingId, oid = '', flag = '', ...further] = code.split('$')
  if (format !== 'LPA:1' || address === undefined || matchingId === undefined) return faults.activationForm
  if (!domainName.test(address)) return faults.smdpAddress
  if (!/^[A-Za-z0-9-]*$/.test(matchingId)) return faults.matchingId
  if (!/^(?:\d+(?:\.\d+)*)?$/.test(oid)) return faults.smdpOid
  if (flag !== '' && flag !== '1') return faults.confirmationFlag
  return further.every(field => /^[\x21-\x7e]*$/.test(field)) ? undefined : faults.furtherFields
}

const headerRule = `line 1 must be the header ${stockColumns.join(',')} (in any order)`

/** Where each of `stockColumns` stands in a line. The message shows nothing of the line: without a header it is a profile. */
function placesInHeader(text: string | undefined): number[] {
  const names = splitRecord(text ?? '')
  const places = stockColumns.map(column => names?.indexOf(column) ?? -1)
  if (names?.length !== stockColumns.length || places.includes(-1)) {
    const params = { columns: stockColumns.join(',') }
    throw new DomainError('invalid', headerRule, {
      problems: [{ line: 1, column: null, rule: 'header', params, value: null }],
    })
  }
  return places
}

function checkText(text: string, places: readonly number[]): StockResult {
  const fields = splitRecord(text)
  if (fields === undefined) return { fault: faults.quotes }
  if (fields.length !== places.length) return { fault: faults.columnCount }
  return checkStockLine(places.map(place => fields[place] ?? ''))
}
