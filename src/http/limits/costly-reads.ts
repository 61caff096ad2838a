/**
 * Limits costly reads: lists for people, and exports. Each partner may run only a few at once. They use connections of
 * their own, so that no other work waits for them (contract/limits.md, "Costly reads").
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AsideKind, Database, Queryable } from '../../db/database.ts'
import { type ConcurrencyLimits, createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { leaving } from '../answer/leaving.ts'
import { accountOf } from './account.ts'

export type Reads = {
  /**
   * Waits until the request's partner may run another read. The place is freed when the answer ends.
   *
   * @throws DomainError 'too-many' when the partner's other reads take too long
   */
  takePlace(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * Waits like `takePlace`, and then begins a read.
   *
   * @returns the database to read from; its running statements end when the client disconnects
   * @throws DomainError like `takePlace`
   */
  begin(request: FastifyRequest, reply: FastifyReply): Promise<Queryable>
}

/** The limits of reads by people: one for pages, and one for long reads. */
export type ReadDeps = { pageReads: Reads; costlyReads: Reads }

const limits: Record<AsideKind, ConcurrencyLimits> = {
  // Each partner gets two places, so that the slow reads of one do not delay the others.
  short: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 5_000 },
  long: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 10_000 },
}

function createReads(database: Database, kind: AsideKind, busy: string): Reads {
  const places = createConcurrencyLimit(
    limits[kind],
    { code: 'too-many', text: busy },
    kind === 'short' ? 'reads' : 'costly-reads',
  )
  const takePlace = async (request: FastifyRequest, signal: AbortSignal) => {
    const end = await places.take(accountOf(request) ?? request.ip, signal)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  }
  return {
    takePlace: (request, reply) => takePlace(request, leaving(reply)),
    async begin(request, reply) {
      const signal = leaving(reply)
      await takePlace(request, signal)
      return database.aside(signal, kind)
    },
  }
}

/** Limits expensive reads: sales figures, exports, differences, searches in terminals, long lists. */
export const createCostlyReads = (database: Database): Reads =>
  createReads(database, 'long', 'Two of your long reads are still running: wait for them')

/** Limits quick reads, such as a page of a list that a person reads. Each statement may take some seconds. */
export const createPageReads = (database: Database): Reads =>
  createReads(database, 'short', 'Two of your reads are still running: wait for them')
