/**
 * The audit's checks of statements: each sold order is on exactly one statement or still open, numbers and periods have
 * no gaps, sums match their lines, and each file matches its hash and contains the hash of the file before it.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Check, Finding, Piece, Step } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { findPosition, newestPosition, unseen, valuesOf } from '../outbox/position.ts'
import { readFile, readShortFiles, sumsText } from './closing-store.ts'
import { commissionOf } from './commission.ts'
import { hasEveryLine } from './lines-store.ts'

const linesCheck: Check = {
  code: 'statement-lines',
  name: 'each confirmed order has one line, for what was sold',
  holds: 'every line belongs to a confirmed order and has its price, and every confirmed order has a line',
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

/** The step that compares orders with lines. @param bank null: all banks */
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
    const findings = texts.map(text => ({ code: linesCheck.code, text }))
    return pieceOf(findings, ordersAtOnce, last ? [last.orderId] : null)
  },
})

const pieceOf = (findings: Finding[], rows: number, reached: string[] | null): Piece => ({
  findings,
  counts: {},
  rows,
  reached,
})

type Compared = { wrong: string[]; missing: string[] }

/** Compares orders with lines in one pass over both. A very recent sale may have no line yet: it is still in the outbox. */
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
      where is_missing and order_id not in (select unnest(subjects) from (${unseen('statements', 1)}) as recorded)) as missing`

type Closed = {
  statementId: string
  bankId: string
  bankCode: string
  number: number
  sha256: string
  isNext: boolean
  previousSha256: string | null
}

/** Statements of small banks have few lines, so many statements are read together. A query for each would take longer. */
const statementsAtOnce = 100
/**
 * Statements that are read together have at most this many lines, about 5 MB of files. A statement with more lines is
 * read alone.
 */
const linesAtOnce = 20_000

/**
 * The statements to read next, sorted by bank and number. `isNext` says whether a statement names the bank's previous
 * one, begins where that ends, and has a later day.
 */
const findNext = (database: Queryable, bank: Bank, after: string[] | null): Promise<Closed[]> =>
  database.query(
    `with page as materialized (
       select * from statements
       where ($1::uuid is null or bank_id = $1) and ($2::uuid is null or (bank_id, number) > ($2, $3))
       order by bank_id, number limit ${statementsAtOnce}
     ), piece as (
       select * from (
         select *, sum(lines) over so_far as lines_so_far, row_number() over so_far as place from page
         window so_far as (order by bank_id, number rows unbounded preceding)
       ) as counted where place = 1 or lines_so_far <= ${linesAtOnce}
     )
     select s.statement_id as "statementId", s.bank_id as "bankId", b.code as "bankCode", s.number, encode(s.sha256, 'hex') as sha256,
            case when p.statement_id is null then s.number = 1 and s.previous_statement_id is null
              else s.from_at = p.to_at and s.day > p.day and s.previous_statement_id = p.statement_id end as "isNext",
            encode(p.sha256, 'hex') as "previousSha256"
     from piece s join banks b using (bank_id)
     left join lateral (select * from statements p where p.bank_id = s.bank_id and p.number = s.number - 1 offset 0) as p on true
     order by s.bank_id, s.number`,
    [bank?.bankId ?? null, after?.[0] ?? null, Number(after?.[1] ?? 0)],
  )

const chainStep = (bank: Bank): Step => ({
  name: chainCheck.code,
  table: 'statement_files',
  async next(database, after) {
    const found = await findNext(database, bank, after)
    const ids = found.map(({ statementId }) => statementId)
    const compared = await compareSums(database, ids)
    const files = await readFiles(database, ids)
    const findings = found.flatMap(one => errorsOf(one, compared.get(one.statementId), files.get(one.statementId)))
    const last = found.at(-1)
    return pieceOf(findings, found.length, last ? [last.bankId, String(last.number)] : null)
  },
})

type Recounted = { hasLines: boolean; hasSums: boolean }
type StoredFile = { sha256: string; header: string }

/** Finds the errors of a statement. `file` is undefined when no piece of the file is stored. */
function errorsOf(statement: Closed, compared?: Recounted, file?: StoredFile): Finding[] {
  const { isNext, sha256, previousSha256, number, bankCode } = statement
  const errors: Finding[] = []
  const add = ({ code }: Check, error: string) =>
    errors.push({ code, text: `statement ${number} of ${bankCode} ${error}` })
  if (!isNext) add(chainCheck, 'does not follow the one before')
  if (!compared?.hasLines) add(chainCheck, 'lacks lines, or has one that was confirmed after its end')
  if (file?.sha256 !== sha256) add(chainCheck, 'has a file with another hash')
  if (!file?.header.endsWith(`,${previousSha256 ?? '-'}\r\n`))
    add(chainCheck, 'has a file that does not name the one before')
  if (!compared?.hasSums) add(sumsCheck, 'has sums that are not those of its lines')
  return errors
}

/** Returns the hash of each file, and its first piece, which is the header. Each file is read once. */
async function readFiles(database: Queryable, statementIds: readonly string[]): Promise<Map<string, StoredFile>> {
  const open = new Map<string, { hash: Hash; header: string }>()
  for await (const { statementId, bytes } of piecesOf(database, statementIds)) {
    const file = open.get(statementId) ?? { hash: createHash('sha256'), header: bytes.toString() }
    open.set(statementId, file)
    file.hash.update(bytes)
  }
  return new Map([...open].map(([id, { hash, header }]) => [id, { sha256: hash.digest('hex'), header }]))
}

/** The pieces of files, in order within each. A single file may be long, so its pieces are read a few at a time. */
async function* piecesOf(
  database: Queryable,
  statementIds: readonly string[],
): AsyncGenerator<{ statementId: string; bytes: Buffer }> {
  const [first] = statementIds
  if (statementIds.length > 1) yield* await readShortFiles(database, statementIds)
  else if (first) for await (const bytes of readFile(database, first)) yield { statementId: first, bytes }
}

/**
 * Counts and sums the lines of each statement again, and looks for lines after the statement's end. Each line is read
 * once.
 */
async function compareSums(database: Queryable, statementIds: readonly string[]): Promise<Map<string, Recounted>> {
  const rows = await database.query<Recounted & { statementId: string }>(
    `select s.statement_id as "statementId", found.*
     from statements s cross join lateral (
       with cells as materialized (
         select l.currency, l.tariff_id, count(*) as sales, sum(amount) as amount,
                sum(${commissionOf('amount', 's.commission_percentage')}) as commission,
                count(*) filter (where l.confirmed_at < s.from_at) as late, max(line) as last_line, max(l.confirmed_at) as last_at
         from statement_lines l where l.statement_id = s.statement_id group by l.currency, l.tariff_id
       )
       select s.totals::jsonb = sums.totals::jsonb and s.by_tariff::jsonb = sums."byTariff"::jsonb and s.lines = sums.lines
         and s.late = sums.late as "hasSums",
         (select coalesce(sum(sales), 0) = s.lines and coalesce(max(last_line), 0) = s.lines and coalesce(max(last_at) < s.to_at, true)
          from cells) as "hasLines"
       from (${sumsText('cells')}) as sums
     ) as found
     where s.statement_id = any($1)`,
    [statementIds],
  )
  return new Map(rows.map(row => [row.statementId, row]))
}

/** @param bank null: all banks */
export const statementSteps = (bank: Bank = null): readonly Step[] => [linesStep(bank), chainStep(bank)]
