/**
 * Writes entries about reads and refusals, which change nothing. They are written in batches and apart from changes,
 * so that nobody can fill the disk or slow down changes by sending requests (contract/audit-log.md, "Entries").
 */
import type { Database } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'

export type BatchedEntries = {
  /**
   * Resolves when the entry is stored. Only then may the data that the entry is about be shown.
   *
   * @throws DomainError 'unavailable' when it cannot be stored, or too many entries wait
   */
  write(origin: Origin, fact: Fact): Promise<void>
}

export type EntryDeps = { batchedEntries: BatchedEntries }

const everyMs = 100
const maxWaiting = 1_000

type Waiting = { origin: Origin; fact: Fact; done: PromiseWithResolvers<void> }

/** Creates the writer of these entries. At most ten times a second, it writes all entries that wait, in one transaction. */
export function createBatchedEntries(database: Database): BatchedEntries {
  let waiting: Waiting[] = []
  let isBusy = false
  let writtenAtMs = Number.NEGATIVE_INFINITY

  const flush = async () => {
    const batch = waiting
    waiting = []
    writtenAtMs = performance.now()
    await database
      .transaction(async transaction => {
        for (const { origin, fact } of batch) await recordEntries(transaction, origin, [fact])
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
