/** Fills the tables with campaigns of all statuses, with their banks and their history. */
import { cardText } from '../../src/campaigns/form/terms.ts'
import { makeModels, modelNumbers } from './campaign-models.ts'
import { bankId, countryId, followOn, merchantId, paymentSystemId } from './directory.ts'
import { type Connect, inLanes, ranges } from './loading.ts'
import { banks, campaignsOfSmall, campaignsOfSteady, merchants, merchantsIn, type Sizes } from './sizes.ts'

const campaignsAtOnce = 5_000
/** How many numbers are reserved for each campaign's history. No campaign has so many steps. */
const historyOfCampaign = 200

export async function makeCampaigns(connect: Connect, sizes: Sizes, now: Date): Promise<void> {
  await inLanes(connect, [
    async client => {
      for (const statement of models) await client.query(statement)
      const found = makeModels()
      await client.query(fillModels, [JSON.stringify(found)])
      await client.query(numberCampaigns(sizes), [now])
    },
  ])
  const inserts = [insertCampaigns, insertHistory(sizes), insertBanks(sizes)]
  await inLanes(
    connect,
    ranges(sizes.campaigns, campaignsAtOnce).flatMap(({ from, to }) =>
      inserts.map(
        ([text = '', ...values]) =>
          client =>
            client.query(text, [from, to, ...values]),
      ),
    ),
  )
  await inLanes(connect, [
    async client => {
      for (const statement of finish) await client.query(statement)
    },
  ])
}

const models = [
  'create schema scale',
  'create table scale.models (model int, status text, age text, version int)',
  'create table scale.steps (model int, n int, subject text, slot int, trigger text, "from" text, "to" text, version int, instant text)',
  'create table scale.banks (model int, slot int, status text, stage text, version int)',
]

const fillModels = `
  with given as (select n::int - 1 as model, item from jsonb_array_elements($1::jsonb) with ordinality as g (item, n)),
  filled as (
    insert into scale.models select model, item->>'status', item->>'age', (item->>'version')::int from given
  ), stepped as (
    insert into scale.steps
    select model, s.* from given, jsonb_to_recordset(item->'steps')
      as s (n int, subject text, slot int, trigger text, "from" text, "to" text, version int, instant text)
  )
  insert into scale.banks
  select model, b.* from given, jsonb_to_recordset(item->'banks') as b (slot int, status text, stage text, version int)`

/**
 * SQL that makes the table `scale.campaigns`, from which the tables of campaigns are filled. Campaigns before their period
 * start in more than a month, active ones started some days ago, and the others ended two months to two years ago.
 */
const numberCampaigns = (sizes: Sizes): string => `
  create table scale.campaigns as
  select n, md5('campaign' || n)::uuid as cashback_id, ${merchantOf(sizes)} as merchant_id, model, status, version,
    at as created, from_at as "from", to_at as "to",
    case when status = 'compensationReceived' then date_trunc('day', $1::timestamptz) - (1 + n % 20) * interval '1 day'
      else to_at + interval '10 days' end as received
  from (
    select *, case age when 'before' then at + interval '60 days' else at + interval '30 days' end as from_at,
      case age when 'before' then at + interval '90 days' when 'within' then at + interval '90 days' else at + interval '60 days' end as to_at
    from (
      select n, m.*, date_trunc('milliseconds', $1::timestamptz) - case age
        when 'before' then interval '1 day' + interval '24 days' * (n::float8 / ${sizes.campaigns})
        when 'within' then interval '40 days' + interval '20 days' * (n::float8 / ${sizes.campaigns})
        else interval '120 days' + interval '600 days' * (n::float8 / ${sizes.campaigns}) end as exactly
      from generate_series(1, ${sizes.campaigns}) n
      join scale.models m on m.model = ('{${modelNumbers}}'::int[])[1 + (hashint4(n) & 2147483647) % ${modelNumbers.length}]
    ) aged cross join lateral (select date_trunc('milliseconds', exactly) as at) truncated
  ) dated order by n`

const merchantOf = (sizes: Sizes): string =>
  merchantId(`case when n <= ${campaignsOfSmall} then ${merchants.small} when n % 10 = 0 then ${merchants.large}
    else 2 + n % ${merchantsIn(sizes) - 2} end`)

/** SQL of the instant of a step `s` of the campaign `c`. */
const instant = `date_trunc('milliseconds', case s.instant when 'created' then c.created when 'from' then c."from" when 'to' then c."to"
  when 'received' then c.received else c.received + interval '30 days' end + s.n * interval '1 minute')`

