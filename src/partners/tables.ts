/** The tables of the directory: where each field of an entry is stored, and the default for a new entry. */

export const entryKinds = ['country', 'paymentSystem', 'bank', 'merchant', 'operator', 'tariff'] as const
export type EntryKind = (typeof entryKinds)[number]

/** The fields of an entry by name. A nested field has a dot in its name, as in `currency.code`. */
export type FieldValues = Record<string, unknown>

type EntryField = {
  /** The column of the field; absent for a link table. */
  column?: { name: string; type: string }
  /** The value for a new entry without the field. If it is undefined, the directory file must contain the field. */
  initial?: unknown
  /** SQL that reads the value; default: the column. `t` is the table. */
  read?: string
  /** Converts the value for the column; default: unchanged. */
  toColumn?(value: unknown): unknown
  /** Converts the value to show and compare it; default: unchanged. */
  toShown?(value: unknown): unknown
  link?: { table: LinkTable; targetsOf(value: unknown): readonly string[] }
}

export type EntryTable = {
  kind: EntryKind
  name: string
  /** The columns that identify an entry, with their types; `code` is one of them. */
  key: Record<string, string>
  /** The column of the id, which is generated for a new entry and never changed. */
  id: string
  fields: Record<string, EntryField>
  /** Fills empty fields from other fields of the same entry. */
  complete?(values: FieldValues, code: string): FieldValues
  /** True when the table has `created_at` and `updated_at`. */
  stamped?: boolean
}

/** A table of pairs of owners and targets. */
export type LinkTable = { name: string; owner: { table: string; id: string }; target: { table: string; id: string } }

const sortedCodes = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : value)

const field = (column: string, type: string, initial?: unknown): EntryField => ({
  column: { name: column, type },
  initial,
})
const text = (column: string, initial?: string | null) => field(column, 'text', initial)
const flag = (column: string, initial: boolean) => field(column, 'boolean', initial)
const count = (column: string, initial?: number) => field(column, 'int', initial)

export const countries: EntryTable = {
  kind: 'country',
  name: 'countries',
  key: { code: 'text' },
  id: 'country_id',
  fields: {
    name: text('name'),
    'currency.code': text('currency_code'),
    'currency.name': text('currency_name'),
    'currency.symbol': text('currency_symbol', ''),
    'currency.icon': text('currency_icon', ''),
  },
  complete: values => ({ ...values, 'currency.symbol': values['currency.symbol'] || values['currency.code'] }),
}

export const paymentSystems: EntryTable = {
  kind: 'paymentSystem',
  name: 'payment_systems',
  key: { code: 'text' },
  id: 'payment_system_id',
  fields: { name: text('name') },
}

const bankOperators: LinkTable = {
  name: 'bank_mobile_operators',
  owner: { table: 'banks', id: 'bank_id' },
  target: { table: 'mobile_operators', id: 'mobile_operator_id' },
}

export const banks: EntryTable = {
  kind: 'bank',
  name: 'banks',
  key: { code: 'text' },
  id: 'bank_id',
  fields: {
    name: text('name'),
    logoUrl: text('logo_url', ''),
    apiVersion: text('api_version', '1.0'),
    status: text('status', 'active'),
    'esim.deliveryMode': text('esim_delivery_mode', 'local'),
    'esim.operators': {
      ...flag('esim_all_operators', false),
      initial: [],
      read: `case when t.esim_all_operators then to_json('all'::text) else (
               select coalesce(json_agg(m.code order by m.code collate "C"), '[]')
               from bank_mobile_operators o join mobile_operators m using (mobile_operator_id) where o.bank_id = t.bank_id) end`,
      toColumn: value => value === 'all',
      toShown: sortedCodes,
      link: { table: bankOperators, targetsOf: value => (value === 'all' ? [] : (value as string[])) },
    },
    'esim.reservationShare': { ...count('esim_reservation_share'), initial: null },
    'esim.statement.timeZone': text('esim_time_zone', 'UTC'),
    'esim.statement.commissionPercentage': field('esim_commission_percentage', 'numeric', 0),
    segments: flag('segments', true),
  },
}

const excludedBanks: LinkTable = {
  name: 'merchant_excluded_banks',
  owner: { table: 'merchants', id: 'merchant_id' },
  target: { table: 'banks', id: 'bank_id' },
}

export const merchants: EntryTable = {
  kind: 'merchant',
  name: 'merchants',
  key: { code: 'text' },
  id: 'merchant_id',
  fields: {
    name: text('name'),
    nameEn: text('name_en', ''),
    description: text('description', ''),
    logoUrl: text('logo_url', ''),
    urlIdent: text('url_ident', ''),
    domain: field('domain', 'text[]', []),
    merchantCategoryCode: field('merchant_category_code', 'text[]', []),
    excludedBanks: {
      initial: [],
      read: `(select coalesce(json_agg(b.code order by b.code collate "C"), '[]')
              from merchant_excluded_banks e join banks b using (bank_id) where e.merchant_id = t.merchant_id)`,
      toShown: sortedCodes,
      link: { table: excludedBanks, targetsOf: value => value as string[] },
    },
    status: text('status', 'active'),
    cardPresentationId: field('card_presentation_id', 'uuid', null),
    isReview: flag('is_review', false),
    isMask: flag('is_mask', false),
    iosAppUrl: text('ios_app_url', null),
    androidAppUrl: text('android_app_url', null),
  },
  complete: (values, code) => ({
    ...values,
    nameEn: values.nameEn || values.name,
    urlIdent: values.urlIdent || code,
  }),
  stamped: true,
}

export const mobileOperators: EntryTable = {
  kind: 'operator',
  name: 'mobile_operators',
  key: { code: 'text' },
  id: 'uuid',
  fields: {
    nameUk: text('name_uk'),
    nameEn: text('name_en', ''),
    logoUrl: text('logo_url', null),
    country: text('country'),
    status: text('status', 'active'),
  },
  complete: values => ({ ...values, nameEn: values.nameEn || values.nameUk, logoUrl: values.logoUrl || null }),
}

export const tariffs: EntryTable = {
  kind: 'tariff',
  name: 'tariffs',
  key: { mobile_operator_id: 'int', code: 'text' },
  id: 'uuid',
  fields: {
    name: text('name'),
    description: text('description', ''),
    price: { ...field('price', 'numeric'), read: 't.price::text', toShown: Number },
    currency: text('currency'),
    dataVolumeMb: count('data_volume_mb', 0),
    dataUnlimited: flag('data_unlimited', false),
    voiceMinutes: count('voice_minutes', 0),
    voiceUnlimited: flag('voice_unlimited', false),
    smsCount: count('sms_count', 0),
    smsUnlimited: flag('sms_unlimited', false),
    validityDays: count('validity_days'),
    onSale: flag('on_sale', true),
    position: count('position'),
  },
}
