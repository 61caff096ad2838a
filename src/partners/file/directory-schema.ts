/** The rules of the directory file, key by key (contract/operations.md, "The directory file"). */

import type { BrokenRule } from '../../error-rules.ts'
import * as rules from '../../text/text-rules.ts'
import { usualZoneName } from '../../text/time-zones.ts'
import { deliveryModes } from '../delivery-modes.ts'
import { type DirectoryTerminal, maxTerminals, readTerminalsFile, terminalRules } from './terminals-file.ts'
import {
  clearable,
  kept,
  list,
  mapping,
  neededWhenNew,
  optional,
  type Place,
  type Reader,
  refine,
  refuse,
  required,
} from './yaml-form.ts'
import { allOr, money, oneOf, percentage, text, trueOrFalse, wholeNumber } from './yaml-values.ts'

/** A code that the file refers to. It must exist in the file or in the database. */
export type Reference = { path: string; line: number; kind: 'bank' | 'mobileOperator'; code: string }

/** Where the file gives a bank its mode of delivery. */
export type GivenDelivery = { path: string; line: number }

/** An entry with a permanent key: its code, or for a tariff its `tariffKey`. `id` is the id in the file. */
export type Entry = {
  path: string
  line: number
  kind: 'country' | 'paymentSystem' | 'bank' | 'merchant' | 'mobileOperator' | 'tariff'
  code: string
  id: string | undefined
  /** The errors if the entry is new: one for each absent key that a new entry must have. */
  missing: BrokenRule[]
  /** True for a mobile operator that the file names only to list its tariffs. */
  namesOnlyTariffs: boolean
}

export const partnerStatuses = ['active', 'suspended'] as const
export const mobileOperatorStatuses = ['active', 'suspended', 'withdrawn'] as const

const maxCount = 2_147_483_647
const code = text(rules.code)
const name = text(rules.oneLine(200))
const description = text(rules.paragraph(2000))
const picture = text(rules.publicPicture)
const uuid = refine(text(rules.uuid), id => id.toLowerCase())
const timeZone = refine(text(rules.timeZone), name => usualZoneName(name))
const webAddress = text(rules.webAddress)
const id = optional(uuid, undefined)

const country = mapping({
  id,
  code: required(text(rules.countryCode)),
  name: neededWhenNew(name),
  currency: neededWhenNew(
    mapping({
      code: neededWhenNew(text(rules.currencyCode)),
      name: neededWhenNew(name),
      symbol: clearable(text(rules.oneLineOrEmpty(16)), ''),
      icon: clearable(picture, ''),
    }),
  ),
})

const paymentSystem = mapping({ id, code: required(code), name: neededWhenNew(name) })

const count = wholeNumber(0, maxCount)
const tariff = mapping({
  id,
  code: required(code),
  name: neededWhenNew(name),
  description: clearable(description, ''),
  price: neededWhenNew(money),
  currency: neededWhenNew(text(rules.currencyCode)),
  dataVolumeMb: clearable(count, 0),
  dataUnlimited: kept(trueOrFalse),
  voiceMinutes: clearable(count, 0),
  voiceUnlimited: kept(trueOrFalse),
  smsCount: clearable(count, 0),
  smsUnlimited: kept(trueOrFalse),
  validityDays: neededWhenNew(wholeNumber(1, 36_500)),
  onSale: kept(trueOrFalse),
})

const terminal = mapping({
  terminalId: required(text(terminalRules.terminalId)),
  name: optional(text(terminalRules.name), null),
  location: optional(text(terminalRules.location), null),
  paymentSystemMerchantId: optional(text(terminalRules.paymentSystemMerchantId), null),
  paymentSystemMerchantName: optional(text(terminalRules.paymentSystemMerchantName), null),
})

/**
 * While the file is read, each code that it refers to is added to `references`, each entry to `entries`, and the place of
 * each mode of delivery to `deliveries`. `fileText` returns the content of a terminals file by its path.
 */
export type DirectoryContext = {
  references: Reference[]
  entries: Entry[]
  deliveries: GivenDelivery[]
  fileText(path: string): string | undefined
}

/**
 * Reads the whole directory file (contract/operations.md, "The directory file"). A field of an entry is undefined
 * when it is absent, and null clears a field that may be empty. `tables.ts` has the defaults of new entries.
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

/** The value for `statement: null`, and for a new bank without `statement` (contract/statements.md, "Settings"). */
const defaultStatement = { timeZone: 'UTC', commissionPercentage: 0 }

/** Reads a bank. A new bank without `esim` sells no eSIM; `esim: null` ends all sales. */
function bankForm({ references, deliveries }: DirectoryContext) {
  const deliveryMode = refine(oneOf(...deliveryModes), (mode, { path, line }) => {
    deliveries.push({ path, line })
    return mode
  })
  return mapping({
    id,
    code: required(code),
    name: neededWhenNew(name),
    logoUrl: clearable(picture, ''),
    apiVersion: kept(text(rules.oneLine(32))),
    status: kept(oneOf(...partnerStatuses)),
    esim: clearable(
      mapping({
        deliveryMode: kept(deliveryMode),
        operators: {
          ...neededWhenNew(allOr(list(reference('mobileOperator', references), { max: 10_000 }))),
          whenNull: () => [],
        },
        reservationShare: clearable(wholeNumber(1, 100), null),
        statement: clearable(
          mapping({ timeZone: kept(timeZone), commissionPercentage: kept(percentage) }),
          defaultStatement,
        ),
      }),
      { deliveryMode: 'local', operators: [], reservationShare: null, statement: undefined },
    ),
    segments: kept(trueOrFalse),
  })
}

