/** What the routes of campaigns, segments and reconciliation work with. */
import type { AuthenticateDeps } from '../../access/request/authenticate.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import type { Answers } from '../../idempotency/answers.ts'
import type { CampaignDeps } from '../deps.ts'

/** `answers`: those that are kept for an Idempotency-Key. */
export type CampaignRoutesDeps = AuthenticateDeps & CampaignDeps & ReadDeps & { answers: Answers }
