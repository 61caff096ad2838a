/** The dependencies of the routes of campaigns, segments and reconciliation. */
import type { AuthenticateDeps } from '../../access/request/authenticate.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import type { Answers } from '../../idempotency/answers.ts'
import type { CampaignDeps } from '../deps.ts'
import type { HistoryCursorDeps } from '../history/cursors.ts'

/** `answers` stores the answers to requests with an Idempotency-Key. */
export type CampaignRoutesDeps = AuthenticateDeps & CampaignDeps & ReadDeps & HistoryCursorDeps & { answers: Answers }