/**
 * Reads a merchant. Its terminals come from the list or from the terminals file. Without either, `terminals` is
 * undefined, and the terminals in the database stay.
 */
function merchantForm({ references, fileText }: DirectoryContext) {
  const terminalsFile: Reader<readonly DirectoryTerminal[]> = refine(text(rules.oneLine(1024)), (path, place) => {
    const csv = fileText(path)
    return csv === undefined ? refuse(place, 'readable-file') : readTerminalsFile(csv, path, place.reading.found)
  })
  return refine(
    mapping({
      id,
      code: required(code),
      name: neededWhenNew(name),
      nameEn: clearable(text(rules.oneLineOrEmpty(200)), ''),
      description: clearable(description, ''),
      logoUrl: clearable(picture, ''),
      urlIdent: clearable(text(rules.urlIdent), ''),
      domain: clearable(list(text(rules.domain), { max: 100 }), []),
      merchantCategoryCode: clearable(list(text(rules.merchantCategoryCode), { max: 100 }), []),
      excludedBanks: clearable(list(reference('bank', references), { max: 10_000 }), []),
      status: kept(oneOf(...partnerStatuses)),
      cardPresentationId: clearable(uuid, null),
      isReview: kept(trueOrFalse),
      isMask: kept(trueOrFalse),
      iosAppUrl: clearable(webAddress, null),
      androidAppUrl: clearable(webAddress, null),
      terminals: clearable(list(terminal, { max: maxTerminals, unique: ['terminalId'] }), []),
      terminalsFile: kept(terminalsFile),
    }),
    ({ terminalsFile, ...merchant }, place) => {
      if (merchant.terminals !== undefined && terminalsFile !== undefined) refuse(place, 'one-of-terminals')
      return { ...merchant, terminals: merchant.terminals ?? terminalsFile }
    },
  )
}

/**
 * Reads a mobile operator. Its tariffs are recorded under its code, which is known only after the whole operator was
 * read.
 */
function mobileOperatorForm({ entries }: DirectoryContext) {
  return (node: unknown, place: Place) => {
    const tariffs: Entry[] = []
    const read = refine(
      mapping({
        id,
        code: required(code),
        nameUk: neededWhenNew(name),
        nameEn: clearable(text(rules.oneLineOrEmpty(200)), ''),
        logoUrl: clearable(picture, ''),
        country: neededWhenNew(text(rules.countryOrGlobal)),
        status: kept(oneOf(...mobileOperatorStatuses)),
        tariffs: optional(list(noteEntry('tariff', tariff, tariffs), { max: 1000, unique: ['code', 'id'] }), []),
      }),
      operator => {
        if (operator.code !== undefined)
          entries.push(...tariffs.map(entry => ({ ...entry, code: tariffKey(operator.code, entry.code) })))
        return operator
      },
    )
    return read(node, place)
  }
}

/**
 * The codes of an operator and a tariff, joined with a slash. A tariff's code alone is not unique. No code has a slash.
 */
export function tariffKey(operatorCode: string, code: string): string {
  return `${operatorCode}/${code}`
}

function reference(kind: Reference['kind'], references: Reference[]): Reader<string> {
  return refine(code, (referred, { path, line }) => {
    references.push({ path, line, kind, code: referred })
    return referred
  })
}

/**
 * Wraps the reader of an entry so that it also adds the entry to `entries`. While the entry is read, `reading.missing`
 * collects only the absent keys of this entry, not those of an outer entry that contains it.
 */
function noteEntry<T extends { code: string }>(kind: Entry['kind'], read: Reader<T>, entries: Entry[]): Reader<T> {
  return (node, place) => {
    const { reading } = place
    const outer = reading.missing
    reading.missing = []
    const entry = read(node, place) as (T & { id?: string | undefined }) | undefined
    const { missing } = reading
    reading.missing = outer
    // If the entry has errors, its invalid fields are absent. Without a code it is not added to `entries`.
    if (entry?.code === undefined) return entry as T
    const { code, id } = entry
    entries.push({
      path: place.path,
      line: place.line,
      kind,
      code,
      id,
      missing,
      namesOnlyTariffs: namesOnlyTariffs(entry),
    })
    return entry
  }
}

/** Whether an entry only names the mobile operator of its tariffs. */
function namesOnlyTariffs({ code, ...fields }: object & { code: string; tariffs?: readonly unknown[] }): boolean {
  const params = Object.entries(fields).filter(([, value]) => value !== undefined)
  return params.length === 1 && fields.tariffs !== undefined && fields.tariffs.length > 0
}
