/**
 * Limits costly reads: lists for people, and exports. Each partner may run only a few at once. They use connections of
 * their own, so that no other work waits for them (contract/limits.md, "Costly reads").
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AsideKind, type Database, longReadConnections, type Queryable } from '../../db/database.ts'
import { type ConcurrencyLimit, type ConcurrencyLimits, createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { disconnectSignal } from '../answer/disconnect-signal.ts'
import { limitKeyOf } from './account.ts'

export type Reads = {
  /**
   * Waits until the request's partner may run another read, and takes one of the partner's places (`limits`). The place is freed
   * when the answer ends; after a long read, only after a pause (`restAfterLongRead`).
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

export type CostlyReads = Reads & {
  /**
   * Waits like `begin`, and then for one of the few places for files that are sent while they are read.
   *
   * @returns also a signal that aborts when the client disconnects
   * @throws DomainError like `takePlace`; 'unavailable' when the files of others take too long
   */
  beginFile(request: FastifyRequest, reply: FastifyReply): Promise<{ aside: Queryable; signal: AbortSignal }>
}

/** The limits of reads by people: one for pages, and one for long reads. */
export type ReadDeps = { pageReads: Reads; costlyReads: CostlyReads }

const limits: Record<AsideKind, ConcurrencyLimits> = {
  // Each partner gets two places, so that the slow reads of one partner do not delay other partners.
  short: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 5_000 },
  long: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 10_000 },
}

export const fileLimits: ConcurrencyLimits = {
  atOnce: longReadConnections.files,
  perPartner: 2,
  // Clients may read files slowly. Without this rule, two slow partners would take all places.
  lastForOthers: true,
  waiting: 100,
  waitMs: 10_000,
}

const maxRestMs = 3_000
/**
 * How long the place of a long read stays taken after its answer: three times as long as the read took, up to `maxRestMs`. So a
 * partner that fills its two places with one short read after the other uses half a processor of the database on average. Reads
 * of more than a second use more, because the pause is limited.
 */
const restAfterLongRead = (tookMs: number): number => Math.min(3 * tookMs, maxRestMs)

type TakePlace = (request: FastifyRequest, signal: AbortSignal) => Promise<void>

/**
 * Returns a function that takes one of the places that the caller's partner has. The place is freed when the signal
 * aborts, or with `restAfter` some time later.
 *
 * @param restAfter how long the place stays taken after work of this duration; default: not at all
 */
const taking =
  (places: ConcurrencyLimit, restAfter?: (tookMs: number) => number): TakePlace =>
  async (request, signal) => {
    const free = await places.take(limitKeyOf(request) ?? request.ip, signal)
    if (signal.aborted) return free()
    const start = performance.now()
    signal.addEventListener('abort', () => {
      if (restAfter) setTimeout(free, restAfter(performance.now() - start)).unref()
      else free()
    })
  }

function createReads(database: Database, kind: AsideKind, take: TakePlace): Reads {
  return {
    takePlace: (request, reply) => take(request, disconnectSignal(reply)),
    async begin(request, reply) {
      const signal = disconnectSignal(reply)
      await take(request, signal)
      return database.aside(signal, kind)
    },
  }
}

/** Limits expensive reads: sales figures, exports, differences, searches in terminals, long lists. */
export function createCostlyReads(database: Database): CostlyReads {
  const busy = 'Two of your long reads are still running: wait for them'
  const takePlace = taking(
    createConcurrencyLimit(limits.long, { code: 'too-many', text: busy }, 'costly-reads'),
    restAfterLongRead,
  )
  const takeFile = taking(
    createConcurrencyLimit(fileLimits, 'Other files are still being read: try again in a moment', 'files'),
  )
  return {
    ...createReads(database, 'long', takePlace),
    async beginFile(request, reply) {
      const signal = disconnectSignal(reply)
      await takePlace(request, signal)
      await takeFile(request, signal)
      return { aside: database.aside(signal, 'long'), signal }
    },
  }
}

/** Limits quick reads, such as a page of a list that a person reads. Each statement may take some seconds. */
export function createPageReads(database: Database): Reads {
  const busy = 'Two of your reads are still running: wait for them'
  return createReads(
    database,
    'short',
    taking(createConcurrencyLimit(limits.short, { code: 'too-many', text: busy }, 'reads')),
  )
}
