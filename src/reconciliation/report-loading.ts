/** Loads a file into the database in one pass: its lines as rows, its bytes in pieces. */
import { createHash, type Hash } from 'node:crypto'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import { describeErrors } from '../text/csv-lines.ts'
import { isFileOfCards } from './card-numbers.ts'
import type { Side } from './differences.ts'
import { noReport, readReportLines } from './report-lines.ts'
import { problem, problemText, type ReportProblem } from './report-rules.ts'
import { createReportWriter, type ReportWriter } from './report-writing.ts'

const shownErrors = 20

/**
 * Reads a report to its end.
 *
 * @param client in a transaction
 * @param report.isTrial true: only the lines are written, not the bytes of the file
 * @returns the size of the stored file (0 in a trial) and the SHA-256
 * @throws DomainError 'invalid' for an invalid report, with the first 20 errors and the number of all errors
 */
export async function loadReport(
  client: pg.Client,
  report: { reportId: string; side: Side; bytes: AsyncIterable<Buffer>; isTrial?: boolean },
): Promise<{ sizeBytes: number; sha256: Buffer }> {
  const hash = createHash('sha256')
  const writer = createReportWriter(client, report.reportId)
  const errors: ReportProblem[] = []
  let errorsCount = 0
  let lines = 0
  let cards = 0
  // After the first error nothing is stored any more, and the rest is read only to count errors.
  const kept = keeping(hashed(report.bytes, hash), writer, () => errorsCount === 0 && !report.isTrial)
  for await (const read of readReportLines(kept, report.side)) {
    errors.push(...read.errors.slice(0, shownErrors - errors.length))
    errorsCount += read.errors.length
    lines += read.count
    cards += read.cards
    if (errorsCount === 0) await writer.add(read.lines)
    // Let the process serve other requests after some lines.
    await othersTurn()
  }
  // A file of card numbers is refused with this error alone, because errors about lines would distract from it.
  if (isFileOfCards(cards, lines)) throw noReport(problem({ rule: 'no-card-numbers' }))
  if (errorsCount > 0)
    throw new DomainError('invalid', describeErrors(errors.map(problemText), errorsCount), {
      problems: errors,
      problemCount: errorsCount,
    })
  return { sizeBytes: await writer.finish(), sha256: hash.digest() }
}

async function* hashed(bytes: AsyncIterable<Buffer>, hash: Hash) {
  for await (const piece of bytes) {
    hash.update(piece)
    yield piece
  }
}

async function* keeping(bytes: AsyncIterable<Buffer>, writer: ReportWriter, isKept: () => boolean) {
  for await (const piece of bytes) {
    if (isKept()) await writer.keep(piece)
    yield piece
  }
}
