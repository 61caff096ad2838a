/** Banks, merchants with their terminals, mobile operators and tariffs. */
import type pg from 'pg'
import { banks, merchants, merchantsIn, operators, type Sizes, tariffs, tariffsOfOperator } from './sizes.ts'

const terminalsOfMerchant = 20

export const countryId = 'c0000000-0000-4000-8000-000000000001'
export const paymentSystemId = 'd0000000-0000-4000-8000-000000000001'

/** SQL expression for the id of the bank with this number; `number` is an SQL expression, too. */
export const bankId = (number: string): string => `md5('bank' || ${number})::uuid`
export const merchantId = (number: string): string => `md5('merchant' || ${number})::uuid`

/** SQL expression for the code of the partner with the number `n`. */
const codeOf = (named: Record<string, number>, other: string): string =>
  `coalesce((array[${Object.keys(named).map(code => `'${code}'`)}])[n + 1], '${other}-' || n)`

export async function makeDirectory(client: pg.Client, sizes: Sizes): Promise<void> {
  for (const statement of statements(sizes)) await client.query(statement)
}

const statements = (sizes: Sizes): string[] => [
  `insert into countries values ('${countryId}', 'UA', 'Ukraine', 'UAH', 'Hryvnia', '₴', '')`,
  `insert into payment_systems values ('${paymentSystemId}', 'visa', 'Visa')`,
  `insert into banks (bank_id, code, name, logo_url, api_version, status, esim_delivery_mode, esim_all_operators)
   select ${bankId('n')}, ${codeOf(banks, 'bank')}, 'Bank ' || n, '', '1.0', 'active', 'local', true
   from generate_series(0, ${sizes.banks - 1}) n`,
  `insert into merchants (merchant_id, code, name, name_en, description, logo_url, url_ident, domain, merchant_category_code,
     is_review, is_mask, status, created_at, updated_at)
   select ${merchantId('n')}, ${codeOf(merchants, 'merchant')}, 'Магазин ' || n, 'Shop ' || n, '', '', 'shop-' || n, '{}', '{}',
     false, false, 'active', now() - interval '3 years', now() - interval '3 years'
   from generate_series(0, ${merchantsIn(sizes) - 1}) n`,
  `insert into terminals (merchant_id, terminal_id, name, location, added_at)
   select merchant_id, 'T-' || n, 'Till ' || n, 'Kyiv, Street ' || n, now() - interval '3 years'
   from merchants, generate_series(1, ${terminalsOfMerchant}) n`,
  `insert into merchant_terminal_lists (merchant_id, terminals, terminals_count)
   select m.merchant_id, '[' || string_agg(row_to_json(t)::text, ',' order by t.terminal_id collate "C") || ']', count(*)
   from merchants m cross join lateral (
     select terminal_id, name as terminal_name, location as terminal_location, payment_system_merchant_id as merchant_id,
       payment_system_merchant_name as merchant_name
     from terminals where terminals.merchant_id = m.merchant_id) t
   group by m.merchant_id`,
  `insert into mobile_operators (mobile_operator_id, code, name_uk, name_en, country, status) overriding system value
   select n, 'operator-' || n, 'Оператор ' || n, 'Operator ' || n, 'UA', 'active' from generate_series(1, ${operators}) n`,
  `insert into tariffs (tariff_id, mobile_operator_id, code, name, description, price, currency, data_volume_mb, data_unlimited,
     voice_minutes, voice_unlimited, sms_count, sms_unlimited, validity_days, on_sale, position) overriding system value
   select n, (n - 1) / ${tariffsOfOperator} + 1, 'tariff-' || n, 'Europe ' || n, '', 100 + n, 'UAH', 10240, false, 0, false, 0,
     false, 30, true, n
   from generate_series(1, ${tariffs}) n`,
  followOn('mobile_operators', 'mobile_operator_id'),
  followOn('tariffs', 'tariff_id'),
  'update directory_version set version = version + 1',
]

/** SQL that sets a table's sequence, so that the next generated number follows the highest existing one. */
export const followOn = (table: string, column: string): string =>
  `select setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) from ${table}`
