/** The fields of an audit log entry (contract/audit-log.md, "Entries"). */

export const viaKinds = ['api', 'portal', 'cli', 'clock'] as const
export const outcomes = ['done', 'refused'] as const
export const actorKinds = ['person', 'system', 'operator', 'clock', 'unknown'] as const
export const accountKinds = ['bank', 'merchant', 'platform'] as const

/** `id`: a person's user id or a system's clientId; null for the operator's key, the clock, and unknown callers. */
export type EntryActor = { type: (typeof actorKinds)[number]; id: string | null }
export type EntryObject = { type: string; id: string | null }
/** The old and new value of each field. Secrets are replaced by fingerprints. */
export type EntryChange = Record<string, readonly [old: unknown, present: unknown]>

/** An entry as it is stored and hashed. The hashed JSON text has the fields in this order. */
export type Entry = {
  accountSeq: number
  /** When the entry was written, in real time (ISO 8601). */
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
