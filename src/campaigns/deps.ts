import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { PendingLimits } from './form/pending-store.ts'

/** What the operations of campaigns, segments and reconciliation work with. */
export type CampaignDeps = {
  database: Database
  clock: Clock
  /** The wait between `compensationReceived` and `completed`. */
  completeAfterMs: number
  /** Of campaigns that no bank has approved yet, for each merchant; left out: without limits, as for samples. */
  pending?: PendingLimits
}
