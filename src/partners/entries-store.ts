/**
 * Reads the current directory. Its entries have the form of the directory file, so that people can change an entry
 * and apply it again.
 */
import type { Queryable } from '../db/database.ts'
import type { DirectoryTerminal } from './file/terminals-file.ts'

export type CountryEntry = {
  id: string
  code: string
  name: string
  currency: { code: string; name: string; symbol: string; icon: string }
}
export type PaymentSystemEntry = { id: string; code: string; name: string }
export type BankEntry = {
  id: string
  code: string
  name: string
  logoUrl: string
  apiVersion: string
  status: string
  esim: {
    deliveryMode: string
    operators: 'all' | string[]
    reservationShare: number | null
    statement: { timeZone: string; commissionPercentage: number }
  }
  segments: boolean
}
type MerchantEntry = {
  id: string
  code: string
  name: string
  nameEn: string
  description: string
  logoUrl: string
  urlIdent: string
  domain: string[]
  merchantCategoryCode: string[]
  excludedBanks: string[]
  status: string
  cardPresentationId: string | null
  isReview: boolean
  isMask: boolean
  iosAppUrl: string | null
  androidAppUrl: string | null
}
/** The fields of a tariff, without its id and price. */
export type TariffTerms = {
  code: string
  name: string
  description: string
  currency: string
  dataVolumeMb: number
  dataUnlimited: boolean
  voiceMinutes: number
  voiceUnlimited: boolean
  smsCount: number
  smsUnlimited: boolean
  validityDays: number
  onSale: boolean
}
type TariffEntry = TariffTerms & { id: string; price: number }
export type MobileOperatorEntry = {
  id: string
  code: string
  nameUk: string
  nameEn: string
  logoUrl: string | null
  country: string
  status: string
  tariffs: TariffEntry[]
}

export type WithAccess<Entry> = { entry: Entry; users: number; credentials: number }

function listCountries(database: Queryable): Promise<CountryEntry[]> {
  return database.query(
    `select country_id as id, code, name, json_build_object('code', currency_code, 'name', currency_name,
            'symbol', currency_symbol, 'icon', currency_icon) as currency
     from countries order by code`,
  )
}

function listPaymentSystems(database: Queryable): Promise<PaymentSystemEntry[]> {
  return database.query('select payment_system_id as id, code, name from payment_systems order by code')
}

/**
 * SQL that counts the people and credentials that have access now. It compares with `between`, so that PostgreSQL finds
 * the rows of a partner by the index. With `=`, when nearly all people belong to one partner, PostgreSQL could read all
 * people once per partner.
 */
const access = (id: string) => `
  (select count(*) from portal_users u where u.${id} between p.${id} and p.${id} and disabled_at is null) as users,
  (select count(*) from credentials c where c.${id} between p.${id} and p.${id} and revoked_at is null) as credentials`

function listBanks(database: Queryable): Promise<WithAccess<BankEntry>[]> {
  return database.query(
    `select json_build_object('id', bank_id, 'code', code, 'name', name, 'logoUrl', logo_url, 'apiVersion', api_version,
              'status', status, 'esim', json_build_object('deliveryMode', esim_delivery_mode, 'operators',
                case when esim_all_operators then to_json('all'::text) else (
                  select coalesce(json_agg(m.code order by m.code), '[]')
                  from bank_mobile_operators o join mobile_operators m using (mobile_operator_id) where o.bank_id = p.bank_id
                ) end, 'reservationShare', esim_reservation_share, 'statement', json_build_object(
                'timeZone', esim_time_zone, 'commissionPercentage', esim_commission_percentage)), 'segments', segments) as entry, ${access('bank_id')}
     from banks p order by code`,
  )
}

export type ShownMerchant = WithAccess<MerchantEntry> & { terminals: number; createdAt: Date; updatedAt: Date }

