/**
 * The statements with which the audit checks campaigns. Each one checks the campaigns in a range of ids, with their
 * banks, history or reports, or the segments in a range.
 */
import { checkAtOnce, listed, type Read, type Step, type Walk, type Within, walkOver } from '../../db/check.ts'
import { shownInstant } from '../../db/instants.ts'
import { bankReportingStatus, isSettled } from './lifecycle.ts'
import { bankStatuses, campaignStatuses, type ReportingStage, reportingStages, transitions } from './transitions.ts'

const between = (first: (typeof campaignStatuses)[number], last: (typeof campaignStatuses)[number]): string =>
  listed(campaignStatuses.slice(campaignStatuses.indexOf(first), campaignStatuses.indexOf(last) + 1))

/** The statuses of launched campaigns. None of their banks is pending. */
const launched = between('approved', 'completed')
const afterPeriod = between('awaitingCompensationConfirmation', 'completed')
const settled = between('awaitingCompensationPayment', 'completed')

/**
 * SQL for a text that identifies a transition. PostgreSQL can look up a single text in the list of transitions by hash.
 */
const transitionText = (subject: string, trigger: string, from: string, to: string): string =>
  `(${subject} || ' ' || ${trigger} || ' ' || coalesce(${from}, '') || '>' || coalesce(${to}, ''))`
const knownTransitions = `array[${listed(
  transitions.map(({ subject, from, trigger, to }) => `${subject} ${trigger} ${from ?? ''}>${to ?? ''}`),
)}]`

/** SQL that gives the JSON text of a contract field for each reporting stage. The texts come from the lifecycle. */
const ofStage = (fieldOf: (stage: ReportingStage | null) => unknown): string =>
  `case reporting_stage ${reportingStages.map(stage => `when '${stage}' then '${JSON.stringify(fieldOf(stage))}'`).join(' ')}
    else '${JSON.stringify(fieldOf(null))}' end`

/**
 * SQL that computes the generated columns `standing` and `participation` again, to compare them with what is stored
 * (`migrations/0011_stored_states.sql`).
 */
const standing = `',"status":"' || c.status || '","updatedAt":"' || ${shownInstant('updated_at')} || '"'`
const participation = `
  ',"banks":[{"id":"' || b.bank_id || '","status":"' || b.status || '","settlementConfirmed":' || ${ofStage(isSettled)}
    || ',"bankReportingStatus":' || ${ofStage(bankReportingStatus)}
    || ',"hasBankReport":' || (bank_report_uploads > 0) || ',"hasSecondBankReport":' || (bank_report_uploads > 1)
    || ',"merchantReportUploadsCount":' || merchant_report_uploads
    || '}],"expectedCompensation":' || coalesce(trim_scale(expected_compensation)::text, 'null')`

/**
 * Functions that the checks call; they are temporary for the connection. They return null for a stored text that is no
 * JSON. So the audit reports such a text as a finding and does not stop with an error.
 */
export const campaignCheckFunctions = [
  `create function pg_temp.json_of(stored text) returns jsonb language plpgsql as
     $$ begin return stored::jsonb; exception when data_exception then return null; end $$`,
  `create function pg_temp.json_list_length(stored text) returns int language plpgsql as
     $$ begin return json_array_length(stored::json); exception when data_exception then return null; end $$`,
]

/**
 * The maximum size of the segments that the check reads at once. A larger segment is checked alone. One of a million
 * customers has some 40 MB.
 */
const segmentBytesAtOnce = 32 * 1024 * 1024

/**
 * The steps that check campaigns with all their data, and customers.
 *
 * @param more further statements over the same ranges of campaigns
 */
export const campaignSteps = (more: (within: Within) => readonly Read[]): Step[] => [
  walkOver({
    name: 'campaigns',
    table: 'campaigns',
    key: [['cashback_id', 'uuid']],
    rows: 200,
    reads: within => [campaigns(within), parts(within), history(within), ...more(within)],
  }),
  walkOver({
    name: 'segments',
    table: 'campaign_segments',
    key: [
      ['cashback_id', 'uuid'],
      ['bank_id', 'uuid'],
    ],
    rows: 200,
    weight: { of: 'octet_length(customer_ids)', max: segmentBytesAtOnce },
    reads: within => [segments(within)],
  }),
  walkOver({
    name: 'merchant-terminals',
    table: 'merchant_terminal_lists',
    key: [['merchant_id', 'uuid']],
    rows: 20,
    reads: within => [merchantTerminals(within)],
  }),
  walkOver(countsOf('bank')),
  walkOver(countsOf('merchant')),
  checkAtOnce({ name: 'customers', table: 'customers', read: customers }),
]

