/**
 * Removes personal data that is older than the settings allow (contract/security.md, "Personal data"). Each call
 * removes a limited number of rows. Several processes may call at once.
 */
import { changeSegment } from '../campaigns/lifecycle/transitions-store.ts'
import type { Clock } from '../clock.ts'
import { cutoff } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { firstOrderId } from '../esim/orders/order-id.ts'
import { forEachItem } from '../work/for-each.ts'
import * as store from './removal-store.ts'

/** For how many days each kind of data is kept; null: for ever. The settings `KEEP_...` give these numbers. */
export type RetentionDays = { reportLinesDays: number | null; segmentsDays: number | null; msisdnDays: number | null }
export type RetentionDeps = { database: Database; clock: Clock; retention: RetentionDays }

const segmentsAtOnce = 20
const ordersAtOnce = 1_000

/**
 * Removes a limited number of rows of each kind of old data. An error of one kind does not stop the other kinds.
 *
 * @returns whether there may be more old data
 * @throws AggregateError, if no other kind has more to remove. If another kind has more, the call returns true and
 *   drops the errors. The caller then calls again, and an error that lasts is thrown by a later call
 */
export async function removeOld(deps: RetentionDeps): Promise<boolean> {
  let isMore = false
  const removeSome = async (remove: (deps: RetentionDeps) => Promise<boolean>) => {
    if (await remove(deps)) isMore = true
  }
  const kinds = [removeReportLines, removeSegments, removeMsisdns]
  await forEachItem(kinds, ({ name }) => name, removeSome).catch(error => {
    if (!isMore) throw error
  })
  return isMore
}

/**
 * Removes lines, differences and files of reports, one report after the other. Totals, counts and the hash of the file
 * stay.
 */
async function removeReportLines({ database, clock, retention }: RetentionDeps): Promise<boolean> {
  // Reports that are already marked are removed even if KEEP_REPORT_LINES_DAYS is no longer set.
  if (await database.transaction(store.removeReportPiece)) return true
  const { reportLinesDays } = retention
  if (reportLinesDays === null) return false
  const now = clock.now()
  return database.transaction(transaction =>
    store.markReport(transaction, { endedBefore: cutoff(now, reportLinesDays), now }),
  )
}

async function removeSegments({ database, clock, retention }: RetentionDeps): Promise<boolean> {
  if (retention.segmentsDays === null) return false
  const endedBefore = cutoff(clock.now(), retention.segmentsDays)
  const segments = await store.findOldSegments(database, { endedBefore, limit: segmentsAtOnce })
  for (const segment of segments)
    await database.transaction(transaction =>
      changeSegment(transaction, { ...segment, now: clock.now() }, () => store.removeSegment(transaction, segment)),
    )
  return segments.length === segmentsAtOnce
}

async function removeMsisdns({ database, clock, retention }: RetentionDeps): Promise<boolean> {
  if (retention.msisdnDays === null) return false
  const before = firstOrderId(cutoff(clock.now(), retention.msisdnDays))
  const seen = await database.transaction(transaction =>
    store.removeMsisdns(transaction, { before, limit: ordersAtOnce }),
  )
  return seen === ordersAtOnce
}

/**
 * How late data may be removed before the audit reports it. The job runs every ten minutes, so a delay of a day is an
 * error.
 */
const graceMs = 86_400_000

/** The audit's checks that nothing is kept longer than the settings say. */
export function checksOfRetention(retention: RetentionDays, now: Date): store.RetentionCheck[] {
  const latest = new Date(now.getTime() - graceMs)
  const { reportLinesDays, segmentsDays, msisdnDays } = retention
  return [
    ...(reportLinesDays === null ? [] : [store.reportLinesCheck(cutoff(latest, reportLinesDays))]),
    ...(segmentsDays === null ? [] : [store.segmentsCheck(cutoff(latest, segmentsDays))]),
    ...(msisdnDays === null ? [] : [store.msisdnCheck(firstOrderId(cutoff(latest, msisdnDays)))]),
  ]
}
