/** The statements that find differences: in what order they run is told in `comparison-store.ts`. Tables are of one transaction alone. */
import { type DifferenceKind, differenceKinds, type Side, type termKinds } from './differences.ts'

/** The lines of each side's latest report, and the same with what each of them breaks. */
export const linesTable = { bank: 'bank_lines', merchant: 'merchant_lines' } as const satisfies Record<Side, string>
export const checkedTable = { bank: 'bank_checked', merchant: 'merchant_checked' } as const satisfies Record<
  Side,
  string
>

export const lineColumns = 'line, transaction_id, terminal_id, transaction_at, amount, cashback_amount'

const lineTypes = `
  line int, transaction_id text collate "C", terminal_id text collate "C", transaction_at timestamptz,
  amount numeric(12, 2), cashback_amount numeric(12, 2)`

export const createLines = (side: Side): string =>
  `create temporary table ${linesTable[side]} (${lineTypes}) on commit drop`

export const createTerminals =
  'create temporary table campaign_terminals (terminal_id text collate "C" primary key) on commit drop'

/** The terminals where the campaign $1 applies: its own, or the merchant's in the platform's directory as they are now. */
export const listTerminals = `
  insert into campaign_terminals
  select t.terminal_id from campaigns c join terminals t using (merchant_id)
  where c.cashback_id = $1 and c.terminals_platform
  union
  select t.value ->> 'terminal_id' from campaigns c cross join lateral json_array_elements(c.terminals::json) t
  where c.cashback_id = $1 and not c.terminals_platform`

export const createChecked = (side: Side): string => `
  create temporary table ${checkedTable[side]} (
    ${lineTypes}, right_cashback numeric, first_line int,
    outside_period boolean, unknown_terminal boolean, amount_out_of_range boolean, wrong_cashback boolean,
    spent numeric, accepted boolean
  ) on commit drop`

/** Whether a line breaks a term whatever the other lines cost. */
const breaks = '(outside_period or unknown_terminal or amount_out_of_range or wrong_cashback or first_line < line)'

/**
 * What each line breaks of the terms of the campaign $1. Of a transaction that is named several times the first line stands. Only the
 * bank spends the budget: `spent` is the cashback up to a line, of those that break nothing else, in the order of the file.
 */
export function checkLines(side: Side): string {
  const spent = `case when not ${breaks} then sum(cashback_amount) filter (where not ${breaks}) over (order by line) end`
  return `
  insert into ${checkedTable[side]}
  select s.*, not ${breaks} and (s.spent is null or c.max_budget is null or s.spent <= c.max_budget)
  from (
    select b.*, ${side === 'bank' ? spent : 'null::numeric'} as spent
    from (
      select l.line, l.transaction_id, l.terminal_id, l.transaction_at, l.amount, l.cashback_amount,
        round(l.amount * c.percentage * 0.01, 2) as right_cashback,
        min(l.line) over (partition by l.transaction_id) as first_line,
        l.transaction_at < c.date_from or l.transaction_at >= c.date_to as outside_period,
        t.terminal_id is null as unknown_terminal,
        l.amount < c.min_amount or l.amount > c.max_amount as amount_out_of_range,
        coalesce(l.cashback_amount <> round(l.amount * c.percentage * 0.01, 2), false) as wrong_cashback
      from ${linesTable[side]} l cross join campaigns c left join campaign_terminals t using (terminal_id)
      where c.cashback_id = $1
    ) b
  ) s cross join campaigns c
  where c.cashback_id = $1`
}

/** Differences of the merchant's lines come behind all of the bank's. */
const merchantBase = 2 ** 40
/** A line has fewer differences than this. */
const placesOfALine = 16

const placeOf = (side: Side, line: string, kind: DifferenceKind): string =>
  `${side === 'merchant' ? merchantBase : 0} + ${line}::bigint * ${placesOfALine} + ${differenceKinds.indexOf(kind)}`

const instant = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** When a checked line `b` of the campaign `c` breaks a term, and what is told of it. */
const terms: Record<(typeof termKinds)[number], { broken: string; expected: string; found: string }> = {
  'outside-period': {
    broken: 'b.outside_period',
    expected: `${instant('c.date_from')} || '/' || ${instant('c.date_to')}`,
    found: instant('b.transaction_at'),
  },
  'unknown-terminal': { broken: 'b.unknown_terminal', expected: 'null', found: 'b.terminal_id' },
  'amount-out-of-range': {
    broken: 'b.amount_out_of_range',
    expected: `c.min_amount::numeric(12, 2) || '..' || c.max_amount::numeric(12, 2)`,
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
    expected: 'c.max_budget::numeric(12, 2)::text',
    found: 'b.spent::text',
  },
}

const intoDifferences = `
  insert into report_differences
    (reconciliation_id, place, kind, bank_line, merchant_line, transaction_id, expected, found)`

/** For the reconciliation $1 of the campaign $2. */
export function insertTermDifferences(side: Side): string {
  const lines = side === 'bank' ? 'b.line, null::int' : 'null::int, b.line'
  const found = Object.entries(terms).map(
    ([kind, { broken, expected, found }]) =>
      `select ${placeOf(side, 'b.line', kind as DifferenceKind)}, '${kind}'::difference_kind, ${expected}, ${found} where ${broken}`,
  )
  return `${intoDifferences}
  select $1, d.place, d.kind, ${lines}, b.transaction_id, d.expected, d.found
  from ${checkedTable[side]} b cross join campaigns c
  cross join lateral (${found.join(' union all ')}) as d (place, kind, expected, found)
  where c.cashback_id = $2 and not b.accepted`
}

/** For the reconciliation $1: transactions by the first line that names them. */
export const insertMatchDifferences = `${intoDifferences}
  select $1,
    case when b.line is null then ${placeOf('merchant', 'm.line', 'only-in-merchant-report')}
      when m.line is null then ${placeOf('bank', 'b.line', 'only-in-bank-report')}
      else ${placeOf('bank', 'b.line', 'amount-differs')} end,
    (case when b.line is null then 'only-in-merchant-report' when m.line is null then 'only-in-bank-report'
      else 'amount-differs' end)::difference_kind,
    b.line, m.line, transaction_id, m.amount::text, b.amount::text
  from (select * from ${checkedTable.bank} where line = first_line) b
  full join (select * from ${checkedTable.merchant} where line = first_line) m using (transaction_id)
  where b.amount is distinct from m.amount`

/** Of the lines of one side's report. */
export const readTotals = (side: Side): string => `
  select count(*) as lines, coalesce(sum(amount), 0)::text as "totalAmount",
    coalesce(sum(cashback_amount), 0)::text as "totalCashback"
  from ${linesTable[side]}`

/** Of the bank's lines, for the campaign $1. */
export const readCompensation = `
  select count(*) filter (where b.line = b.first_line) as transactions,
    round(coalesce(sum(b.cashback_amount) filter (where b.accepted), 0)
      * (select merchant_compensation_percentage from campaigns where cashback_id = $1) * 0.01, 2)::text as "expectedCompensation"
  from ${checkedTable.bank} b`
