/** The tables of the directory: how each entry of the file is kept. */
import { randomUUID } from 'node:crypto'
import type { Queryable } from '../db/database.ts'
import type { Directory } from './directory-file.ts'
import { type EntryTable, type LinkTable, type Written, writeEntries, writeLinks } from './entry-writer.ts'

type Entries<Kind extends keyof Directory> = readonly NonNullable<Directory[Kind]>[number][]

const key = ['code']
const countries: EntryTable = {
  name: 'countries',
  key,
  id: 'country_id',
  columns: {
    code: 'text',
    name: 'text',
    currency_code: 'text',
    currency_name: 'text',
    currency_symbol: 'text',
    currency_icon: 'text',
  },
}
const paymentSystems: EntryTable = {
  name: 'payment_systems',
  key,
  id: 'payment_system_id',
  columns: { code: 'text', name: 'text' },
}
const banks: EntryTable = {
  name: 'banks',
  key,
  id: 'bank_id',
  columns: {
    code: 'text',
    name: 'text',
    logo_url: 'text',
    api_version: 'text',
    status: 'text',
    esim_delivery_mode: 'text',
    esim_all_operators: 'boolean',
  },
}
const merchants: EntryTable = {
  name: 'merchants',
  key,
  id: 'merchant_id',
  columns: {
    code: 'text',
    name: 'text',
    name_en: 'text',
    description: 'text',
    logo_url: 'text',
    url_ident: 'text',
    domain: 'text[]',
    merchant_category_code: 'text[]',
    card_presentation_id: 'uuid',
    is_review: 'boolean',
    is_mask: 'boolean',
    ios_app_url: 'text',
    android_app_url: 'text',
    status: 'text',
  },
  stamped: true,
}
const mobileOperators: EntryTable = {
  name: 'mobile_operators',
  key,
  id: 'uuid',
  columns: { code: 'text', name_uk: 'text', name_en: 'text', logo_url: 'text', country: 'text', status: 'text' },
}
const tariffs: EntryTable = {
  name: 'tariffs',
  key: ['mobile_operator_id', 'code'],
  id: 'uuid',
  columns: {
    mobile_operator_id: 'int',
    code: 'text',
    name: 'text',
    description: 'text',
    price: 'numeric',
    currency: 'text',
    data_volume_mb: 'int',
    data_unlimited: 'boolean',
    voice_minutes: 'int',
    voice_unlimited: 'boolean',
    sms_count: 'int',
    sms_unlimited: 'boolean',
    validity_days: 'int',
    on_sale: 'boolean',
    position: 'int',
  },
}
const bankOperators: LinkTable = {
  name: 'bank_mobile_operators',
  owner: { table: 'banks', id: 'bank_id' },
  target: { table: 'mobile_operators', id: 'mobile_operator_id' },
}
const excludedBanks: LinkTable = {
  name: 'merchant_excluded_banks',
  owner: { table: 'merchants', id: 'merchant_id' },
  target: { table: 'banks', id: 'bank_id' },
}

export function writeCountries(transaction: Queryable, entries: Entries<'countries'>, now: Date): Promise<Written[]> {
  const rows = entries.map(({ id, code, name, currency }) => ({
    country_id: id ?? randomUUID(),
    code,
    name,
    currency_code: currency.code,
    currency_name: currency.name,
    currency_symbol: currency.symbol,
    currency_icon: currency.icon,
  }))
  return writeEntries(transaction, countries, rows, now)
}

export function writePaymentSystems(
  transaction: Queryable,
  entries: Entries<'paymentSystems'>,
  now: Date,
): Promise<Written[]> {
  const rows = entries.map(({ id, code, name }) => ({ payment_system_id: id ?? randomUUID(), code, name }))
  return writeEntries(transaction, paymentSystems, rows, now)
}

/** The mobile operators without their tariffs. */
export function writeMobileOperators(
  transaction: Queryable,
  entries: Entries<'mobileOperators'>,
  now: Date,
): Promise<Written[]> {
  const rows = entries.map(({ id, code, nameUk, nameEn, logoUrl, country, status }) => ({
    uuid: id ?? randomUUID(),
    code,
    name_uk: nameUk,
    name_en: nameEn,
    logo_url: logoUrl,
    country,
    status,
  }))
  return writeEntries(transaction, mobileOperators, rows, now)
}

