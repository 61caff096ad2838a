import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'

/** What the operations of campaigns, segments and reconciliation work with. */
export type CampaignDeps = {
  database: Database
  clock: Clock
  /** The wait between `compensationReceived` and `completed`. */
  completeAfterMs: number
}
