/** The whole row of a campaign, and what of the directory it is checked against. How states move is in `moves-store.ts`. */
import type { Queryable, Statement } from '../db/database.ts'
import { cardText, type Origin, type Terms } from './terms.ts'

/** Who and what of these the directory has. */
export type DirectoryEntries = {
  /** False for a merchant that is unknown or suspended. */
  merchantActive: boolean
  /** Those of the banks that are connected and that the merchant does not exclude. */
  banks: string[]
  /** null: there is no such country. */
  countryId: string | null
  paymentSystems: string[]
}

const directoryStatement: Statement = {
  name: 'campaigns.directory',
  text: `
    select
      exists (select from merchants where merchant_id = $1 and status = 'active') as "merchantActive",
      array(
        select bank_id from banks b where b.bank_id = any($2::uuid[]) and b.status = 'active'
          and not exists (select from merchant_excluded_banks e where e.merchant_id = $1 and e.bank_id = b.bank_id)
      ) as banks,
      (select country_id from countries where code = $3) as "countryId",
      array(select payment_system_id from payment_systems where payment_system_id = any($4::uuid[])) as "paymentSystems"`,
}

/** What of these the directory has for a merchant. @param given.merchantId null: none */
export async function findDirectoryEntries(
  database: Queryable,
  given: {
    merchantId: string | null
    banks?: string[] | undefined
    countryCode?: string | undefined
    paymentSystems?: string[] | undefined
  },
): Promise<DirectoryEntries> {
  const [row] = await database.query<DirectoryEntries>(directoryStatement, [
    given.merchantId,
    given.banks ?? [],
    given.countryCode ?? null,
    given.paymentSystems ?? [],
  ])
  if (!row) throw new Error('A select without a table has one row')
  return row
}

const insertStatement: Statement = {
  name: 'campaigns.insert',
  text: `
    insert into campaigns (
      cashback_id, merchant_id, created_by_bank_id, created_at, updated_at, status,
      name, description, participation_terms, banner_small, banner_big, sku, category_id, all_products, purchase_online,
      purchase_offline, date_from, date_to, min_amount, max_amount, max_budget, percentage, merchant_compensation_percentage,
      merchant_category_code, country_id, payment_systems_id, terminals_platform, terminals, terminals_count, card)
    values ($1, $2, $3, $4, $4, 'awaitingBankApproval',
      $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)`,
}

/** Adds the row of a new campaign, without banks. */
export async function insertCampaign(
  transaction: Queryable,
  origin: Origin,
  terms: Terms,
  countryId: string,
): Promise<void> {
  const { cashbackId, merchantId, createdByBankId, createdAt } = origin
  const card = cardText(origin, terms, countryId)
  const values = [cashbackId, merchantId, createdByBankId, createdAt, ...termsValues(terms, countryId), card]
  await transaction.execute(insertStatement, values)
}

/** In the order of the columns from `name` to `terminals_count`. */
function termsValues(terms: Terms, countryId: string): unknown[] {
  return [
    terms.name,
    terms.description,
    terms.participationTerms,
    terms.bannerSmall,
    terms.bannerBig,
    terms.sku,
    terms.categoryId,
    terms.allProducts,
    terms.purchaseOnline,
    terms.purchaseOffline,
    terms.dateFrom,
    terms.dateTo,
    terms.minAmount,
    terms.maxAmount,
    terms.maxBudget,
    terms.percentage,
    terms.merchantCompensationPercentage,
    terms.merchantCategoryCode,
    countryId,
    terms.paymentSystemsId,
    terms.terminalsPlatform,
    JSON.stringify(terms.terminals),
    terms.terminals.length,
  ]
}
