/**
 * Reads of people and exports: each partner has few at once, and they have connections of their own, so that nothing else waits for
 * them (contract/limits.md, "Costly reads").
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AsideKind, Database, Queryable } from '../../db/database.ts'
import { createTurns, type TurnLimits } from '../../work/turns.ts'
import { leaving } from '../answer/leaving.ts'
import { accountOf } from './account.ts'

export type Reads = {
  /**
   * Waits until it is the turn of the request's partner. The turn ends with the answer.
   *
   * @throws DomainError 'too-many' when the partner's other reads take too long
   */
  takeTurn(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * Begins a read, once it is this partner's turn.
   *
   * @returns where to read; when the reader leaves, what the database is doing for it ends too
   * @throws DomainError as `takeTurn`
   */
  begin(request: FastifyRequest, reply: FastifyReply): Promise<Queryable>
}

/** Where routes read for people. */
export type ReadDeps = { pageReads: Reads; costlyReads: Reads }

const limits: Record<AsideKind, TurnLimits> = {
  // So many that one partner's slow ones leave room for those of the others.
  short: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 5_000 },
  long: { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 1_000, waitMs: 10_000 },
}

function createReads(database: Database, kind: AsideKind, busy: string): Reads {
  const turns = createTurns(limits[kind], { code: 'too-many', text: busy }, kind === 'short' ? 'reads' : 'costly-reads')
  const takeTurn = async (request: FastifyRequest, left: AbortSignal) => {
    const end = await turns.take(accountOf(request) ?? request.ip, left)
    if (left.aborted) end()
    else left.addEventListener('abort', end)
  }
  return {
    takeTurn: (request, reply) => takeTurn(request, leaving(reply)),
    async begin(request, reply) {
      const left = leaving(reply)
      await takeTurn(request, left)
      return database.aside(left, kind)
    },
  }
}

/** Those that cost much: sales figures, exports, differences, searches in terminals, long lists. */
export const createCostlyReads = (database: Database): Reads =>
  createReads(database, 'long', 'Two of your long reads are still running: wait for them')

/** Those of people who look at a page: each statement has some seconds. */
export const createPageReads = (database: Database): Reads =>
  createReads(database, 'short', 'Two of your reads are still running: wait for them')
