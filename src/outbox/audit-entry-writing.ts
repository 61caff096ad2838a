/**
 * Writes audit entries in the transaction of the change, so that a change and its entry are stored together or not at
 * all. Within a second the entry becomes part of the chain (`audit-log/chain-store.ts`).
 */
import { realNow } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import type { Entry } from './audit-entry.ts'
import { boundedChange } from './bounded-change.ts'
import { type Origin, platformAccount } from './origin.ts'
import { entryKind, type RecordedAccount, recordRows } from './rows.ts'

export type Fact = Pick<Entry, 'action' | 'object'> & {
  /** A change of more than 2 KB is shortened (`boundedChange`). */
  change?: Entry['change']
  outcome?: Entry['outcome']
  /**
   * The account that owns the object; default: the platform. If the platform acts (the operator or the clock, for
   * example), the entry belongs to this account. Otherwise it belongs to the account of the actor.
   */
  owner?: RecordedAccount
}

/** The content of the outbox row: an entry that has no number and no account yet. */
export type RecordedEntry = Omit<Entry, 'accountSeq' | 'account'>

/** Writes entries that all have the same origin. */
export async function recordEntries(transaction: Queryable, origin: Origin, facts: readonly Fact[]): Promise<void> {
  const at = realNow().toISOString()
  const { actor, via, requestId, address } = origin
  const rows = facts.map(({ action, object, change = {}, outcome = 'done', owner = platformAccount }) => ({
    kind: entryKind,
    account: origin.account.type === 'platform' ? owner : origin.account,
    data: {
      at,
      actor,
      via,
      action,
      object,
      outcome,
      change: boundedChange(change),
      requestId,
      address,
    } satisfies RecordedEntry,
  }))
  await recordRows(transaction, rows)
}