/** For each field of the stored JSON text `card`: SQL for whether it equals its column. `j` is the parsed text. */
const cardFields = {
  cashbackId: `j->>'cashbackId' = cashback_id::text`,
  retailerId: `j->>'retailerId' = merchant_id::text`,
  createdByBankId: `j->>'createdByBankId' is not distinct from created_by_bank_id::text`,
  name: `j->>'name' = name`,
  dateFrom: `j->>'dateFrom' = ${shownInstant('date_from')}`,
  dateTo: `j->>'dateTo' = ${shownInstant('date_to')}`,
  percentage: `j->'percentage' = to_jsonb(percentage)`,
  minAmount: `j->'minAmount' = to_jsonb(min_amount)`,
  maxAmount: `j->'maxAmount' = to_jsonb(max_amount)`,
  maxBudget: `j->'maxBudget' = coalesce(to_jsonb(max_budget), 'null')`,
  merchantCompensationPercentage: `j->'merchantCompensationPercentage' = to_jsonb(merchant_compensation_percentage)`,
  createdAt: `j->>'createdAt' = ${shownInstant('created_at')}`,
}
const fieldsAgree = Object.values(cardFields)
  .map(agrees => `(${agrees})`)
  .join(' and ')
const otherFields = Object.entries(cardFields).map(
  ([name, agrees]) => `case when (${agrees}) is not true then '${name}' end`,
)

/** SQL for whether the merchant can probably act now. The same rule is in `kept-for-lists.ts`. */
const isMerchantsTurn = `(case
  when status = 'awaitingCompensationPayment' then true
  when status in ('awaitingBankApproval', 'awaitingMerchantApproval') then created_by_bank_id is null and coalesce(approved, 0) > 0
  else status = 'awaitingCompensationConfirmation' and coalesce(reported, false) end)`

const campaigns = (within: Within): Read => ({
  of: 'campaigns',
  from: `campaigns c
    cross join lateral (select pg_temp.json_of(card || '}') as j offset 0) as card
    left join (
      select cashback_id, count(*) filter (where status = 'approved') as approved, count(*) filter (where status = 'pending') as pending,
        bool_or(reporting_stage in ('awaitingMerchantReconciliationConfirmation', 'awaitingCompensationConfirmation')) as reported
      from campaign_banks where ${within('cashback_id')} group by cashback_id
    ) as banks using (cashback_id)
    where ${within('c.cashback_id')}`,
  rules: [
    {
      code: 'campaign-states',
      broken: `status not in (${listed(campaignStatuses)})`,
      text: `'campaign ' || cashback_id || ' has the status ' || status`,
    },
    {
      code: 'launched-campaigns',
      broken: `status in (${launched}) and (coalesce(approved, 0) = 0 or pending > 0)`,
      text: `'campaign ' || cashback_id || ' is ' || status || ' with ' || coalesce(approved, 0) || ' approved and ' ||
        coalesce(pending, 0) || ' pending banks'`,
    },
    {
      code: 'campaign-turns',
      broken: `awaits_merchant <> ${isMerchantsTurn}`,
      text: `'campaign ' || cashback_id || ' is ' || status || ' and ' || case when awaits_merchant then 'awaits' else 'does not await' end ||
        ' its merchant'`,
    },
    {
      code: 'campaign-texts',
      broken: `(${fieldsAgree}) is not true`,
      text: `'campaign ' || cashback_id || ' shows ' || case when j is null then 'a card that is no JSON'
        else 'another ' || concat_ws(', another ', ${otherFields}) end`,
    },
    {
      code: 'campaign-texts',
      broken: 'pg_temp.json_list_length(terminals) is distinct from terminals_count',
      text: `'campaign ' || cashback_id || ' shows another number of terminals'`,
    },
    {
      code: 'campaign-texts',
      broken: `standing is distinct from ${standing}`,
      text: `'campaign ' || cashback_id || ' shows another status or updatedAt'`,
    },
  ],
})

const ofBank = `'campaign ' || b.cashback_id || ', bank ' || b.bank_id || `
const stageFits = `(b.reporting_stage is not null) = (b.status = 'approved' and c.status in (${afterPeriod}))`

