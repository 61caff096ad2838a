/** Opens long reads whose bytes are passed on as they arrive. */
import type { Writable } from 'node:stream'
import { DomainError } from '../../errors.ts'
import type { Database } from '../database.ts'
import { copyAsJson, copyAsText, type ReadLimits } from './copy-out.ts'

/** Writes the whole result, as fast as `taker` accepts it. */
export type WriteTo = (taker: Writable) => Promise<void>

type Reading = { copy: typeof copyAsText; limits: ReadLimits }

/**
 * Reads the texts, or bytes, of all columns of all rows, one after the other. PostgreSQL cannot clean up deleted rows meanwhile, so
 * even a reader that never pauses must finish within `wholeMs`.
 */
const ofTexts: Reading = { copy: copyAsText, limits: { stallMs: 10_000, wholeMs: 10 * 60_000 } }
/** Reads the elements of a JSON array, of which there are at most a million. */
export const ofJson: Reading = { copy: copyAsJson, limits: { stallMs: 10_000, wholeMs: 90_000 } }

/**
 * Opens a long read. It resolves when the first bytes have arrived.
 *
 * @param text a query without parameters
 * @param signal aborts when the client disconnects
 * @throws DomainError 'unavailable' when the client disconnects before the first bytes
 */
export function openCopy(
  database: Database,
  text: string,
  signal: AbortSignal,
  { copy, limits }: Reading = ofTexts,
): Promise<WriteTo> {
  const opened = Promise.withResolvers<WriteTo>()
  database
    .longRead('files', async client => {
      signal.throwIfAborted()
      const read = copy(client, text, limits)
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
