/** How a file gets into the database, in one pass over it: its lines as rows, its bytes piece by piece. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { lineColumns } from './comparison-sql.ts'
import { insertChunk } from './comparison-store.ts'
import type { Side } from './differences.ts'
import { type ReportLine, readReportLines } from './report-lines.ts'

const chunkBytes = 1024 * 1024
/** So much text of lines makes one COPY. */
const copiedBytes = 1024 * 1024
const namedFaults = 20

/**
 * Reads a report to its end.
 *
 * @param client in a transaction
 * @returns the size of the file
 * @throws DomainError 'invalid' for a file that is no report: the first 20 faults by line, column and value, then the count of all
 */
export async function loadReport(
  client: pg.Client,
  report: { reportId: string; side: Side; bytes: AsyncIterable<Buffer> },
): Promise<{ sizeBytes: number }> {
  const writer = createWriter()
  const keep = keepBytes(client, writer, report.reportId)
  const lines = copyLines(client, writer, report.reportId)
  const faults: string[] = []
  let faultsCount = 0
  for await (const read of readReportLines(keep.passing(report.bytes), report.side)) {
    faults.push(...read.faults.slice(0, namedFaults - faults.length))
    faultsCount += read.faults.length
    // Once nothing will be kept, only the faults are still to be counted.
    if (faultsCount === 0) await lines.add(read.lines)
    else keep.stop()
    // A thousand lines take some milliseconds, and then other requests to this process have their turn.
    await othersTurn()
  }
  if (faultsCount > 0) throw new DomainError('invalid', describeFaults(faults, faultsCount))
  await lines.finish()
  const sizeBytes = await keep.finish()
  await writer.finish()
  return { sizeBytes }
}

type Writer = { begin(write: () => Promise<void>): Promise<void>; finish(): Promise<void> }

/** Lets the database write one piece while the next one is made ready; a write that fails is told with the next one. */
function createWriter(): Writer {
  let last = Promise.resolve()
  return {
    async begin(write) {
      await last
      last = write()
      last.catch(() => {})
    },
    finish: () => last,
  }
}

/** Keeps the bytes that pass, in chunks; of their two buffers one is written while the other is filled. */
function keepBytes(client: pg.Client, writer: Writer, reportId: string) {
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  let other = Buffer.allocUnsafeSlow(chunkBytes)
  let used = 0
  let size = 0
  let chunks = 0
  let stopped = false
  const write = async () => {
    const bytes = buffer.subarray(0, used)
    const chunk = chunks++
    used = 0
    ;[buffer, other] = [other, buffer]
    if (bytes.length > 0 && !stopped)
      await writer.begin(() => insertChunk(queryable(client), { reportId, chunk, bytes }))
  }
  return {
    async *passing(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const piece of bytes) {
        size += piece.length
        for (let taken = 0; taken < piece.length; ) {
          const copied = piece.copy(buffer, used, taken)
          taken += copied
          used += copied
          if (used === chunkBytes) await write()
        }
        yield piece
      }
    },
    /** Nothing more is worth keeping. */
    stop(): void {
      stopped = true
    },
    /** @returns the size of all */
    async finish(): Promise<number> {
      await write()
      return size
    },
  }
}

/** Writes lines. They become bytes at once: objects by the thousand that live for a while fill the memory. */
function copyLines(client: pg.Client, writer: Writer, reportId: string) {
  const statement = `copy report_lines (report_id, ${lineColumns}) from stdin`
  let waiting: Buffer[] = []
  let size = 0
  const copy = async () => {
    const texts = waiting
    waiting = []
    size = 0
    if (texts.length > 0) await writer.begin(() => pipeline(Readable.from(texts), client.query(copyFrom(statement))))
  }
  return {
    async add(lines: readonly ReportLine[]): Promise<void> {
      const text = Buffer.from(lines.map(line => copyText(reportId, line)).join(''))
      waiting.push(text)
      size += text.length
      if (size >= copiedBytes) await copy()
    },
    finish: copy,
  }
}

/** A line in PostgreSQL's text format; no value holds a control character. */
function copyText(reportId: string, line: ReportLine): string {
  const { lineNumber, transactionAt, amount, cashbackAmount } = line
  const ids = `${escaped(line.transactionId)}\t${escaped(line.terminalId)}`
  return `${reportId}\t${lineNumber}\t${ids}\t${transactionAt.toISOString()}\t${amount}\t${cashbackAmount ?? '\\N'}\n`
}

const escaped = (text: string): string => (text.includes('\\') ? text.replaceAll('\\', '\\\\') : text)

function describeFaults(named: readonly string[], count: number): string[] {
  const more = count > named.length ? `... and ${count - named.length} more faults; ` : ''
  return [...named, `${more}${count} ${count === 1 ? 'fault' : 'faults'} in all: nothing was kept`]
}
