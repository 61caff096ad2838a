/**
 * Hashing a password is slow on purpose: whoever has one, a right one too, could keep every processor busy with it. So few are hashed at
 * once, of one caller one. Logins, where callers are strangers, have a queue of their own (`logins.ts`).
 */
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../work/concurrency-limit.ts'

const limits = { atOnce: 2, perPartner: 1, waiting: 100, waitMs: 20_000 }
const busy = { code: 'unavailable', text: 'Too many others at once; try again', retryAfterSeconds: 2 } as const

export const createHashingPlaces = (): ConcurrencyLimit => createConcurrencyLimit(limits, busy)
