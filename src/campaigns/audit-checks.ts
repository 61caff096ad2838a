/** What must hold of all campaigns, their banks, history, reports and segments, each as a query that finds what breaks it. */
import { type Check, listed } from '../db/check.ts'
import { shownInstant } from '../db/instants.ts'
import {
  bankReportingStatus,
  bankStatuses,
  campaignStatuses,
  isSettled,
  moves,
  type ReportingStage,
  reportingStages,
} from './lifecycle.ts'

const between = (first: (typeof campaignStatuses)[number], last: (typeof campaignStatuses)[number]): string =>
  listed(campaignStatuses.slice(campaignStatuses.indexOf(first), campaignStatuses.indexOf(last) + 1))

/** In these a bank has agreed, and nobody is waited for. */
const launched = between('approved', 'completed')
const afterPeriod = between('awaitingCompensationConfirmation', 'completed')
const settled = between('awaitingCompensationPayment', 'completed')

const literal = (word: string | null): string => (word === null ? 'null' : `'${word}'`)
const movesTable = `(values ${moves
  .map(({ subject, from, trigger, to }) => `(${[subject, from, trigger, to].map(literal).join(', ')})`)
  .join(', ')}) as moves (subject, from_state, trigger, to_state)`

const ofBank = `'campaign ' || cashback_id || ', bank ' || bank_id || `

/** The last entry of each subject beside its present state; either may be missing. `bank` is empty for the campaign itself. */
const ends = `
  select cashback_id, subject, bank, to_state, state
  from (
    select distinct on (cashback_id, subject, bank_id) cashback_id, subject, coalesce(bank_id::text, '') as bank, to_state
    from campaign_history order by cashback_id, subject, bank_id, history_id desc
  ) as last
  full join (
    select cashback_id, 'campaign' as subject, '' as bank, status as state from campaigns
    union all
    select cashback_id, 'bank', bank_id::text, status from campaign_banks
    union all
    select cashback_id, 'reporting', bank_id::text, reporting_stage from campaign_banks where reporting_stage is not null
  ) as present using (cashback_id, subject, bank)`

/** SQL of the JSON text that tells a fact of the contract about the reporting stage, as the lifecycle knows it. */
const ofStage = (tell: (stage: ReportingStage | null) => unknown): string =>
  `case reporting_stage ${reportingStages.map(stage => `when '${stage}' then '${JSON.stringify(tell(stage))}'`).join(' ')}
    else '${JSON.stringify(tell(null))}' end`

/** What the database makes of the columns by itself (`migrations/0011_stored_states.sql`). */
const standing = `',"status":"' || status || '","updatedAt":"' || ${shownInstant('updated_at')} || '"'`
const participation = `
  ',"banks":[{"id":"' || bank_id || '","status":"' || status || '","settlementConfirmed":' || ${ofStage(isSettled)}
    || ',"bankReportingStatus":' || ${ofStage(bankReportingStatus)}
    || ',"hasBankReport":' || (bank_report_uploads > 0) || ',"hasSecondBankReport":' || (bank_report_uploads > 1)
    || ',"merchantReportUploadsCount":' || merchant_report_uploads
    || '}],"expectedCompensation":' || coalesce(trim_scale(expected_compensation)::text, 'null')`

/**
 * What the checks of campaigns call; it goes with the connection. Readers get stored texts as they are: one that cannot be read at all
 * has to be named like every other fault, and must not break the audit off.
 */
export const campaignCheckFunctions = `
  create function pg_temp.json_of(stored text) returns jsonb language plpgsql as
    $$ begin return stored::jsonb; exception when data_exception then return null; end $$;
  create function pg_temp.json_list_length(stored text) returns int language plpgsql as
    $$ begin return json_array_length(stored::json); exception when data_exception then return null; end $$`

