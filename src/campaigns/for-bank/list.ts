/** Reads a bank's list of campaigns (contract/campaigns.md, "Bank list"). */

import { type Database, longReadConnections } from '../../db/database.ts'
import type { LongRead, ReadLimits } from '../../db/streaming/copy-out.ts'
import { DomainError } from '../../errors.ts'
import { type ConcurrencyLimits, createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { type BankList, isShort, type ListFilters, openLong, readShort, readVersion } from './list-store.ts'

export type BankLists = {
  /** Reads the version of the bank's list. Every change that the bank can see gives the list a new version. */
  version(bankId: string): Promise<number>
  /**
   * Reads the campaigns as a JSON array. For a long list, it resolves when the first bytes have arrived.
   *
   * @param signal aborts when the client disconnects
   * @param takePlace called before a long list is read; waits until this caller may read one
   * @throws DomainError 'unavailable' when too many read at once, or the client has disconnected; or what `takePlace` throws
   */
  read(
    bankId: string,
    filters: ListFilters,
    signal: AbortSignal,
    takePlace: () => Promise<void>,
  ): Promise<BankList<Buffer | LongRead>>
}

/**
 * The limits for reads of long lists. Few reads run at once, because each one takes memory and half a processor. A read
 * must end within `wholeMs`: while it runs, its snapshot keeps PostgreSQL from removing deleted rows (vacuum).
 */
const limits: { places: ConcurrencyLimits; reading: ReadLimits } = {
  places: { atOnce: longReadConnections.lists, perPartner: 2, waiting: 100, waitMs: 60_000 },
  reading: { stallMs: 10_000, wholeMs: 90_000 },
}

export function createBankLists(database: Database): BankLists {
  const places = createConcurrencyLimit(
    limits.places,
    'Other lists are still being read: try again in a moment',
    'lists',
  )
  return {
    version: bankId => readVersion(database, bankId),
    async read(bankId, filters, signal, takePlace) {
      if (await isShort(database, bankId)) return readShort(database, bankId, filters)
      await takePlace()
      const end = await places.take(bankId, signal)
      const params = { bankId, filters, limits: limits.reading }
      return openLong(database, params, { signal, closed: end }).catch(error => {
        throw signal.aborted ? new DomainError('unavailable', 'The reader has left', { cause: error }) : error
      })
    },
  }
}
