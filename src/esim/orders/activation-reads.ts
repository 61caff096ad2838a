/**
 * Counts repeated reads of activation data by order and caller: every repeated confirm and every QR picture
 * (contract/security.md, "Reads of activation data"). The counts are written after the answer. A caller's first read of
 * an order is written within a second, and the counts of its later reads at most once a minute.
 */
import type { Queryable } from '../../db/database.ts'
import { insertReads, type ReadCount, type ReadKind } from './activation-reads-store.ts'

export type ActivationReads = {
  /** Counts one read. @param read.caller in the form of `callerName` */
  note(read: { orderId: string; kind: ReadKind; caller: string; at: Date }): void
  /** Writes all counts that are still in memory. */
  close(): Promise<void>
}

const flushEveryMs = 500
const writeAgainAfterMs = 60_000
/** At this many entries in memory, all entries are written at once, and entries without new reads are removed. */
const maxEntries = 10_000

/** One caller's reads of one order. `reads` counts only reads that are not written yet. */
type Entry = ReadCount & { writtenAtMs: number }

/**
 * Creates the counter of one process. @param deps.onError called when a write fails; the counts are kept and written
 * later
 */
export function createActivationReads(deps: { database: Queryable; onError(error: unknown): void }): ActivationReads {
  const entries = new Map<string, Entry>()
  let writing = Promise.resolve()

  /**
   * Writes the due entries: new ones, and those last written at least a minute ago. Removes due entries that have no
   * new reads. Reads that are noted during the write are written the next time.
   *
   * @param all true: treats every entry as due
   */
  const flush = async (all: boolean): Promise<void> => {
    const nowMs = performance.now()
    const isOld = (entry: Entry) => all || nowMs - entry.writtenAtMs >= writeAgainAfterMs
    const due = [...entries].filter(([, entry]) => isOld(entry))
    for (const [key] of due.filter(([, entry]) => entry.reads === 0)) entries.delete(key)
    const written = due.filter(([, entry]) => entry.reads > 0).map(([, entry]) => ({ entry, reads: entry.reads }))
    if (written.length === 0) return
    await insertReads(
      deps.database,
      written.map(({ entry }) => entry),
    )
    for (const { entry, reads } of written) {
      entry.reads -= reads
      entry.writtenAtMs = nowMs
    }
  }
  const flushNext = (all: boolean): Promise<void> => {
    writing = writing.then(() => flush(all)).catch(deps.onError)
    return writing
  }
  const timer = setInterval(() => void flushNext(false), flushEveryMs).unref()

  return {
    note({ orderId, kind, caller, at }) {
      const key = `${orderId} ${kind} ${caller}`
      const entry = entries.get(key)
      if (entry) {
        entry.reads++
        entry.lastAt = at
        return
      }
      // More entries may be added while this write runs. Their number stays bounded even when the database cannot be
      // reached: nobody can read activation data then, so no entry is added.
      if (entries.size >= maxEntries) void flushNext(true)
      entries.set(key, {
        orderId,
        kind,
        caller,
        reads: 1,
        firstAt: at,
        lastAt: at,
        writtenAtMs: Number.NEGATIVE_INFINITY,
      })
    },

    async close() {
      clearInterval(timer)
      await flushNext(true)
    },
  }
}