export const campaignChecks: readonly Check[] = [
  {
    code: 'campaign-states',
    name: 'no state of a campaign is outside the tables',
    holds: 'campaigns, their banks and their reporting are in states that the rules know',
    faults: `
      select 'campaign ' || cashback_id || ' has the status ' || status as fault
      from campaigns where status not in (${listed(campaignStatuses)})
      union all
      select ${ofBank} ' has the status ' || status from campaign_banks where status not in (${listed(bankStatuses)})
      union all
      select ${ofBank} ' has the reporting stage ' || reporting_stage
      from campaign_banks where reporting_stage not in (${listed(reportingStages)})`,
  },
  {
    code: 'launched-campaigns',
    name: 'every launched campaign has an approved bank and no pending one',
    holds: 'nobody offers what no bank has agreed to',
    faults: `
      select 'campaign ' || cashback_id || ' is ' || status || ' with ' || approved || ' approved and ' || pending || ' pending banks'
        as fault
      from campaigns cross join lateral (
        select count(*) filter (where b.status = 'approved') as approved, count(*) filter (where b.status = 'pending') as pending
        from campaign_banks b where b.cashback_id = campaigns.cashback_id
      ) as banks
      where status in (${launched}) and (approved = 0 or pending > 0)`,
  },
  {
    code: 'bank-parts',
    name: 'every bank’s part fits its campaign',
    holds: 'reporting begins with the end of the period, for approved banks, and is settled before anything is paid',
    faults: `
      select ${ofBank} case
        when b.created_at <> c.created_at then ' is listed at another time than the campaign was created'
        when (b.reporting_stage is not null) <> (b.status = 'approved' and c.status in (${afterPeriod}))
          then ' is ' || b.status || ' at ' || coalesce(b.reporting_stage, 'no reporting stage') || ' while the campaign is ' || c.status
        else ' is at ' || b.reporting_stage || ' while the campaign is ' || c.status end as fault
      from campaign_banks b join campaigns c using (cashback_id)
      where b.created_at <> c.created_at
        or (b.reporting_stage is not null) <> (b.status = 'approved' and c.status in (${afterPeriod}))
        or (c.status in (${settled}) and b.reporting_stage not in ('settled', 'acknowledged'))`,
  },
  {
    code: 'history-moves',
    name: 'history holds only moves of the tables',
    holds: 'each entry is one of the moves that the rules know, or an edit or a segment, which move nothing',
    faults: `
      select 'entry ' || history_id || ' of campaign ' || cashback_id || ' moves a ' || subject || ' from ' ||
        coalesce(from_state, 'nothing') || ' by ' || trigger || ' to ' || coalesce(to_state, 'nothing') as fault
      from campaign_history h
      where not (
        changes is not null and from_state is not distinct from to_state
        and (subject, trigger) in (('campaign', 'edit'), ('bank', 'segment'))
      ) and not exists (
        select from ${movesTable}
        where moves.subject = h.subject and moves.trigger = h.trigger and moves.from_state is not distinct from h.from_state
          and moves.to_state is not distinct from h.to_state)`,
  },
  {
    code: 'history-gaps',
    name: 'history has no gaps',
    holds: 'each entry begins where the one before it ended',
    faults: `
      select 'entry ' || history_id || ' of campaign ' || cashback_id || ' moves a ' || subject || ' from ' ||
        coalesce(from_state, 'nothing') || ', which was ' || coalesce(before, 'nothing') as fault
      from (
        select *, lag(to_state) over (partition by cashback_id, subject, bank_id order by history_id) as before from campaign_history
      ) as entries
      where from_state is distinct from before`,
  },
  {
    code: 'history-present',
    name: 'history leads to the present states',
    holds: 'the last entry of each campaign, bank and reporting is its state',
    faults: `
      select 'campaign ' || cashback_id || case bank when '' then '' else ', bank ' || bank end || ': ' || subject || ' is ' ||
        coalesce(state, 'nothing') || ', by its history ' || coalesce(to_state, 'nothing') as fault
      from (${ends}) as ends
      where state is distinct from to_state`,
  },
  {
    code: 'report-counts',
    name: 'reports are counted as they are kept',
    holds: 'each bank has as many reports of each side as its part says, numbered from 1',
    faults: `
      select ${ofBank} ' counts ' || told || ' reports of the ' || side || ', of which ' || kept || ' are kept, the last number ' || last
        as fault
      from campaign_banks
      cross join lateral (values ('bank', bank_report_uploads), ('merchant', merchant_report_uploads)) as counts (side, told)
      cross join lateral (
        select count(*) as kept, coalesce(max(version), 0) as last from reports r
        where r.cashback_id = campaign_banks.cashback_id and r.bank_id = campaign_banks.bank_id and r.side = counts.side
      ) as reports
      where told <> kept or told <> last`,
  },
  {
    code: 'campaign-texts',
    name: 'what readers get of a campaign agrees with its columns',
    holds: 'card, terminals, states and each bank’s part are as the columns say',
    faults: `
      select 'campaign ' || cashback_id || ' shows ' || case when j is null then 'a card that is no JSON' else 'another ' || shown end as fault
      from campaigns cross join lateral (select pg_temp.json_of(card || '}') as j offset 0) as card
      cross join lateral (values
        ('cashbackId', j->>'cashbackId' = cashback_id::text), ('retailerId', j->>'retailerId' = merchant_id::text),
        ('createdByBankId', j->>'createdByBankId' is not distinct from created_by_bank_id::text),
        ('name', j->>'name' = name), ('dateFrom', j->>'dateFrom' = ${shownInstant('date_from')}), ('dateTo', j->>'dateTo' = ${shownInstant('date_to')}),
        ('percentage', j->'percentage' = to_jsonb(percentage)), ('minAmount', j->'minAmount' = to_jsonb(min_amount)),
        ('maxAmount', j->'maxAmount' = to_jsonb(max_amount)),
        ('maxBudget', j->'maxBudget' = coalesce(to_jsonb(max_budget), 'null')),
        ('merchantCompensationPercentage', j->'merchantCompensationPercentage' = to_jsonb(merchant_compensation_percentage)),
        ('createdAt', j->>'createdAt' = ${shownInstant('created_at')})
      ) as fields (shown, agrees)
      where agrees is not true and (j is not null or shown = 'cashbackId')
      union all
      select 'campaign ' || cashback_id || ' shows another number of terminals' from campaigns
      where pg_temp.json_list_length(terminals) is distinct from terminals_count
      union all
      select 'campaign ' || cashback_id || ' shows another status or updatedAt' from campaigns
      where standing is distinct from ${standing}
      union all
      select ${ofBank} ' is shown with another part' from campaign_banks
      where participation is distinct from ${participation}`,
  },
  {
    code: 'segment-counts',
    name: 'every segment has as many customers as it says',
    holds: 'counts and lists agree, and every customer belongs to a bank that exists',
    faults: `
      select ${ofBank} ' has ' || customers_count || ' customers in its segment, but ' ||
        coalesce(pg_temp.json_list_length(customer_ids)::text, 'no list of them') || ' are listed' as fault
      from campaign_segments where pg_temp.json_list_length(customer_ids) is distinct from customers_count
      union all
      select 'customers belong to the bank ' || bank_id || ', which does not exist'
      from (select distinct bank_id from customers) as owners where bank_id not in (select bank_id from banks)`,
  },
]