/** The tariffs of these mobile operators, which must be written before. */
export async function writeTariffs(
  transaction: Queryable,
  entries: Entries<'mobileOperators'>,
  now: Date,
): Promise<Written[]> {
  const idOf = await idsByCode(transaction, mobileOperators.name, 'mobile_operator_id', entries)
  const present = await transaction.query<{ operatorId: string | number; code: string; position: number }>(
    `select mobile_operator_id as "operatorId", code, position from tariffs where mobile_operator_id = any($1)`,
    [entries.map(({ code }) => idOf(code))],
  )
  const presentOf = Map.groupBy(present, ({ operatorId }) => operatorId)
  const rows = entries.flatMap(operator => {
    const codes = operator.tariffs.map(({ code }) => code)
    const positions = tariffPositions(codes, presentOf.get(idOf(operator.code)) ?? [])
    return operator.tariffs.map((tariff, index) => ({
      uuid: tariff.id ?? randomUUID(),
      mobile_operator_id: idOf(operator.code),
      code: tariff.code,
      name: tariff.name,
      description: tariff.description,
      price: tariff.price,
      currency: tariff.currency,
      data_volume_mb: tariff.dataVolumeMb,
      data_unlimited: tariff.dataUnlimited,
      voice_minutes: tariff.voiceMinutes,
      voice_unlimited: tariff.voiceUnlimited,
      sms_count: tariff.smsCount,
      sms_unlimited: tariff.smsUnlimited,
      validity_days: tariff.validityDays,
      on_sale: tariff.onSale,
      position: positions[index],
    }))
  })
  return writeEntries(transaction, tariffs, rows, now)
}

/** The order of a file that names all tariffs that are there; to another one they stay in theirs, and new ones follow. */
function tariffPositions(codes: readonly string[], present: readonly { code: string; position: number }[]): number[] {
  const named = new Set(codes)
  if (present.every(({ code }) => named.has(code))) return codes.map((_, index) => index)
  const known = new Map(present.map(({ code, position }) => [code, position]))
  let last = Math.max(...known.values())
  return codes.map(code => known.get(code) ?? ++last)
}

export function writeBanks(transaction: Queryable, entries: Entries<'banks'>, now: Date): Promise<Written[]> {
  const rows = entries.map(({ id, code, name, logoUrl, apiVersion, status, esim }) => ({
    bank_id: id ?? randomUUID(),
    code,
    name,
    logo_url: logoUrl,
    api_version: apiVersion,
    status,
    esim_delivery_mode: esim.deliveryMode,
    esim_all_operators: esim.operators === 'all',
  }))
  return writeEntries(transaction, banks, rows, now)
}

/** Which mobile operators each bank may sell. @returns the codes of the banks that this changes */
export function writeBankOperators(transaction: Queryable, entries: Entries<'banks'>): Promise<string[]> {
  const links = entries.map(({ code, esim }) => ({ code, targets: esim.operators === 'all' ? [] : esim.operators }))
  return writeLinks(transaction, bankOperators, links)
}

/** The merchants without their excluded banks and terminals. */
export function writeMerchants(transaction: Queryable, entries: Entries<'merchants'>, now: Date): Promise<Written[]> {
  const rows = entries.map(merchant => ({
    merchant_id: merchant.id ?? randomUUID(),
    code: merchant.code,
    name: merchant.name,
    name_en: merchant.nameEn,
    description: merchant.description,
    logo_url: merchant.logoUrl,
    url_ident: merchant.urlIdent,
    domain: merchant.domain,
    merchant_category_code: merchant.merchantCategoryCode,
    card_presentation_id: merchant.cardPresentationId,
    is_review: merchant.isReview,
    is_mask: merchant.isMask,
    ios_app_url: merchant.iosAppUrl,
    android_app_url: merchant.androidAppUrl,
    status: merchant.status,
  }))
  return writeEntries(transaction, merchants, rows, now)
}

/** @returns the codes of the merchants that this changes */
export function writeExcludedBanks(transaction: Queryable, entries: Entries<'merchants'>): Promise<string[]> {
  const links = entries.map(({ code, excludedBanks }) => ({ code, targets: excludedBanks }))
  return writeLinks(transaction, excludedBanks, links)
}

/** @returns finds the id of each of these entries by its code */
export async function idsByCode(
  transaction: Queryable,
  table: string,
  id: string,
  entries: readonly { code: string }[],
): Promise<(code: string) => string | number> {
  const rows = await transaction.query<{ code: string; id: string | number }>(
    `select code, ${id} as id from ${table} where code = any($1)`,
    [entries.map(({ code }) => code)],
  )
  const ids = new Map(rows.map(row => [row.code, row.id]))
  return code => {
    const found = ids.get(code)
    if (found === undefined) throw new Error(`${table} lacks an entry that was just written`)
    return found
  }
}

/** Notes the time of a change that lies outside the merchant's own row. */
export async function touchMerchants(transaction: Queryable, codes: readonly string[], now: Date): Promise<void> {
  await transaction.execute('update merchants set updated_at = $2 where code = any($1)', [codes, now])
}

const applyLock = 7_365_013

/** Waits until no other apply is under way; until the transaction ends the next one waits for this. */
export async function lockDirectory(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [applyLock])
}

/** Makes the copies that processes keep in memory stale. */
export async function raiseVersion(transaction: Queryable): Promise<void> {
  await transaction.execute('update directory_version set version = version + 1')
}
