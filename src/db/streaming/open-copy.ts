/** Opens long reads whose bytes are passed on as they arrive. */
import type { Writable } from 'node:stream'
import { DomainError } from '../../errors.ts'
import type { Database } from '../database.ts'
import { copyAsText, type ReadLimits } from './copy-out.ts'

/** Writes the whole result, as fast as `taker` accepts it. */
export type WriteTo = (taker: Writable) => Promise<void>

/** The time limits of a read. It holds a snapshot of the database, so even a steady reader must finish in time. */
const limits: ReadLimits = { stallMs: 10_000, wholeMs: 10 * 60_000 }

/**
 * Reads the texts, or bytes, of all columns of all rows, one after the other. It resolves when the first bytes have arrived.
 *
 * @param text a query without parameters
 * @param signal aborts when the client disconnects
 * @throws DomainError 'unavailable' when the client disconnects before the first bytes
 */
export function openCopy(database: Database, text: string, signal: AbortSignal): Promise<WriteTo> {
  const opened = Promise.withResolvers<WriteTo>()
  database
    .longRead('files', async client => {
      signal.throwIfAborted()
      const read = copyAsText(client, text, limits)
      signal.addEventListener('abort', () => read.stop(new Error('The reader has left')))
      await read.begun
      opened.resolve(taker => read.writeTo(taker))
      await read.ended
    })
    .catch(opened.reject)
  return opened.promise.catch(error => {
    throw signal.aborted ? new DomainError('unavailable', 'The reader has left', { cause: error }) : error
  })
}
