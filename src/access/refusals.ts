/**
 * Who has lost access while holding a live token: revoked credentials, ended client secrets, disabled users, suspended partners, and
 * single tokens whose session was ended. Each process keeps the short list in memory and reads it anew when told of a change and every two seconds, so
 * that a token check asks no database.
 */
import type { Queryable } from '../db/database.ts'
import { findRefused } from './store.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'
import type { ReadToken } from './tokens.ts'

/** The promise of behaviour.md, section 2: access is lost within 10 seconds, in every process. */
const staleAfterMs = 10_000

export type Refusals = {
  refresh(): Promise<void>
  refused(token: Pick<ReadToken, 'caller' | 'id' | 'secretId'>): boolean
  /** True when the list could not be read for so long that the promise would not hold. */
  stale(): boolean
}

export function createRefusals(database: Queryable): Refusals {
  let refused = new Set<string>()
  let readAtMs = Number.NEGATIVE_INFINITY
  return {
    async refresh() {
      const startedAtMs = performance.now()
      // A margin of a minute covers clocks that differ between processes.
      const now = new Date()
      const since = new Date(now.getTime() - (tokenLifetimeSeconds + 60) * 1000)
      const found = new Set(await findRefused(database, { since, now }))
      if (startedAtMs < readAtMs) return
      refused = found
      readAtMs = startedAtMs
    },
    refused({ caller, id, secretId }) {
      if (refused.size === 0) return false
      if (refused.has(caller.subject) || refused.has(id)) return true
      if (secretId !== null && refused.has(secretId)) return true
      if (caller.type === 'bank') return refused.has(caller.bankId)
      return caller.type === 'retailer' && refused.has(caller.merchantId)
    },
    stale: () => performance.now() - readAtMs > staleAfterMs,
  }
}