/**
 * The stored text of a campaign as a template for the function `format` of PostgreSQL. `cardText` makes it with values that
 * are easy to find, and these are then replaced by `%1$s` to `%8$s`.
 */
const card = cardText(
  { cashbackId: '{1}', merchantId: '{2}', createdByBankId: null, createdAt: new Date(1) },
  {
    name: '{3}',
    description: 'Cash back for a basket of what the season brings, at every till of the shop',
    participationTerms: null,
    bannerSmall: null,
    bannerBig: null,
    sku: ['all', '{4}'],
    categoryId: [],
    allProducts: false,
    purchaseOnline: true,
    purchaseOffline: true,
    dateFrom: new Date(2),
    dateTo: new Date(3),
    minAmount: '100',
    maxAmount: '5000',
    maxBudget: null,
    percentage: '77',
    merchantCompensationPercentage: '60',
    merchantCategoryCode: null,
    countryCode: 'UA',
    paymentSystemsId: [paymentSystemId],
    terminalsPlatform: true,
  },
  countryId,
)
  .replaceAll('%', '%%')
  .replaceAll(/\{(\d)\}/g, '%$1$$s')
  .replaceAll(new Date(1).toISOString(), '%5$s')
  .replaceAll(new Date(2).toISOString(), '%6$s')
  .replaceAll(new Date(3).toISOString(), '%7$s')
  .replaceAll('"percentage":77', '"percentage":%8$s')

const insertCampaigns = [
  `insert into campaigns (cashback_id, merchant_id, name, description, sku, category_id, all_products, purchase_online,
     purchase_offline, date_from, date_to, min_amount, max_amount, percentage, merchant_compensation_percentage, country_id,
     payment_systems_id, terminals_platform, terminals, terminals_count, card, status, version, created_at, updated_at,
     compensation_received_at, terms_version)
   select c.cashback_id, c.merchant_id, name, 'Cash back for a basket of what the season brings, at every till of the shop',
     array['all', sku], '{}', false, true, true, c."from", c."to", 100, 5000, 1 + c.n % 50, 60, '${countryId}',
     array['${paymentSystemId}'::uuid], true, '[]', 0,
     format($3, c.cashback_id, c.merchant_id, name, sku, instant_text(c.created), instant_text(c."from"), instant_text(c."to"),
       1 + c.n % 50),
     c.status, c.version, c.created, ${instant},
     case when c.status in ('compensationReceived', 'completed') then c.received end, 2
   from scale.campaigns c cross join lateral (select 'Осінь ' || c.n as name, 's' || c.n % 100 as sku) texts
   join scale.steps s on s.model = c.model and s.n = (select max(n) from scale.steps l where l.model = c.model)
   where c.n between $1 and $2`,
  card,
]

/** SQL expression for the id of the bank with the number `slot` in the campaign `c`. */
const bankOf = (sizes: Sizes): string => {
  const named = Object.keys(banks).length
  return bankId(`case when slot = 1 and c.n <= ${campaignsOfSteady} then ${banks.steady} when slot = 2 and c.n % 10 = 0 then ${banks.busy}
    else ${named} + (c.n * 7 + slot) % ${sizes.banks - named} end`)
}

const insertHistory = (sizes: Sizes) => [
  `insert into campaign_history (history_id, cashback_id, version, at, actor_type, subject, bank_id, trigger, from_state, to_state)
   overriding system value
   select c.n::bigint * ${historyOfCampaign} + s.n, c.cashback_id, s.version, ${instant},
     case when s.trigger in ('start', 'end', 'complete') then 'clock'
       when s.trigger in ('confirm', 'reject', 'upload-bank-report', 'acknowledge') then 'bank' else 'retailer' end,
     s.subject, case when slot is not null then ${bankOf(sizes)} end, s.trigger, s.from, s.to
   from scale.campaigns c join scale.steps s on s.model = c.model
   where c.n between $1 and $2 order by c.n, s.n`,
]

const insertBanks = (sizes: Sizes) => [
  `insert into campaign_banks (cashback_id, bank_id, status, reporting_stage, version, created_at)
   select c.cashback_id, ${bankOf(sizes)}, b.status, b.stage, b.version, c.created
   from scale.campaigns c join scale.banks b on b.model = c.model
   where c.n between $1 and $2 order by c.n, slot`,
]

const finish = [
  followOn('campaign_history', 'history_id'),
  'insert into bank_lists (bank_id, version) select bank_id, 1 from banks',
  'insert into merchant_lists (merchant_id, arranged, touched) select merchant_id, 1, 1 from merchants',
  'drop schema scale cascade',
]