const parts = (within: Within): Read => ({
  of: 'campaign_banks',
  from: `campaign_banks b
    left join (select cashback_id, status, created_at, date_from, date_to, name, percentage from campaigns where ${within('cashback_id')}) c using (cashback_id)
    left join (
      select cashback_id, bank_id, count(*) filter (where side = 'bank') as of_bank, count(*) filter (where side = 'merchant') as of_merchant,
        max(version) filter (where side = 'bank') as last_of_bank, max(version) filter (where side = 'merchant') as last_of_merchant
      from reports where ${within('cashback_id')} group by cashback_id, bank_id
    ) r using (cashback_id, bank_id)
    where ${within('b.cashback_id')}`,
  rules: [
    {
      code: 'campaign-states',
      broken: `b.status not in (${listed(bankStatuses)})`,
      text: `${ofBank} ' has the status ' || b.status`,
    },
    {
      code: 'campaign-states',
      broken: `reporting_stage not in (${listed(reportingStages)})`,
      text: `${ofBank} ' has the reporting stage ' || reporting_stage`,
    },
    {
      code: 'bank-parts',
      broken: `b.created_at <> c.created_at or campaign_status <> c.status
        or (b.date_from, b.date_to, b.name, b.percentage) is distinct from (c.date_from, c.date_to, c.name, c.percentage) or not (${stageFits})
        or (c.status in (${settled}) and reporting_stage not in ('settled', 'acknowledged'))`,
      text: `${ofBank} case
        when b.created_at <> c.created_at then ' is listed at another time than the campaign was created'
        when campaign_status <> c.status then ' is listed with a campaign that is ' || campaign_status
        when b.date_from is distinct from c.date_from then ' is listed with another beginning of the period'
        when b.date_to <> c.date_to then ' is listed with another end of the period'
        when b.name is distinct from c.name then ' is listed with another name'
        when b.percentage is distinct from c.percentage then ' is listed with another percentage'
        when not (${stageFits})
          then ' is ' || b.status || ' at ' || coalesce(reporting_stage, 'no reporting stage') || ' while the campaign is ' || c.status
        else ' is at ' || reporting_stage || ' while the campaign is ' || c.status end`,
    },
    reportCount('bank', 'bank_report_uploads', 'of_bank'),
    reportCount('merchant', 'merchant_report_uploads', 'of_merchant'),
    {
      code: 'campaign-texts',
      broken: `participation is distinct from ${participation}`,
      text: `${ofBank} ' is shown with another part'`,
    },
  ],
})

/**
 * Checks how many reports of a side (bank or merchant) are counted. Reports are numbered from 1, so the count must
 * equal the number of stored reports and the last number.
 */
function reportCount(side: string, counted: string, kept: string) {
  return {
    code: 'report-counts',
    broken: `${counted} <> coalesce(${kept}, 0) or ${counted} <> coalesce(last_${kept}, 0)`,
    text: `${ofBank} ' counts ' || ${counted} || ' reports of the ${side}, of which ' || coalesce(${kept}, 0) ||
      ' are kept, the last number ' || coalesce(last_${kept}, 0)`,
  }
}

const moved = (from: string) =>
  `'entry ' || history_id || ' of campaign ' || cashback_id || ' moves a ' || subject || ' from ' || coalesce(from_state, 'nothing') ||
    ${from}`

/**
 * Takes the place of a bank's id in rows about the campaign itself. It is a uuid, because uuids sort faster than texts.
 */
const noBank = `'00000000-0000-0000-0000-000000000000'::uuid`

/**
 * Compares each entry of the history with the entry before it, for a campaign and for each bank's part. The present
 * state is added as a last entry, so the same comparison shows whether the history leads to it. All rules use one sort
 * of the entries; a join for each entry would take twice as long.
 */
