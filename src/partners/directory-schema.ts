/** The rules of the directory file, key by key: what each takes, and what it is when it is left out (operations.md, "The directory file"). */
import { deliveryModes } from '../esim/store.ts'
import { maxTerminals, readTerminals, type Terminal, terminalRules } from './terminals-file.ts'
import * as rules from './text-rules.ts'
import { list, mapping, optional, type Place, type Reader, refine, refuse, required } from './yaml-form.ts'
import { allOr, money, oneOf, text, trueOrFalse, wholeNumber } from './yaml-values.ts'

/** A code that the file names and that must exist, in the file or in what was applied before. */
export type Reference = { path: string; line: number; kind: 'bank' | 'mobileOperator'; code: string }

/** An entry with a lasting key of its own, which for a tariff is its `tariffKey`; `id` as the file gives it. */
export type Entry = {
  path: string
  line: number
  kind: 'country' | 'paymentSystem' | 'bank' | 'merchant' | 'mobileOperator' | 'tariff'
  code: string
  id: string | undefined
}

export const partnerStatuses = ['active', 'suspended'] as const
export const mobileOperatorStatuses = ['active', 'suspended', 'withdrawn'] as const

const maxCount = 2_147_483_647
const code = text(rules.code)
const name = text(rules.oneLine(200))
const description = text(rules.paragraph(2000))
const picture = text(rules.picture)
const uuid = refine(text(rules.uuid), id => id.toLowerCase())
const webAddress = text(rules.webAddress)
const id = optional(uuid, undefined)

const country = mapping({
  id,
  code: required(text(rules.countryCode)),
  name: required(name),
  currency: required(
    refine(
      mapping({
        code: required(text(rules.currencyCode)),
        name: required(name),
        symbol: optional(text(rules.oneLine(16)), null),
        icon: optional(picture, ''),
      }),
      currency => ({ ...currency, symbol: currency.symbol ?? currency.code }),
    ),
  ),
})

const paymentSystem = mapping({ id, code: required(code), name: required(name) })

const tariff = mapping({
  id,
  code: required(code),
  name: required(name),
  description: optional(description, ''),
  price: required(money),
  currency: required(text(rules.currencyCode)),
  dataVolumeMb: optional(wholeNumber(0, maxCount), 0),
  dataUnlimited: optional(trueOrFalse, false),
  voiceMinutes: optional(wholeNumber(0, maxCount), 0),
  voiceUnlimited: optional(trueOrFalse, false),
  smsCount: optional(wholeNumber(0, maxCount), 0),
  smsUnlimited: optional(trueOrFalse, false),
  validityDays: required(wholeNumber(1, 36_500)),
  onSale: optional(trueOrFalse, true),
})

const terminal = mapping({
  terminalId: required(text(terminalRules.terminalId)),
  name: optional(text(terminalRules.name), null),
  location: optional(text(terminalRules.location), null),
  paymentSystemMerchantId: optional(text(terminalRules.paymentSystemMerchantId), null),
  paymentSystemMerchantName: optional(text(terminalRules.paymentSystemMerchantName), null),
})

/** What the schema needs beside the YAML text: where references and entries go, and the text of a `terminalsFile` by its path. */
export type DirectoryContext = {
  references: Reference[]
  entries: Entry[]
  fileText(path: string): string | undefined
}

/**
 * Reads the whole directory file (operations.md, "The directory file"). Every key is either required or has the value
 * that stands behind its reader here when it is left out or null; that says nothing of entries left out whole, which
 * stay as they are.
 */
export function directoryForm(context: DirectoryContext) {
  const noted = <T extends { code: string }>(kind: Entry['kind'], read: Reader<T>) =>
    noteEntry(kind, read, context.entries)
  const lists = mapping({
    countries: optional(list(noted('country', country), { max: 300, unique: ['code', 'id'] }), []),
    paymentSystems: optional(list(noted('paymentSystem', paymentSystem), { max: 1000, unique: ['code', 'id'] }), []),
    banks: optional(list(noted('bank', bankForm(context)), { max: 10_000, unique: ['code', 'id'] }), []),
    merchants: optional(list(noted('merchant', merchantForm(context)), { max: 100_000, unique: ['code', 'id'] }), []),
    esim: optional(
      mapping({
        operators: optional(
          list(noted('mobileOperator', mobileOperatorForm(context)), { max: 10_000, unique: ['code', 'id'] }),
          [],
        ),
      }),
      {
        operators: [],
      },
    ),
  })
  return refine(lists, ({ esim, ...others }) => ({ ...others, mobileOperators: esim?.operators }))
}

