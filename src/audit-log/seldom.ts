/**
 * Entries of what changes nothing: reads and refusals. They are written apart from the changes, together and seldom, so that nobody
 * fills the disk or slows a change by asking (contract/audit-log.md, "Entries").
 */
import type { Database } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { Origin } from './origin.ts'
import { type Fact, tellEntries } from './tell.ts'

export type SeldomEntries = {
  /**
   * Resolves once the entry is stored: what it tells of must not be shown before.
   *
   * @throws DomainError 'unavailable' when it cannot be stored, or too many wait
   */
  write(origin: Origin, fact: Fact): Promise<void>
}

export type EntryDeps = { seldomEntries: SeldomEntries }

const everyMs = 100
const maxWaiting = 1_000

type Waiting = { origin: Origin; fact: Fact; done: PromiseWithResolvers<void> }

/** Writes at most ten times a second; what is told meanwhile goes together. */
export function createSeldomEntries(database: Database): SeldomEntries {
  let waiting: Waiting[] = []
  let isBusy = false
  let writtenAtMs = Number.NEGATIVE_INFINITY

  const flush = async () => {
    const batch = waiting
    waiting = []
    writtenAtMs = performance.now()
    await database
      .transaction(async transaction => {
        for (const { origin, fact } of batch) await tellEntries(transaction, origin, [fact])
      })
      .then(
        () => {
          for (const { done } of batch) done.resolve()
        },
        (error: unknown) => {
          for (const { done } of batch) done.reject(error)
        },
      )
  }
  const run = async () => {
    isBusy = true
    while (waiting.length > 0) {
      const restMs = writtenAtMs + everyMs - performance.now()
      if (restMs > 0) await new Promise(resolve => setTimeout(resolve, restMs))
      await flush()
    }
    isBusy = false
  }

  return {
    write(origin, fact) {
      if (waiting.length >= maxWaiting)
        throw new DomainError('unavailable', 'Too many reads wait for their entry in the audit log', {
          retryAfterSeconds: 2,
        })
      const done = Promise.withResolvers<void>()
      waiting.push({ origin, fact, done })
      if (!isBusy) void run()
      return done.promise
    },
  }
}
