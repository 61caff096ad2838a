/**
 * Reads that cost much (sales figures, exports, differences, searches in long lists): each partner has few at once, and they have
 * connections of their own, so that nothing else waits for them (contract/limits.md, "Costly reads").
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database, Queryable } from './db/database.ts'
import { accountOf } from './http/account.ts'
import { leaving } from './http/leaving.ts'
import { createTurns } from './turns.ts'

/**
 * Begins a costly read, once it is this partner's turn.
 *
 * @param request whose account counts
 * @param reply the turn ends with the answer; when its reader leaves, what the database is doing for it ends too
 * @returns where to read
 * @throws DomainError 'too-many' when the partner's other reads take too long
 */
export type CostlyReads = (request: FastifyRequest, reply: FastifyReply) => Promise<Queryable>

const limits = { atOnce: Number.POSITIVE_INFINITY, perPartner: 2, waiting: 10_000, waitMs: 10_000 }

export function createCostlyReads(database: Database): CostlyReads {
  const turns = createTurns(limits, {
    code: 'too-many',
    text: 'Two of your long reads are still running: wait for them',
  })
  return async (request, reply) => {
    const left = leaving(reply)
    const end = await turns.take(accountOf(request) ?? request.ip, left)
    if (left.aborted) end()
    else left.addEventListener('abort', end)
    return database.aside(left)
  }
}
