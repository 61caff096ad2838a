/**
 * Endpoints whose attempts all fail: an event warns after an hour, and the endpoint is disabled after 5 days
 * (contract/webhooks.md, "Failing and disabled").
 */
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { recordEvents } from '../outbox/event-writing.ts'
import type { Endpoint } from './endpoint-store.ts'
import { disable, endpointEvent } from './endpoints.ts'

const warnAfterMs = 3_600_000
const disabledAfterMs = 5 * 86_400_000
/**
 * An endpoint is disabled only after at least this many failed attempts, so that a short outage or a few events are not
 * enough.
 */
const minAttempts = 20

type Failing = Pick<Endpoint, 'endpointId' | 'accountType' | 'accountId'> & { failingSince: Date }

const columns = `endpoint_id as "endpointId", account_type as "accountType", account_id as "accountId", failing_since as "failingSince"`

/** Warns about endpoints and disables them when they have failed for long enough, by the clock that a sandbox can move. */
export async function judgeEndpoints({ database, clock }: { database: Database; clock: Clock }): Promise<false> {
  const now = clock.now()
  await database.transaction(async transaction => {
    const failing = await transaction.query<Failing>(
      `update webhook_endpoints set failing_told = true
       where endpoint_id in (
         select endpoint_id from webhook_endpoints
         where status = 'enabled' and deleted_at is null and not failing_told and failing_since <= $1
         order by endpoint_id for update)
       returning ${columns}`,
      [new Date(now.getTime() - warnAfterMs)],
    )
    await recordEvents(
      transaction,
      failing.map(endpoint =>
        endpointEvent('endpoint.failing', endpoint, { reason: null, failingSince: endpoint.failingSince }, now),
      ),
    )
    const dead = await transaction.query<Failing>(
      `select ${columns} from webhook_endpoints
       where status = 'enabled' and deleted_at is null and failing_since <= $1 and failed_attempts >= $2
       order by endpoint_id for update`,
      [new Date(now.getTime() - disabledAfterMs), minAttempts],
    )
    for (const endpoint of dead) await disable(transaction, endpoint, { reason: 'failing', now })
  })
  return false
}
