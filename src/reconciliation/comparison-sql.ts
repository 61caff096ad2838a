/**
 * The statements that find differences; `comparison-store.ts` runs them in order. Their temporary tables belong to one
 * transaction.
 */
import { shownInstant } from '../db/instants.ts'
import { type DifferenceKind, differenceKinds, type Side, type termKinds } from './differences.ts'

export const lineColumns = 'line, transaction_id, terminal_id, transaction_at, amount, cashback_amount'

export const createTerminals = `
  create temporary table campaign_terminals (terminal_id text collate "C" primary key, removed_at timestamptz not null) on commit drop`

/**
 * The terminals where the campaign $1 applies, each with the time until which it counts. They are the campaign's own
 * list, or the merchant's terminals in the directory. A terminal that was removed from the directory after the campaign
 * was created still counts for purchases before its removal.
 */
export const listTerminals = `
  insert into campaign_terminals
  select terminal_id, max(removed_at) from (
    select t.terminal_id, 'infinity'::timestamptz as removed_at from campaigns c join terminals t using (merchant_id)
    where c.cashback_id = $1 and c.terminals_platform
    union all
    select r.terminal_id, r.removed_at from campaigns c join removed_terminals r using (merchant_id)
    where c.cashback_id = $1 and c.terminals_platform and r.removed_at >= c.created_at
    union all
    select t.value ->> 'terminal_id', 'infinity' from campaigns c cross join lateral json_array_elements(c.terminals::json) t
    where c.cashback_id = $1 and not c.terminals_platform
  ) listed group by terminal_id`

/** A table for the lines of the uploaded report and the terms that each of them breaks. */
export const createChecked = `
  create temporary table checked_lines (
    line int, transaction_id text collate "C", terminal_id text collate "C", transaction_at timestamptz,
    amount numeric(12, 2), cashback_amount numeric(12, 2), right_cashback numeric, first_line int,
    outside_period boolean, unknown_terminal boolean, amount_out_of_range boolean, wrong_cashback boolean,
    spent numeric, accepted boolean
  ) on commit drop`

/** Whether a line breaks a term other than the budget. */
const breaks = '(outside_period or unknown_terminal or amount_out_of_range or wrong_cashback or first_line < line)'

/**
 * Finds the terms of the campaign $1 that each line of the report $2 breaks. If several lines name the same transaction, the
 * first one counts. The budget limits only the bank's report: `spent` is the running total of its cashback, in the order of the
 * file, over lines without other violations. The selected columns must be in the order of `createChecked`.
 */
export function checkLines(side: Side): string {
  const spent = `case when not ${breaks} then sum(cashback_amount) filter (where not ${breaks}) over (order by line) end`
  return `
  insert into checked_lines
  select s.*, not ${breaks} and (s.spent is null or c.max_budget is null or s.spent <= c.max_budget)
  from (
    select b.*, ${side === 'bank' ? spent : 'null::numeric'} as spent
    from (
      select l.line, l.transaction_id, l.terminal_id, l.transaction_at, l.amount, l.cashback_amount,
        round(l.amount * c.percentage * 0.01, 2) as right_cashback,
        min(l.line) over (partition by l.transaction_id) as first_line,
        l.transaction_at < c.date_from or l.transaction_at >= c.date_to as outside_period,
        coalesce(l.transaction_at >= t.removed_at, true) as unknown_terminal,
        l.amount < c.min_amount or l.amount > c.max_amount as amount_out_of_range,
        coalesce(l.cashback_amount <> round(l.amount * c.percentage * 0.01, 2), false) as wrong_cashback
      from report_lines l cross join campaigns c left join campaign_terminals t using (terminal_id)
      where l.report_id = $2 and c.cashback_id = $1
    ) b
  ) s cross join campaigns c
  where c.cashback_id = $1`
}

/**
 * The lowest sort number (`place`) of a difference in the merchant's lines. All places of the bank's lines are lower.
 */
const merchantBase = 2 ** 40
/** How many sort numbers are reserved for each line. Each kind of difference uses one, and there are fewer kinds. */
const placesOfALine = 16

/**
 * SQL for a difference's sort number in the list of all differences. They are sorted by report (the bank's first), then
 * by line, then by kind.
 */
const placeOf = (side: Side, line: string, kind: DifferenceKind): string =>
  `${side === 'merchant' ? merchantBase : 0} + ${line}::bigint * ${placesOfALine} + ${differenceKinds.indexOf(kind)}`

