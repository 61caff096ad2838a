/** The dependencies of operations on campaigns. */
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { PendingLimits } from './form/pending-store.ts'

/** The dependencies of the operations of campaigns, segments and reconciliation. */
export type CampaignDeps = {
  database: Database
  clock: Clock
  /** The wait between `compensationReceived` and `completed`. */
  completeAfterMs: number
  /** Limits per merchant for campaigns that no bank has approved yet; left out: no limits, as for samples. */
  pending?: PendingLimits
}
