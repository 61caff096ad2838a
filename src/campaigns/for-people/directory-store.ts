/** Reads the parts of the directory that every account may see: the countries and payment systems among which people choose. */
import type { Queryable, Statement } from '../../db/database.ts'

export type DirectoryCountry = {
  code: string
  name: string
  currency: { code: string; name: string; symbol: string; icon: string }
}
export type DirectoryPaymentSystem = { id: string; code: string; name: string }

const countriesStatement: Statement = {
  name: 'portal.countries',
  text: `
    select code, name, json_build_object('code', currency_code, 'name', currency_name, 'symbol', currency_symbol,
      'icon', currency_icon) as currency
    from countries order by name, code`,
}

const paymentSystemsStatement: Statement = {
  name: 'portal.payment-systems',
  text: 'select payment_system_id as id, code, name from payment_systems order by name, code',
}

/** Countries and payment systems, sorted by name. */
export async function listDirectory(
  database: Queryable,
): Promise<{ countries: DirectoryCountry[]; paymentSystems: DirectoryPaymentSystem[] }> {
  const [countries, paymentSystems] = await Promise.all([
    database.query<DirectoryCountry>(countriesStatement, []),
    database.query<DirectoryPaymentSystem>(paymentSystemsStatement, []),
  ])
  return { countries, paymentSystems }
}
