/**
 * Reads and writes the complete row of a campaign, and the directory entries that a form is checked against. `transitions-store.ts`
 * writes changes of status.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import { type GivenText, givenText, withGivenText } from '../../db/staged-text.ts'
import { cardText, type Origin, type Terms } from './terms.ts'

/** Which of the form's values exist in the directory. */
export type DirectoryEntries = {
  /** False for a merchant that is unknown or suspended. */
  merchantActive: boolean
  /** The banks that are connected and that the merchant does not exclude. */
  banks: string[]
  /** The id of the country; null when the country is unknown. */
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

/** Looks up a form's values in the directory, for a merchant. */
export async function findDirectoryEntries(
  database: Queryable,
  params: {
    merchantId: string | undefined
    banks: readonly string[] | undefined
    countryCode: string | undefined
    paymentSystems: readonly string[] | undefined
  },
): Promise<DirectoryEntries> {
  const [row] = await database.query<DirectoryEntries>(directoryStatement, [
    params.merchantId ?? null,
    params.banks ?? [],
    params.countryCode ?? null,
    params.paymentSystems ?? [],
  ])
  if (!row) throw new Error('A select without a table has one row')
  return row
}

export type ConnectedBank = { id: string; name: string; logoUrl: string; apiVersion: string }

/** The connected banks that a merchant does not exclude, sorted by name. */
export function findInvitableBanks(database: Queryable, merchantId: string): Promise<ConnectedBank[]> {
  return database.query<ConnectedBank>(
    {
      name: 'campaigns.invitable-banks',
      text: `
        select bank_id as id, name, logo_url as "logoUrl", api_version as "apiVersion" from banks b
        where b.status = 'active'
          and not exists (select from merchant_excluded_banks e where e.merchant_id = $1 and e.bank_id = b.bank_id)
        order by name collate "C", bank_id`,
    },
    [merchantId],
  )
}

/** The author of a campaign. @returns null when the campaign is unknown */
export async function findAuthor(
  database: Queryable,
  cashbackId: string,
): Promise<{ merchantId: string; createdByBankId: string | null } | null> {
  const [author] = await database.query<{ merchantId: string; createdByBankId: string | null }>(
    `select merchant_id as "merchantId", created_by_bank_id as "createdByBankId" from campaigns where cashback_id = $1`,
    [cashbackId],
  )
  return author ?? null
}

const insertStatement: Statement = {
  name: 'campaigns.insert',
  text: `
    insert into campaigns (
      cashback_id, merchant_id, created_by_bank_id, created_at, updated_at, status,
      name, description, participation_terms, banner_small, banner_big, sku, category_id, all_products, purchase_online,
      purchase_offline, date_from, date_to, min_amount, max_amount, max_budget, percentage, merchant_compensation_percentage,
      merchant_category_code, country_id, payment_systems_id, terminals_platform, terminals_count, card, terminals)
    values ($1, $2, $3, $4, $4, 'awaitingBankApproval',
      $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, ${givenText('$28', '$29')})`,
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
  await withGivenText(transaction, terms.terminals.text, input =>
    transaction.execute(insertStatement, [...values, ...input]),
  )
}

const updateStatement: Statement = {
  name: 'campaigns.update',
  text: `
    with list_changed as (
      insert into merchant_lists (merchant_id, arranged, touched) select merchant_id, 1, 1 from campaigns where cashback_id = $1
      on conflict (merchant_id) do update set arranged = merchant_lists.arranged + 1
    ), copies_changed as (
      update campaign_banks set date_from = $12, date_to = $13, name = $2, percentage = $17
      where cashback_id = $1 and (date_from, date_to, name, percentage) is distinct from ($12, $13, $2, $17)
    )
    update campaigns set
      name = $2, description = $3, participation_terms = $4, banner_small = $5, banner_big = $6, sku = $7, category_id = $8,
      all_products = $9, purchase_online = $10, purchase_offline = $11, date_from = $12, date_to = $13, min_amount = $14,
      max_amount = $15, max_budget = $16, percentage = $17, merchant_compensation_percentage = $18, merchant_category_code = $19,
      country_id = $20, payment_systems_id = $21, terminals_platform = $22,
      terminals_count = $23, card = $24, terminals = coalesce(${givenText('$25', '$26')}, terminals)
    where cashback_id = $1`,
}

/**
 * Writes new terms to a campaign that the transaction has locked. The merchant's list may be sorted by these terms, so
 * this counts a change of its order. Banks' lists are sorted by copies of some terms in `campaign_banks`, so the copies
 * are updated, too. `writeDecisions` raises the campaign's version.
 *
 * @param terminals null: the stored terminals stay
 */
export async function updateTerms(
  transaction: Queryable,
  origin: Origin,
  terms: Terms,
  countryId: string,
  terminals: GivenText,
): Promise<void> {
  const card = cardText(origin, terms, countryId)
  await transaction.execute(updateStatement, [origin.cashbackId, ...termsValues(terms, countryId), card, ...terminals])
}

/**
 * The values in the order of the columns from `name` to `terminals_count`. Terminals are passed separately, because
 * they may be long.
 */
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
    terms.terminals.count,
  ]
}

const findStatement: Statement = {
  name: 'campaigns.find-terms',
  text: `
    select c.name, description, participation_terms as "participationTerms", banner_small as "bannerSmall",
      banner_big as "bannerBig", sku, category_id as "categoryId", all_products as "allProducts",
      purchase_online as "purchaseOnline", purchase_offline as "purchaseOffline", date_from as "dateFrom", date_to as "dateTo",
      min_amount::text as "minAmount", max_amount::text as "maxAmount", max_budget::text as "maxBudget",
      percentage::text, merchant_compensation_percentage::text as "merchantCompensationPercentage",
      merchant_category_code as "merchantCategoryCode", k.code as "countryCode", payment_systems_id as "paymentSystemsId",
      terminals_platform as "terminalsPlatform", json_build_object('count', terminals_count, 'text', null, 'unfit', json_build_array()) as terminals
    from campaigns c join countries k using (country_id) where cashback_id = $1`,
}

/** The terms of an existing campaign. */
export async function findTerms(transaction: Queryable, cashbackId: string): Promise<Terms> {
  const [terms] = await transaction.query<Terms>(findStatement, [cashbackId])
  if (!terms) throw new Error('The campaign was not locked')
  const plain = (amount: string) => String(Number(amount))
  return {
    ...terms,
    // PostgreSQL returns amounts with zeros at the end. Remove them, so that stored amounts can be compared with those
    // of a request.
    minAmount: plain(terms.minAmount),
    maxAmount: plain(terms.maxAmount),
    maxBudget: terms.maxBudget === null ? null : plain(terms.maxBudget),
    percentage: plain(terms.percentage),
    merchantCompensationPercentage: plain(terms.merchantCompensationPercentage),
  }
}
