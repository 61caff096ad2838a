/**
 * Writes a report's bytes and lines by COPY. It fills one buffer while it writes another, and then swaps them, so that
 * a large file does not allocate memory for each piece.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { copyHeader, copyTrailer } from '../db/streaming/copy-format.ts'
import { lineColumns } from './comparison-sql.ts'
import type { ReportLine } from './report-lines.ts'

const bufferBytes = 512 * 1024

export type ReportWriter = {
  /** Stores some of the file's bytes. */
  keep(bytes: Buffer): Promise<void>
  /** Writes lines. Also empties `lines`, because the list would otherwise stay in memory while the database is slow. */
  add(lines: ReportLine[]): Promise<void>
  /** Writes the rest. @returns how many bytes were stored */
  finish(): Promise<number>
}

/** Creates the writer of one report. @param client must be in a transaction */
export function createReportWriter(client: pg.Client, reportId: string): ReportWriter {
  const inSequence = createSequence()
  const copy = (statement: string, pieces: Buffer[]) =>
    pipeline(Readable.from(pieces), client.query(copyFrom(statement)))
  const chunkHead = createChunkHead(reportId)
  const chunks = createBuffers(bytes =>
    inSequence(() => copy(copyChunk, [chunkHead(bytes.length), bytes, copyTrailer])),
  )
  const rows = createBuffers(bytes => inSequence(() => copy(copyRows, [bytes])))
  let size = 0
  return {
    async keep(bytes) {
      size += bytes.length
      for (let taken = 0; taken < bytes.length; ) {
        taken += chunks.copy(bytes.subarray(taken))
        if (chunks.room() === 0) await chunks.write()
      }
    },
    async add(lines) {
      const text = takeText(lines, reportId)
      const bytes = Buffer.byteLength(text)
      if (bytes > rows.room()) await rows.write()
      if (bytes > rows.room()) await inSequence(() => copy(copyRows, [Buffer.from(text)]))
      else rows.append(text)
    },
    async finish() {
      await chunks.write()
      await rows.write()
      await inSequence(async () => {})
      return size
    },
  }
}

const copyChunk = 'copy report_chunks (report_id, chunk, bytes) from stdin (format binary)'
const copyRows = `copy report_lines (report_id, ${lineColumns}) from stdin`

/** Runs writes one after the other. If a write fails, the next call throws its error. */
function createSequence(): (write: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve()
  return async write => {
    await last
    last = write()
    last.catch(() => {})
  }
}

/**
 * Creates the two buffers.
 *
 * @param begin starts to write a full buffer; its promise resolves when the other buffer is written and can be filled
 */
function createBuffers(begin: (bytes: Buffer) => Promise<void>) {
  let filling = Buffer.allocUnsafeSlow(bufferBytes)
  let writing = Buffer.allocUnsafeSlow(bufferBytes)
  let used = 0
  return {
    room: () => bufferBytes - used,
    copy(bytes: Buffer): number {
      const copied = bytes.copy(filling, used)
      used += copied
      return copied
    },
    append(text: string): void {
      used += filling.write(text, used)
    },
    async write(): Promise<void> {
      if (used === 0) return
      const bytes = filling.subarray(0, used)
      ;[filling, writing] = [writing, filling]
      used = 0
      await begin(bytes)
    },
  }
}

/** The beginning of a chunk's row in PostgreSQL's binary copy format: the header, the number of fields and the first two fields. */
function createChunkHead(reportId: string): (bytes: number) => Buffer {
  const id = Buffer.from(reportId.replaceAll('-', ''), 'hex')
  let chunk = 0
  return bytes => {
    const head = Buffer.alloc(copyHeader.length + 2 + 4 + id.length + 4 + 4 + 4)
    let at = copyHeader.copy(head)
    at = head.writeInt16BE(3, at)
    at = head.writeInt32BE(id.length, at)
    at += id.copy(head, at)
    at = head.writeInt32BE(4, at)
    at = head.writeInt32BE(chunk++, at)
    head.writeInt32BE(bytes, at)
    return head
  }
}

function takeText(lines: ReportLine[], reportId: string): string {
  const text = lines.map(line => copyText(reportId, line)).join('')
  lines.length = 0
  return text
}

/**
 * A line in PostgreSQL's text copy format. Only backslashes are escaped, because no value contains control characters.
 */
function copyText(reportId: string, line: ReportLine): string {
  const { lineNumber, transactionAt, amount, cashbackAmount } = line
  const ids = `${escaped(line.transactionId)}\t${escaped(line.terminalId)}`
  return `${reportId}\t${lineNumber}\t${ids}\t${transactionAt.toISOString()}\t${amount}\t${cashbackAmount ?? '\\N'}\n`
}

const escaped = (text: string): string => (text.includes('\\') ? text.replaceAll('\\', '\\\\') : text)
