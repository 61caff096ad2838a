/**
 * Limits costly reads: lists for people, and exports. Each partner may run only a few at once. They use connections of
 * their own, so that no other work waits for them (contract/limits.md, "Costly reads").
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Aside, type AsideKind, type Database, longReadConnections, type Queryable } from '../../db/database.ts'
import { type ConcurrencyLimit, type ConcurrencyLimits, createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { disconnectSignal } from '../answer/disconnect-signal.ts'
import { limitKeyOf } from './account.ts'

export type Reads = {
  /**
   * Waits until the request's partner may run another read, and counts this read. Each partner may run two at once
   * (`limits`). The read stops counting when its answer ends, or after a long read some time later
   * (`restAfterLongRead`).
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
  begin(request: FastifyRequest, reply: FastifyReply): Promise<Aside>
  /**
   * Begins like `begin`, and runs `work` in one snapshot (`Aside.snapshot`). Use it for each answer that is built from
   * several statements, because with a snapshot for each of them it could contradict itself (contract/http.md, "Answers
   * while others change").
   *
   * @throws DomainError like `takePlace`, and what `work` throws
   */
  read<T>(request: FastifyRequest, reply: FastifyReply, work: (database: Queryable) => Promise<T>): Promise<T>
}

export type CostlyReads = Reads & {
  /**
   * Begins a read of a file that is sent while it is read. Waits like `begin`. Then waits until the limit for
   * concurrent reads of such files (`fileLimits`) allows one more.
   *
   * @returns `aside`: the database to read from; `signal`: aborts when the client disconnects
   * @throws DomainError like `takePlace`; 'unavailable' when the reads of other files take too long
   */
  beginFile(request: FastifyRequest, reply: FastifyReply): Promise<{ aside: Queryable; signal: AbortSignal }>
}

/** The limits of reads by people: `pageReads` for quick reads, `costlyReads` for long ones. */
export type ReadDeps = { pageReads: Reads; costlyReads: CostlyReads }

const limits: Record<AsideKind, ConcurrencyLimits> = {
  // Each partner may run two reads at once, so that the slow reads of one partner do not delay other partners.
  short: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 5_000 },
  long: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 10_000 },
}

export const fileLimits: ConcurrencyLimits = {
  atOnce: longReadConnections.files,
  perPartner: 2,
  // The last free place is kept for a partner that has none. Otherwise two partners whose clients read files slowly
  // could take all places.
  lastForOthers: true,
  waiting: 100,
  waitMs: 10_000,
}

const maxRestMs = 3_000
/**
 * How long a long read still counts after its answer: three times as long as it took, up to `maxRestMs`. So a partner
 * that sends reads without a break uses on average half a processor of the database. With reads of more than a
 * second it uses more, because `maxRestMs` limits the pause after each read.
 */
const restAfterLongRead = (tookMs: number): number => Math.min(3 * tookMs, maxRestMs)

type TakePlace = (request: FastifyRequest, signal: AbortSignal) => Promise<void>

/**
 * Returns a function that waits until the limit lets the caller's partner run another read, and counts this read. The
 * read stops counting when the signal aborts, or with `restAfter` some time later.
 *
 * @param restAfter how long a read of this duration still counts after its end; default: not at all
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
  const begin: Reads['begin'] = async (request, reply) => {
    const signal = disconnectSignal(reply)
    await take(request, signal)
    return database.aside(signal, kind)
  }
  return {
    takePlace: (request, reply) => take(request, disconnectSignal(reply)),
    begin,
    read: async (request, reply, work) => (await begin(request, reply)).snapshot(work),
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
