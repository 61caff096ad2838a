/** Reads uploaded files and differences part by part. Between two parts, it holds no database connection. */
import { createHash } from 'node:crypto'
import type { Queryable, Statement } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { type CountsByKind, countEveryKind, type Difference, totalOf } from './differences.ts'

export type StoredFile = {
  reportId: string
  bankId: string
  merchantId: string
  fileName: string
  sizeBytes: number
  isRemoved: boolean
}

const fileStatement: Statement = {
  name: 'reports.file',
  text: `
    select r.report_id as "reportId", r.bank_id as "bankId", c.merchant_id as "merchantId", r.file_name as "fileName",
      r.size_bytes as "sizeBytes", r.lines_removed_at is not null as "isRemoved"
    from reports r join campaigns c using (cashback_id) where r.report_id = $1`,
}

/** @returns null when the report is unknown */
export async function findFile(database: Queryable, reportId: string): Promise<StoredFile | null> {
  const [file] = await database.query<StoredFile>(fileStatement, [reportId])
  return file ?? null
}

const chunkStatement: Statement = {
  name: 'reports.chunk',
  text: 'select bytes from report_chunks where report_id = $1 and chunk = $2',
}

/**
 * The bytes of a report, in order. If the file is removed while it is read, the generator throws an Error after some of
 * the bytes.
 */
export async function* readFile(
  database: Queryable,
  { reportId, sizeBytes }: Pick<StoredFile, 'reportId' | 'sizeBytes'>,
): AsyncGenerator<Buffer> {
  let left = sizeBytes
  for (let chunk = 0; left > 0; chunk++) {
    const [row] = await database.query<{ bytes: Buffer }>(chunkStatement, [reportId, chunk])
    if (!row) throw new Error(`The file of report ${reportId} was removed while it was read`)
    left -= row.bytes.length
    yield row.bytes
  }
}

/**
 * Computes and stores the hash of a report that an older version of the platform stored without it.
 *
 * @returns the hash in hex, also when another process has stored it first
 */
export async function hashReport(database: Queryable, reportId: string): Promise<string> {
  const file = await findFile(database, reportId)
  if (!file) throw new Error(`Report ${reportId} is unknown`)
  const hash = createHash('sha256')
  for await (const piece of readFile(database, file)) hash.update(piece)
  const [report] = await database.query<{ sha256: string }>(
    `update reports set sha256 = coalesce(sha256, $2) where report_id = $1 and (sha256 is not null or lines_removed_at is null)
     returning encode(sha256, 'hex') as sha256`,
    [reportId, hash.digest()],
  )
  if (!report) throw new Error(`The file of report ${reportId} was removed before its hash was stored`)
  return report.sha256
}

/** The error when the file or the differences were removed (KEEP_REPORT_LINES_DAYS). */
export const fileRemoved = () =>
  new DomainError('not-found', 'The file was removed: its campaign ended longer ago than files are kept')

/**
 * SQL for whether the differences of a bank's part were removed. The two reports of the part are removed one after the
 * other, so this is true as soon as one of them is removed.
 */
export const removedOf = (bank: string, merchant: string): string =>
  `coalesce(${bank}.lines_removed_at, ${merchant}.lines_removed_at) is not null`

const currentStatement: Statement = {
  name: 'reports.current-differences',
  text: `
    select r.bank_report_id as bank, r.merchant_report_id as merchant,
      json_build_array(rb.broken_terms, rm.broken_terms, r.unmatched) as counts, ${removedOf('rb', 'rm')} as "isRemoved"
    from reconciliations r join reports rb on rb.report_id = r.bank_report_id
    left join reports rm on rm.report_id = r.merchant_report_id
    where r.cashback_id = $1 and r.bank_id = $2`,
}

const pageOf = (report: string): string => `
  (select * from report_differences where report_id = ${report} and place > $3 order by place limit $4)`

const pageStatement: Statement = {
  name: 'reports.differences',
  text: `
    select place, kind, transaction_id as "transactionId", bank_line as "bankLine", merchant_line as "merchantLine", expected, found
    from (${pageOf('$1')} union all ${pageOf('$2')}) d order by place limit $4`,
}

const pageSize = 2_000

/**
 * All current differences of a bank's part in a campaign, in batches.
 *
 * @throws DomainError 'not-found' when they were removed. If an upload replaces them while they are read, the generator
 *   throws an Error after some of the batches
 */
export async function readDifferences(
  database: Queryable,
  params: { cashbackId: string; bankId: string },
): Promise<AsyncGenerator<Difference[]>> {
  const [current] = await database.query<Current>(currentStatement, [params.cashbackId, params.bankId])
  const count = current ? totalOf(countEveryKind(...current.counts)) : 0
  if (current?.isRemoved && count > 0) throw fileRemoved()
  return batches(database, current, count)
}

type Current = {
  bank: string
  merchant: string | null
  counts: (Partial<CountsByKind> | null)[]
  isRemoved: boolean
}

async function* batches(
  database: Queryable,
  current: Current | undefined,
  count: number,
): AsyncGenerator<Difference[]> {
  if (!current) return
  let left = count
  for (let place = -1; left > 0; ) {
    const values = [current.bank, current.merchant, place, pageSize]
    const page = await database.query<Difference & { place: number }>(pageStatement, values)
    const last = page.at(-1)
    if (!last) throw new Error('The differences were replaced by an upload while they were read')
    left -= page.length
    place = last.place
    yield page
  }
}
