/**
 * Limits how many passwords are hashed at once. Hashing is slow on purpose, so a person with a valid session could
 * otherwise keep every processor busy. Each caller may hash one password at a time. Logins have a separate queue
 * (`logins.ts`), because their callers are not known yet.
 */
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../work/concurrency-limit.ts'

const limits = { atOnce: 2, perPartner: 1, waiting: 100, waitMs: 20_000 }
const busy = { code: 'unavailable', text: 'Too many others at once; try again', retryAfterSeconds: 2 } as const

/** Creates the limit of this process. All operations share it, also those at ADMIN_PORT. */
export const createHashingPlaces = (): ConcurrencyLimit => createConcurrencyLimit(limits, busy)