const history = (within: Within): Read => ({
  of: 'campaign_history',
  from: `(
      select *, lag(to_state) over entries as before, lead(0) over entries is null and history_id is not null as is_last
      from (
        select cashback_id, coalesce(bank_id, ${noBank}) as bank, subject collate "C" as subject, trigger, from_state, to_state, history_id,
          changes is not null as has_changes
        from campaign_history where ${within('cashback_id')}
        union all
        select cashback_id, ${noBank}, 'campaign', null, status, null, null, false from campaigns where ${within('cashback_id')}
        union all
        select cashback_id, bank_id, 'bank', null, status, null, null, false from campaign_banks where ${within('cashback_id')}
        union all
        select cashback_id, bank_id, 'reporting', null, reporting_stage, null, null, false from campaign_banks
        where reporting_stage is not null and ${within('cashback_id')}
      ) as states
      window entries as (partition by cashback_id, bank, subject order by history_id nulls last)
    ) as h`,
  rules: [
    {
      code: 'history-moves',
      broken: `history_id is not null and ${transitionText('subject', 'trigger', 'from_state', 'to_state')} <> all (${knownTransitions}) and not (
        has_changes and from_state is not distinct from to_state
        and (subject, trigger) in (('campaign', 'edit'), ('bank', 'segment'), ('campaign', 'segment')))`,
      text: moved(`' by ' || trigger || ' to ' || coalesce(to_state, 'nothing')`),
    },
    {
      code: 'history-gaps',
      broken: 'history_id is not null and from_state is distinct from before',
      text: moved(`', which was ' || coalesce(before, 'nothing')`),
    },
    {
      code: 'history-present',
      broken: '(history_id is null and from_state is distinct from before) or (is_last and to_state is not null)',
      text: `'campaign ' || cashback_id || case bank when ${noBank} then '' else ', bank ' || bank end || ': ' || subject || ' is ' ||
        case when is_last then 'nothing, by its history ' || to_state
        else from_state || ', by its history ' || coalesce(before, 'nothing') end`,
    },
  ],
})

const segments = (within: Within): Read => ({
  of: 'campaign_segments',
  from: `campaign_segments b
    cross join lateral (select pg_temp.json_list_length(customer_ids) as listed offset 0) as list
    where ${within('cashback_id', 'bank_id')}`,
  rules: [
    {
      code: 'segment-counts',
      broken: 'listed is distinct from customers_count',
      text: `${ofBank} ' has ' || customers_count || ' customers in its segment, but ' ||
        coalesce(listed::text, 'no list of them') || ' are listed'`,
    },
  ],
})

const merchantTerminals = (within: Within): Read => ({
  of: 'merchant_terminal_lists',
  from: `merchant_terminal_lists where ${within('merchant_id')}`,
  rules: [
    {
      code: 'campaign-texts',
      broken: 'pg_temp.json_list_length(terminals) is distinct from terminals_count',
      text: `'merchant ' || merchant_id || ' shows another number of terminals'`,
    },
  ],
})

/**
 * Checks the stored number of campaigns in each status, for a bank or a merchant. One statement reads these numbers and
 * counts the campaigns, so no change can come between.
 */
function countsOf(party: 'bank' | 'merchant'): Walk {
  const [table, key] = [`${party}s`, `${party}_id`]
  const [kept, bankStatus] = party === 'bank' ? ['campaign_banks', 'status'] : ['campaigns', `''`]
  return {
    name: `${party}-counts`,
    table,
    key: [[key, 'uuid']],
    rows: 1,
    reads: within => [
      {
        of: table,
        from: `(
            select party_id, campaign_status, bank_status, campaigns as stated from campaign_counts
            where (bank_status <> '') = ${party === 'bank'} and ${within('party_id')}
          ) as counted full join (
            select ${key} as party_id, ${party === 'bank' ? 'campaign_status' : 'status as campaign_status'}, ${bankStatus} as bank_status,
              count(*) as kept from ${kept} where ${within(key)} group by 1, 2, 3
          ) as present using (party_id, campaign_status, bank_status)`,
        rules: [
          {
            code: 'campaign-counts',
            broken: 'coalesce(stated, 0) <> coalesce(kept, 0)',
            text: `'${party} ' || party_id || ' has ' || coalesce(kept, 0) || ' campaigns that are ' || campaign_status ||
              case bank_status when '' then '' else ' and ' || bank_status end || ', but ' || coalesce(stated, 0) || ' are counted'`,
          },
        ],
      },
    ],
  }
}

/**
 * Checks the stored number of each bank's customers. One statement reads all numbers and counts all customers, so no
 * import can come between.
 */
const customers: Read = {
  of: 'customers',
  from: `(select bank_id, count(*) as kept from customers group by bank_id) as present
    full join (select bank_id, customers as stated from customer_counts) as counted using (bank_id) left join banks b using (bank_id)`,
  rules: [
    {
      code: 'segment-counts',
      broken: 'kept > 0 and b.bank_id is null',
      text: `'customers belong to the bank ' || bank_id || ', which does not exist'`,
    },
    {
      code: 'segment-counts',
      broken: 'coalesce(stated, 0) <> coalesce(kept, 0)',
      text: `'bank ' || bank_id || ' has ' || coalesce(kept, 0) || ' customers, but ' || coalesce(stated, 0) || ' are counted'`,
    },
  ],
}
