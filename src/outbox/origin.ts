/** Where an entry of the audit log comes from: who acts, for which account, and through which interface. */
import type { Caller, Trace } from '../caller.ts'
import type { Entry, EntryActor } from './audit-entry.ts'
import type { RecordedAccount } from './rows.ts'

export type Origin = {
  /** The account of the actor. */
  account: RecordedAccount
  actor: EntryActor
} & Pick<Entry, 'via' | 'requestId' | 'address'>

/** The account of the platform, as the log records it. */
export const platformAccount: RecordedAccount = { type: 'platform', id: null }

/** The origin of changes that the platform makes by itself when their time has come. */
export const clockOrigin: Origin = {
  account: platformAccount,
  actor: { type: 'clock', id: null },
  via: 'clock',
  requestId: null,
  address: null,
}

/**
 * The origin of changes by the holder of the operator's key. @param trace null: the platform itself acts, for example
 * when it loads sample data
 */
export const operatorOrigin = (trace: Trace | null = null): Origin => ({
  account: platformAccount,
  actor: { type: 'operator', id: null },
  ...(trace ?? { via: 'cli', requestId: null, address: null }),
})

/** The origin of requests without authentication. */
export const unknownOrigin = (trace: Trace | null = null): Origin => ({
  ...operatorOrigin(trace),
  actor: { type: 'unknown', id: null },
})

/** The origin of changes by an authenticated system or person of a bank, a merchant or the platform. */
export function originOfCaller(caller: Caller): Origin {
  const { userType, subject, trace } = caller
  return {
    account: recordedAccountOf(caller),
    actor: { type: userType === 'portal_user' ? 'person' : 'system', id: subject },
    ...(trace ?? { via: 'api', requestId: null, address: null }),
  }
}

function recordedAccountOf(caller: Caller): RecordedAccount {
  if (caller.type === 'bank') return { type: 'bank', id: caller.bankId }
  return caller.type === 'retailer' ? { type: 'merchant', id: caller.merchantId } : platformAccount
}