/** A bank without `esim` sells no eSIM. */
function bankForm({ references }: DirectoryContext) {
  return mapping({
    id,
    code: required(code),
    name: required(name),
    logoUrl: optional(picture, ''),
    apiVersion: optional(text(rules.oneLine(32)), '1.0'),
    status: optional(oneOf(...partnerStatuses), 'active'),
    esim: optional(
      mapping({
        deliveryMode: optional(oneOf(...deliveryModes), 'local'),
        operators: required(allOr(list(reference('mobileOperator', references), { max: 10_000 }))),
      }),
      { deliveryMode: 'local', operators: [] },
    ),
  })
}

/** `terminals` comes from the list or from the file. With neither it is undefined: those in the database stay. */
function merchantForm({ references, fileText }: DirectoryContext) {
  const terminalsFile: Reader<readonly Terminal[]> = refine(text(rules.oneLine(1024)), (path, place) => {
    const csv = fileText(path)
    return csv === undefined
      ? refuse(place, 'must name a file that can be read')
      : readTerminals(csv, path, place.reading.faults)
  })
  return refine(
    mapping({
      id,
      code: required(code),
      name: required(name),
      nameEn: optional(text(rules.orEmpty(rules.oneLine(200))), ''),
      description: optional(description, ''),
      logoUrl: optional(picture, ''),
      urlIdent: optional(text(rules.urlIdent), null),
      domain: optional(list(text(rules.domain), { max: 100 }), []),
      merchantCategoryCode: optional(list(text(rules.merchantCategoryCode), { max: 100 }), []),
      excludedBanks: optional(list(reference('bank', references), { max: 10_000 }), []),
      status: optional(oneOf(...partnerStatuses), 'active'),
      cardPresentationId: optional(uuid, null),
      isReview: optional(trueOrFalse, false),
      isMask: optional(trueOrFalse, false),
      iosAppUrl: optional(webAddress, null),
      androidAppUrl: optional(webAddress, null),
      terminals: optional(list(terminal, { max: maxTerminals, unique: ['terminalId'] }), undefined),
      terminalsFile: optional(terminalsFile, undefined),
    }),
    ({ terminalsFile, ...merchant }, place) => {
      if (merchant.terminals !== undefined && terminalsFile !== undefined)
        refuse(place, 'must have terminals or terminalsFile, not both')
      return {
        ...merchant,
        nameEn: merchant.nameEn || merchant.name,
        urlIdent: merchant.urlIdent ?? merchant.code,
        terminals: merchant.terminals ?? terminalsFile,
      }
    },
  )
}

/** Its tariffs are noted under its code, which is known once the whole of it is read. */
function mobileOperatorForm({ entries }: DirectoryContext) {
  return (node: unknown, place: Place) => {
    const tariffs: Entry[] = []
    const read = refine(
      mapping({
        id,
        code: required(code),
        nameUk: required(name),
        nameEn: optional(text(rules.orEmpty(rules.oneLine(200))), ''),
        logoUrl: optional(picture, ''),
        country: required(text(rules.countryOrGlobal)),
        status: optional(oneOf(...mobileOperatorStatuses), 'active'),
        tariffs: optional(list(noteEntry('tariff', tariff, tariffs), { max: 1000, unique: ['code', 'id'] }), []),
      }),
      operator => {
        if (operator.code !== undefined)
          entries.push(...tariffs.map(entry => ({ ...entry, code: tariffKey(operator.code, entry.code) })))
        // An empty English name is one left out: partners never see it empty (eSIM document, "Operator").
        return { ...operator, nameEn: operator.nameEn || operator.nameUk, logoUrl: operator.logoUrl || null }
      },
    )
    return read(node, place)
  }
}

/** Codes of tariffs are unique within their mobile operator; no code has a slash. */
function tariffKey(operatorCode: string, code: string): string {
  return `${operatorCode}/${code}`
}

function reference(kind: Reference['kind'], references: Reference[]): Reader<string> {
  return refine(code, (referred, { path, line }) => {
    references.push({ path, line, kind, code: referred })
    return referred
  })
}

function noteEntry<T extends { code: string }>(kind: Entry['kind'], read: Reader<T>, entries: Entry[]): Reader<T> {
  return refine(read, (entry: T & { id?: string | undefined }, { path, line }) => {
    // A faulty file comes here with its faulty values left out.
    if (entry.code !== undefined) entries.push({ path, line, kind, code: entry.code, id: entry.id })
    return entry
  })
}
