/** What an entry of the audit log says (contract/audit-log.md, "Entries"). */

export const viaKinds = ['api', 'portal', 'cli', 'clock'] as const
export const outcomes = ['done', 'refused'] as const
export const actorKinds = ['person', 'system', 'operator', 'clock', 'unknown'] as const
export const accountKinds = ['bank', 'merchant', 'platform'] as const

/** `id`: of a person the user's, of a system the clientId; null: the operator's key, the clock, or nobody that is known. */
export type EntryActor = { type: (typeof actorKinds)[number]; id: string | null }
export type EntryObject = { type: string; id: string | null }
/** Old and new value of each field; of a secret its fingerprint. */
export type EntryChange = Record<string, readonly [old: unknown, present: unknown]>

/** An entry as it is stored and hashed, its fields in this order. */
export type Entry = {
  accountSeq: number
  /** Real time. */
  at: string
  /** `id` is null for the platform. */
  account: { type: (typeof accountKinds)[number]; id: string | null }
  actor: EntryActor
  via: (typeof viaKinds)[number]
  action: string
  object: EntryObject
  outcome: (typeof outcomes)[number]
  change: EntryChange
  requestId: string | null
  address: string | null
}
