/**
 * The audit's check of the stored sums and counts of reports and of their comparison (contract/operations.md, "The
 * audit").
 */
import { type Check, listed, type Step, type Within, walkOver } from '../db/check.ts'
import { matchKinds, type Side, termKinds } from './differences.ts'

export const reportSumsCheck: Check = {
  code: 'report-sums',
  name: 'reports add up',
  holds: 'lines, amounts, differences and the expected compensation are what the kept lines add up to',
}

/** SQL for the lines of a report. */
const linesOf = (report: string): string => `
  select count(*) as lines, coalesce(sum(amount), 0) as amount, coalesce(sum(cashback_amount), 0) as cashback
  from report_lines where report_id = ${report} offset 0`

/** SQL for the cashback of a bank's report lines that break a term. */
const refusedOf = (report: string): string => `
  select coalesce(sum(cashback_amount), 0) as cashback from report_lines where report_id = ${report} and line in (
    select bank_line from report_differences where report_id = ${report} and kind in (${listed(termKinds)})
  ) offset 0`

/** SQL for the number of differences of each kind in some reports. */
const countsOf = (reports: string, kinds: readonly string[]): string => `
  select coalesce(jsonb_object_agg(kind, n), '{}') as counts from (
    select kind, count(*) as n from report_differences where report_id in (${reports}) and kind in (${listed(kinds)}) group by kind
  ) as counted offset 0`

const impliedCompensation = 'round((kept.cashback - refused.cashback) * c.merchant_compensation_percentage * 0.01, 2)'
const compensation = {
  code: reportSumsCheck.code,
  broken: `i.expected_compensation is distinct from ${impliedCompensation}`,
  text: `'campaign ' || r.cashback_id || ', bank ' || r.bank_id || ' expects a compensation of ' ||
    coalesce(i.expected_compensation::text, 'nothing') || ', but its report implies ' || coalesce(${impliedCompensation}::text, 'none')`,
}

/**
 * The latest report of one side, if its lines are still stored. The lines of earlier reports are removed at the next
 * upload. Rows of other tables are looked up one by one (`lateral`), because a join would read each whole table for
 * every range of campaigns.
 */
const reportsOf = (side: Side, within: Within) => ({
  of: 'report_lines',
  from: `reconciliations r
    cross join lateral (select * from reports where report_id = r.${side}_report_id offset 0) as p
    cross join lateral (${linesOf('p.report_id')}) as kept
    ${side === 'bank' ? `cross join lateral (${refusedOf('p.report_id')}) as refused` : ''}
    cross join lateral (${countsOf('p.report_id', termKinds)}) as found
    left join lateral (
      select expected_compensation from campaign_banks where (cashback_id, bank_id) = (r.cashback_id, r.bank_id) offset 0
    ) as i on true
    left join lateral (select merchant_compensation_percentage from campaigns where cashback_id = r.cashback_id offset 0) as c on true
    where ${within('r.cashback_id', 'r.bank_id')} and p.lines_removed_at is null`,
  rules: [
    {
      code: reportSumsCheck.code,
      broken: '(p.lines, p.total_amount, p.total_cashback) <> (kept.lines, kept.amount, kept.cashback)',
      text: `'report ' || p.report_id || ' states ' || p.lines || ' lines, ' || p.total_amount || ' and ' || p.total_cashback ||
        ' of cashback, but has ' || kept.lines || ' lines, ' || kept.amount || ' and ' || kept.cashback`,
    },
    {
      code: reportSumsCheck.code,
      broken: 'p.broken_terms <> found.counts',
      text: `'report ' || p.report_id || ' states other numbers of lines that break the terms than are listed'`,
    },
    ...(side === 'bank' ? [compensation] : []),
  ],
})

const countOf = (counts: string, kind: string): string => `coalesce((${counts}->>'${kind}')::bigint, 0)`
const matched = `(b.lines - ${countOf('b.broken_terms', 'repeated-transaction')} - ${countOf('found.counts', 'amount-differs')}
  - ${countOf('found.counts', 'only-in-bank-report')})`

/**
 * The comparison of two reports. A transaction is a difference if only one report has it, or if the amounts differ. All
 * other transactions match. Repeated lines of a transaction are not counted.
 */
const comparisons = (within: Within) => ({
  of: 'report_differences',
  from: `reconciliations r
    cross join lateral (select * from reports where report_id = r.bank_report_id offset 0) as b
    left join lateral (select * from reports where report_id = r.merchant_report_id offset 0) as m on true
    cross join lateral (${countsOf('r.bank_report_id, r.merchant_report_id', matchKinds)}) as found
    where ${within('r.cashback_id', 'r.bank_id')} and b.lines_removed_at is null and m.lines_removed_at is null`,
  rules: [
    {
      code: reportSumsCheck.code,
      broken: 'r.unmatched <> found.counts',
      text: `'campaign ' || r.cashback_id || ', bank ' || r.bank_id || ' states other numbers of differences between its reports than are listed'`,
    },
    {
      code: reportSumsCheck.code,
      broken: `r.matched <> ${matched}`,
      text: `'campaign ' || r.cashback_id || ', bank ' || r.bank_id || ' states ' || r.matched || ' matching transactions, but has ' || ${matched}`,
    },
  ],
})

/**
 * The maximum number of report lines that the check reads at once. A pair of reports with more lines is checked alone.
 */
const linesAtOnce = 200_000

export const reportSteps: readonly Step[] = [
  walkOver({
    name: 'report-sums',
    table: 'reconciliations',
    key: [
      ['cashback_id', 'uuid'],
      ['bank_id', 'uuid'],
    ],
    rows: 200,
    weight: {
      max: linesAtOnce,
      of: '(select sum(lines) from reports where report_id in (bank_report_id, merchant_report_id))',
    },
    reads: within => [reportsOf('bank', within), reportsOf('merchant', within), comparisons(within)],
  }),
]
