/**
 * Tells of what was done, in the transaction that does it: no entry without the change, no change without the entry. The chain takes
 * it up within a second (`chain-store.ts`).
 */
import { realNow } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { type Account, tellRows } from '../events/tell.ts'
import type { Entry } from './entry.ts'
import type { Origin } from './origin.ts'

/** The kind of the outbox's rows. */
export const entryKind = 'audit'

export type Fact = Pick<Entry, 'action' | 'object'> & {
  change?: Entry['change']
  outcome?: Entry['outcome']
  /** Whose object it is: its entry, where the operator or the clock acts. Left out: the platform's. */
  owner?: Account
}

/** What the outbox carries: an entry without its number and its account. */
export type ToldEntry = Omit<Entry, 'accountSeq' | 'account'>

const platform: Account = { type: 'platform', id: null }

/** @param origin who did all of it, and by which way */
export async function tellEntries(transaction: Queryable, origin: Origin, facts: readonly Fact[]): Promise<void> {
  const at = realNow().toISOString()
  const { actor, via, requestId, address } = origin
  const rows = facts.map(({ action, object, change = {}, outcome = 'done', owner = platform }) => ({
    kind: entryKind,
    account: origin.account.type === 'platform' ? owner : origin.account,
    data: { at, actor, via, action, object, outcome, change, requestId, address } satisfies ToldEntry,
  }))
  await tellRows(transaction, rows)
}
