/**
 * The audit's checks of statements: each sold order is on exactly one statement or open, numbers and periods have no
 * gaps, sums match their lines, and each file matches its hash and is chained to the one before.
 */
import { createHash } from 'node:crypto'
import type { Check, Piece, Step } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { findPosition, newestPosition, unseen, valuesOf } from '../events/position.ts'
import { readFile, sumsText } from './closing-store.ts'
import { hasEveryLine } from './lines-store.ts'
import { commissionOf } from './record.ts'

const linesCheck: Check = {
  code: 'statement-lines',
  name: 'each confirmed order has one line, for what was sold',
  holds: 'every line is of a confirmed order with its price, and no confirmed order is without one',
}
const chainCheck: Check = {
  code: 'statement-chain',
  name: 'statements have no gap and their files are as they were closed',
  holds: 'numbers and times follow one another, and each file has the bytes of its hash and names the one before it',
}
const sumsCheck: Check = {
  code: 'statement-sums',
  name: 'the sums of statements are the sums of their lines',
  holds: 'counted again line by line, totals, tariffs and late lines are the same',
}
export const statementChecks: readonly Check[] = [linesCheck, chainCheck, sumsCheck]

const ordersAtOnce = 20_000

type Bank = { bankId: string } | null

/** @param bank null: all banks */
const linesStep = (bank: Bank): Step => ({
  name: linesCheck.code,
  table: 'orders',
  async next(database, after) {
    const from = after?.[0] ?? '00000000-0000-0000-0000-000000000000'
    const [last] = await database.query<{ orderId: string }>(
      `select order_id as "orderId" from orders where order_id > $1 order by order_id offset ${ordersAtOnce - 1} limit 1`,
      [from],
    )
    const range = [from, last?.orderId ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff', bank?.bankId ?? null]
    const { wrong, missing } = await compareLines(database, range)
    const texts = [
      ...wrong.map(orderId => `the line of order ${orderId} is not what was sold`),
      ...missing.map(orderId => `order ${orderId} is confirmed and has no line`),
    ]
    return pieceOf(linesCheck, texts, ordersAtOnce, last ? [last.orderId] : null)
  },
})

const pieceOf = ({ code }: Check, texts: readonly string[], rows: number, reached: string[] | null): Piece => ({
  findings: texts.map(text => ({ code, text })),
  counts: {},
  rows,
  reached,
})

type Compared = { wrong: string[]; missing: string[] }

/** Compares orders with lines in one pass over both. A sale of the last moments is still in the outbox and gets its line soon. */
async function compareLines(database: Queryable, range: unknown[]): Promise<Compared> {
  const isComplete = await hasEveryLine(database)
  for (;;) {
    const position = await findPosition(database, 'statements')
    const [found] = await database.query<Compared & { isUpToDate: boolean }>(comparedText, [
      ...valuesOf(position),
      position.snapshot,
      ...range,
    ])
    if (found?.isUpToDate) return { wrong: found.wrong, missing: isComplete ? found.missing : [] }
  }
}

const inRange = 'order_id > $4 and order_id <= $5'
const comparedText = `
  with compared as materialized (
    select order_id, l.order_id is null as is_missing
    from (select * from statement_lines where ${inRange} and ($6::uuid is null or bank_id = $6)) as l
    full join (select * from orders where ${inRange}) as o using (order_id)
    where case when l.order_id is null then o.status = 'confirmed' and ($6::uuid is null or o.bank_id = $6)
      else (o.status, o.bank_id, o.price, o.currency, o.confirmed_at)
        is distinct from ('confirmed', l.bank_id, l.amount, l.currency, l.confirmed_at) end
  )
  select ${newestPosition('statements')} = $3 as "isUpToDate",
    array(select order_id from compared where not is_missing) as wrong,
    array(
      select order_id from compared
      where is_missing and order_id not in (select unnest(subjects) from (${unseen('statements', 1)}) as told)) as missing`

type Closed = {
  statementId: string
  bankId: string
  bankCode: string
  number: number
  sha256: string
  isNext: boolean
  previousSha256: string | null
}

/** The next statement of a bank, or the first one of the next bank. `isNext`: it begins where the previous one ends. */
async function findNext(database: Queryable, bank: Bank, after: string[] | null): Promise<Closed | null> {
  const [found] = await database.query<Closed>(
    `select s.statement_id as "statementId", s.bank_id as "bankId", b.code as "bankCode", s.number, encode(s.sha256, 'hex') as sha256,
            case when p.statement_id is null then s.number = 1 and s.previous_statement_id is null
              else s.from_at = p.to_at and s.day > p.day and s.previous_statement_id = p.statement_id end as "isNext",
            encode(p.sha256, 'hex') as "previousSha256"
     from statements s join banks b using (bank_id)
     left join statements p on p.bank_id = s.bank_id and p.number = s.number - 1
     where ($1::uuid is null or s.bank_id = $1) and ($2::uuid is null or (s.bank_id, s.number) > ($2, $3))
     order by s.bank_id, s.number limit 1`,
    [bank?.bankId ?? null, after?.[0] ?? null, Number(after?.[1] ?? 0)],
  )
  return found ?? null
}

const chainStep = (bank: Bank): Step => ({
  name: chainCheck.code,
  table: 'statement_files',
  async next(database, after) {
    const found = await findNext(database, bank, after)
    if (!found) return pieceOf(chainCheck, [], 0, null)
    const errors: string[] = []
    const { hasLines, hasSums } = await compareSums(database, found.statementId)
    const file = await readOnce(database, found.statementId)
    if (!found.isNext) errors.push('does not follow the one before')
    if (!hasLines) errors.push('lacks lines, or has one of after its end')
    if (file.sha256 !== found.sha256) errors.push('has a file with another hash')
    if (!file.header.endsWith(`,${found.previousSha256 ?? '-'}\r\n`))
      errors.push('has a file that does not name the one before')
    if (!hasSums) errors.push('has sums that are not those of its lines')
    const texts = errors.map(error => `statement ${found.number} of ${found.bankCode} ${error}`)
    const reached = [found.bankId, String(found.number)]
    return { ...pieceOf(chainCheck, texts, 1, reached), findings: texts.map(findingOf) }
  },
})

const findingOf = (text: string) => ({ code: text.includes(' sums ') ? sumsCheck.code : chainCheck.code, text })

/** The file's hash and its first piece, in one pass. */
async function readOnce(database: Queryable, statementId: string): Promise<{ sha256: string; header: string }> {
  const hash = createHash('sha256')
  let header: string | null = null
  for await (const bytes of readFile(database, statementId)) {
    header ??= bytes.toString()
    hash.update(bytes)
  }
  return { sha256: hash.digest('hex'), header: header ?? '' }
}

/** Whether a statement has all its lines, none of after its end, and their sums. Each line is read once. */
async function compareSums(database: Queryable, statementId: string): Promise<{ hasLines: boolean; hasSums: boolean }> {
  const [row] = await database.query<{ hasLines: boolean; hasSums: boolean }>(
    `with s as (select * from statements where statement_id = $1), cells as materialized (
       select l.currency, l.tariff_id, count(*) as sales, sum(amount) as amount,
              sum(${commissionOf('amount', 's.commission_percentage')}) as commission,
              count(*) filter (where l.confirmed_at < s.from_at) as late, max(line) as last_line, max(l.confirmed_at) as last_at
       from statement_lines l cross join s where l.statement_id = $1 group by l.currency, l.tariff_id
     )
     select s.totals::jsonb = sums.totals::jsonb and s.by_tariff::jsonb = sums."byTariff"::jsonb and s.lines = sums.lines
       and s.late = sums.late as "hasSums",
       (select coalesce(sum(sales), 0) = s.lines and coalesce(max(last_line), 0) = s.lines and coalesce(max(last_at) < s.to_at, true)
        from cells) as "hasLines"
     from s cross join (${sumsText('cells')}) as sums`,
    [statementId],
  )
  if (!row) throw new Error('A statement that was just found has one row')
  return row
}

/** @param bank null: all banks */
export const statementSteps = (bank: Bank = null): readonly Step[] => [linesStep(bank), chainStep(bank)]
