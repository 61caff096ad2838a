/**
 * Who has lost access while holding a live token: revoked credentials, ended client secrets, disabled users, suspended partners, and
 * single tokens whose session was ended. Each process keeps the list in memory, so that a token check asks no database. When told of a
 * change and every two seconds it reads the short part anew, and of ended sessions what is new.
 */
import type { Queryable } from '../db/database.ts'
import { findEndedTokens, findRefused } from './store.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'
import type { ReadToken } from './tokens.ts'

/** The promise of contract/access.md, "Losing access": access is lost within 10 seconds, in every process. */
const staleAfterMs = 10_000
const forgetEveryMs = 60_000

export type Refusals = {
  refresh(): Promise<void>
  refused(token: Pick<ReadToken, 'caller' | 'id' | 'secretId'>): boolean
  /** True when the list could not be read for so long that the promise would not hold. */
  stale(): boolean
}

export function createRefusals(database: Queryable): Refusals {
  let refused = new Set<string>()
  let readAtMs = Number.NEGATIVE_INFINITY
  /** Ended tokens with the time (of `performance.now()`) at which they expire. */
  const ended = new Map<string, number>()
  let lastNumber = 0
  let forgotAtMs = performance.now()
  const readEnded = async () => {
    for (const { id, number, msLeft } of await findEndedTokens(database, lastNumber)) {
      ended.set(id, performance.now() + msLeft)
      lastNumber = Math.max(lastNumber, number)
    }
    if (performance.now() - forgotAtMs < forgetEveryMs) return
    forgotAtMs = performance.now()
    for (const [id, expiresAtMs] of ended) if (expiresAtMs < forgotAtMs) ended.delete(id)
  }
  return {
    async refresh() {
      const startedAtMs = performance.now()
      await readEnded()
      const found = new Set(await findRefused(database, tokenLifetimeSeconds))
      if (startedAtMs < readAtMs) return
      refused = found
      readAtMs = startedAtMs
    },
    refused({ caller, id, secretId }) {
      if (ended.has(id)) return true
      if (refused.size === 0) return false
      if (refused.has(caller.subject)) return true
      if (secretId !== null && refused.has(secretId)) return true
      if (caller.type === 'bank') return refused.has(caller.bankId)
      return caller.type === 'retailer' && refused.has(caller.merchantId)
    },
    stale: () => performance.now() - readAtMs > staleAfterMs,
  }
}