/** Formats the terms of the campaign $2 once, because there may be millions of differences. */
const termsOfCampaign = `
  select max_budget, ${shownInstant('date_from')} || '/' || ${shownInstant('date_to')} as period,
    min_amount::numeric(12, 2) || '..' || max_amount::numeric(12, 2) as amounts, max_budget::numeric(12, 2)::text as budget
  from campaigns where cashback_id = $2`

/**
 * For each term, three pieces of SQL: whether a checked line `b` breaks the term, the value that the term requires, and
 * the value in the line. `c` has the campaign's terms.
 */
const terms: Record<(typeof termKinds)[number], { broken: string; expected: string; found: string }> = {
  'outside-period': {
    broken: 'b.outside_period',
    expected: 'c.period',
    found: shownInstant('b.transaction_at'),
  },
  'unknown-terminal': { broken: 'b.unknown_terminal', expected: 'null', found: 'b.terminal_id' },
  'amount-out-of-range': {
    broken: 'b.amount_out_of_range',
    expected: 'c.amounts',
    found: 'b.amount::text',
  },
  'wrong-cashback': {
    broken: 'b.wrong_cashback',
    expected: 'b.right_cashback::text',
    found: 'b.cashback_amount::text',
  },
  'repeated-transaction': { broken: 'b.first_line < b.line', expected: 'null', found: `'line ' || b.first_line` },
  'budget-exceeded': {
    broken: 'b.spent > c.max_budget',
    expected: 'c.budget',
    found: 'b.spent::text',
  },
}

const intoDifferences = `
  insert into report_differences (report_id, place, kind, bank_line, merchant_line, transaction_id, expected, found)`

/** Inserts the differences between the report $1 of a side and the terms of the campaign $2. */
export function insertTermDifferences(side: Side): string {
  const lines = side === 'bank' ? 'b.line, null::int' : 'null::int, b.line'
  const found = Object.entries(terms).map(
    ([kind, { broken, expected, found }]) =>
      `select ${placeOf(side, 'b.line', kind as DifferenceKind)}, '${kind}'::difference_kind, ${expected}, ${found} where ${broken}`,
  )
  return `with c as materialized (${termsOfCampaign}), added as (${intoDifferences}
    select $1, d.place, d.kind, ${lines}, b.transaction_id, d.expected, d.found
    from checked_lines b cross join c cross join lateral (${found.join(' union all ')}) as d (place, kind, expected, found)
    where not b.accepted
    returning kind
  ) ${countKinds}`
}

/**
 * Inserts the differences between the report $1 of a side and the other side's report $2. Only the first line of each
 * transaction is compared. The stored differences of report $2 tell which of its lines are repeated. If only one report
 * has a transaction, the other amount is null. `is distinct from` finds this case, too.
 */
export function insertMatchDifferences(side: Side): string {
  const own = 'select line, transaction_id, amount from checked_lines where line = first_line'
  const other = `
    select line, transaction_id, amount from report_lines l where report_id = $2 and not exists (
      select from report_differences d
      where d.report_id = $2 and d.kind = 'repeated-transaction' and coalesce(d.bank_line, d.merchant_line) = l.line)`
  return `with added as (${intoDifferences}
    select $1,
      case when b.line is null then ${placeOf('merchant', 'm.line', 'only-in-merchant-report')}
        when m.line is null then ${placeOf('bank', 'b.line', 'only-in-bank-report')}
        else ${placeOf('bank', 'b.line', 'amount-differs')} end,
      (case when b.line is null then 'only-in-merchant-report' when m.line is null then 'only-in-bank-report'
        else 'amount-differs' end)::difference_kind,
      b.line, m.line, transaction_id, m.amount::text, b.amount::text
    from (${side === 'bank' ? own : other}) b full join (${side === 'bank' ? other : own}) m using (transaction_id)
    where b.amount is distinct from m.amount
    returning kind
  ) ${countKinds}`
}

const countKinds = 'select kind, count(*) as count from added group by kind'

/** The totals of the uploaded report in the campaign $1. */
export const readTotals = `
  select count(*) as lines, coalesce(sum(amount), 0)::text as "totalAmount",
    coalesce(sum(cashback_amount), 0)::text as "totalCashback", count(*) filter (where line = first_line) as transactions,
    round(coalesce(sum(cashback_amount) filter (where accepted), 0)
      * (select merchant_compensation_percentage from campaigns where cashback_id = $1) * 0.01, 2)::text as compensation
  from checked_lines`