const merchantColumns = `
  json_build_object('id', merchant_id, 'code', code, 'name', name, 'nameEn', name_en, 'description', description,
    'logoUrl', logo_url, 'urlIdent', url_ident, 'domain', domain, 'merchantCategoryCode', merchant_category_code,
    'excludedBanks', (
      select coalesce(json_agg(b.code order by b.code), '[]')
      from merchant_excluded_banks e join banks b using (bank_id) where e.merchant_id = p.merchant_id
    ), 'status', status, 'cardPresentationId', card_presentation_id, 'isReview', is_review, 'isMask', is_mask,
    'iosAppUrl', ios_app_url, 'androidAppUrl', android_app_url) as entry,
  (select coalesce(max(terminals_count), 0) from merchant_terminal_lists l where l.merchant_id = p.merchant_id) as terminals,
  created_at as "createdAt", updated_at as "updatedAt", ${access('merchant_id')}`

/** Finds a merchant by its code. @returns undefined when the code is unknown */
export async function findMerchant(database: Queryable, code: string): Promise<ShownMerchant | undefined> {
  const [merchant] = await database.query<ShownMerchant>(`select ${merchantColumns} from merchants p where code = $1`, [
    code,
  ])
  return merchant
}

/**
 * A page of a merchant's terminals, ordered by id.
 *
 * @param search.pattern a PostgreSQL regular expression for id, name or location; null: all
 */
export async function listTerminals(
  database: Queryable,
  merchantId: string,
  search: { pattern: string | null; limit: number; offset: number },
): Promise<{ terminals: DirectoryTerminal[]; totalItems: number }> {
  const fits = `merchant_id = $1 and ($2::text is null or concat_ws(E'\\n', terminal_id, name, location) ~ $2)`
  const terminals = await database.query<DirectoryTerminal>(
    `select terminal_id as "terminalId", name, location, payment_system_merchant_id as "paymentSystemMerchantId",
       payment_system_merchant_name as "paymentSystemMerchantName"
     from terminals where ${fits} order by terminal_id limit $3 offset $4`,
    [merchantId, search.pattern, search.limit, search.offset],
  )
  const [counted] = await database.query<{ count: number }>(
    `select count(*)::int as count from terminals where ${fits}`,
    [merchantId, search.pattern],
  )
  return { terminals, totalItems: counted?.count ?? 0 }
}

/**
 * A page of the merchants, ordered by code.
 *
 * @param search.pattern a PostgreSQL regular expression for code, name or the whole id; null: all
 */
async function listMerchants(
  database: Queryable,
  search: { pattern: string | null; limit: number; offset: number },
): Promise<{ merchants: ShownMerchant[]; totalItems: number }> {
  const fits = `($1::text is null or concat_ws(E'\\n', p.code, p.name, p.name_en) ~ $1
    or p.merchant_id::text ~ ('^' || $1 || '$'))`
  const merchants = await database.query<ShownMerchant>(
    `select ${merchantColumns}
     from merchants p where ${fits} order by code limit $2 offset $3`,
    [search.pattern, search.limit, search.offset],
  )
  const [counted] = await database.query<{ count: number }>(`select count(*) from merchants p where ${fits}`, [
    search.pattern,
  ])
  return { merchants, totalItems: counted?.count ?? 0 }
}

export function listMobileOperators(database: Queryable): Promise<MobileOperatorEntry[]> {
  return database.query(
    `select m.uuid as id, m.code, name_uk as "nameUk", name_en as "nameEn", logo_url as "logoUrl", country, status, (
              select coalesce(json_agg(json_build_object('id', t.uuid, 'code', t.code, 'name', t.name, 'description', t.description,
                'price', t.price, 'currency', t.currency, 'dataVolumeMb', t.data_volume_mb, 'dataUnlimited', t.data_unlimited,
                'voiceMinutes', t.voice_minutes, 'voiceUnlimited', t.voice_unlimited, 'smsCount', t.sms_count,
                'smsUnlimited', t.sms_unlimited, 'validityDays', t.validity_days, 'onSale', t.on_sale)
                order by t.position, t.tariff_id), '[]')
              from tariffs t where t.mobile_operator_id = m.mobile_operator_id
            ) as tariffs
     from mobile_operators m order by mobile_operator_id`,
  )
}

/** All entries of the directory, but of the merchants only a page. @param search as for `listMerchants` */
export async function readDirectory(database: Queryable, search: Parameters<typeof listMerchants>[1]) {
  return {
    countries: await listCountries(database),
    paymentSystems: await listPaymentSystems(database),
    banks: await listBanks(database),
    merchants: await listMerchants(database, search),
    mobileOperators: await listMobileOperators(database),
  }
}
