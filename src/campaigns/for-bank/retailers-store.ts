/** Merchants as banks see them (contract/campaigns.md, "Merchant records"), without suspended ones. */
import type { Queryable, Statement } from '../../db/database.ts'

export type Retailer = {
  retailerId: string
  name: string
  description: string
  logoUrl: string
  urlIdent: string
  nameEn: string
  cardPresentationId: string | null
  isReview: boolean
  isMask: boolean
  domain: string[]
  merchantCategoryCode: string[]
  createdAt: Date
  updateAt: Date
  iosAppUrl: string | null
  androidAppUrl: string | null
}

const select = `
  select merchant_id as "retailerId", name, description, logo_url as "logoUrl", url_ident as "urlIdent", name_en as "nameEn",
    card_presentation_id as "cardPresentationId", is_review as "isReview", is_mask as "isMask", domain,
    merchant_category_code as "merchantCategoryCode", created_at as "createdAt", updated_at as "updateAt",
    ios_app_url as "iosAppUrl", android_app_url as "androidAppUrl"
  from merchants where status = 'active'`

const allStatement: Statement = { name: 'retailers.all', text: `${select} order by name, merchant_id` }
const oneStatement: Statement = { name: 'retailers.one', text: `${select} and merchant_id = $1` }

/** All merchants that are not suspended, sorted by name. */
export function listRetailers(database: Queryable): Promise<Retailer[]> {
  return database.query<Retailer>(allStatement)
}

/** Reads one merchant. @param retailerId a UUID @returns null when there is no such merchant */
export async function readRetailer(database: Queryable, retailerId: string): Promise<Retailer | null> {
  const [retailer] = await database.query<Retailer>(oneStatement, [retailerId])
  return retailer ?? null
}
