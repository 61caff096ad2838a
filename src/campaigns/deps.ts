/** The dependencies of the operations of campaigns, segments and reconciliation. */
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { PendingLimits } from './form/pending-store.ts'

export type CampaignDeps = {
  database: Database
  clock: Clock
  /** The wait between `compensationReceived` and `completed`. */
  completeAfterMs: number
  /**
   * The limits of each merchant for campaigns that no bank has approved yet. Without this field there are no limits.
   */
  pending?: PendingLimits
}
