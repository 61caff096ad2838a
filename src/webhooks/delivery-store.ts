/** SQL of deliveries and their attempts: claiming and recording. `hand-over-store.ts` creates deliveries. */
import type { Account } from '../caller.ts'
import { realMs } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { rowList } from '../db/row-list.ts'
import { isServed } from './endpoint-store.ts'
import {
  claimRows,
  doneRows,
  hasOneOnly,
  leaseSeconds,
  recordAndClaimText,
  retryAsked,
} from './record-and-claim-sql.ts'
import type { Outcome } from './sender.ts'

export const deliveryStates = ['pending', 'delivered', 'failed', 'skipped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const minuteMs = 60_000

export const deliveryColumns = `delivery_id, day, account_type, account_id, endpoint_id, event_id, sequence, type, replay_id, state, created_at,
  next_attempt_at`

/** Endpoints with a delivery that is due now. */
export async function findDueEndpoints(database: Queryable): Promise<DueEndpoint[]> {
  return database.query<DueEndpoint>({
    name: 'webhooks.find-due',
    plannedOnce: ['webhook_deliveries'],
    text: `
      select e.endpoint_id as "endpointId", e.account_id as "accountId" from webhook_endpoints e
      where ${isServed('e')} and exists (
        select from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending' and d.test_body is null
          and coalesce(d.leased_until, '-infinity') <= now()
          and (d.forced or d.next_attempt_at <= now() and coalesce(e.probe_at, '-infinity') <= now()))`,
  })
}

export type DueEndpoint = { endpointId: string; accountId: string }

/** A delivery that this process has to attempt now. */
export type Claimed = {
  deliveryId: string
  day: string
  endpointId: string
  url: string
  /** The endpoint's version. It changes when the secrets change. */
  version: number
  /** Whether the endpoint gets one request at a time: it is serial, or it is being probed. */
  oneOnly: boolean
  eventId: string
  attempt: number
  /** Whether somebody asked for this attempt. Such an attempt does not wait for its scheduled time. */
  wasForced: boolean
  failures: number
  body: string | null
  recordedAt: Date | null
}

/** An endpoint for which deliveries are claimed. */
export type ClaimRequest = {
  endpointId: string
  /** How many to claim at most. */
  max: number
  /**
   * How many deliveries of the endpoint this process has claimed and not finished. The deliveries that the same call of
   * `recordAndClaim` records are not counted.
   */
  held: number
}

/** An attempt that has ended. */
export type Recorded = {
  deliveryId: string
  day: string
  attempt: number
  /** When it began. */
  at: Date
  outcome: Outcome
  durationMs: number
  statusCode: number | null
  responseExcerpt: string | null
}

/** An attempt that was answered with 2xx. */
export type Delivered = Omit<Recorded, 'outcome'> & { endpointId: string }

/**
 * Records accepted deliveries, and claims the next deliveries for the duration of one attempt each. Both happen in one
 * statement and so with one commit. One statement for each delivery would be too slow for a fast receiver.
 *
 * The commit does not wait for the disk. If the database crashes, the deliveries recorded just before are sent again.
 * The same happens when a process is killed after it received a 2xx and before it recorded the 2xx.
 *
 * @param params.delivered accepted deliveries of any endpoints
 * @param params.early whether to also claim deliveries that are not due yet
 * @param params.but ids of deliveries that are not claimed
 * @returns the claimed deliveries in the order of their sequences
 */
export function recordAndClaim(
  database: Queryable,
  params: {
    delivered: readonly Delivered[]
    claims: readonly ClaimRequest[]
    early?: boolean
    but?: readonly string[]
  },
): Promise<Claimed[]> {
  const { delivered, claims, early = false, but = [] } = params
  const statement = {
    name: 'webhooks.record-and-claim',
    plannedOnce: ['webhook_deliveries', 'webhook_attempts', 'events'],
    text: recordAndClaimText,
  }
  return database.query<Claimed>(statement, [
    ...doneRows.values(delivered),
    ...claimRows.values(claims),
    [...new Set(delivered.map(({ endpointId }) => endpointId))],
    early,
    but,
  ])
}

const givenBackRows = rowList(1, { deliveryId: 'uuid', day: 'date', attempt: 'int', wasForced: 'boolean' })

/** Gives back claimed deliveries whose attempts have not begun. */
export async function giveBack(database: Queryable, claimed: readonly Claimed[]): Promise<void> {
  await database.execute(
    {
      name: 'webhooks.give-back',
      text: `
        update webhook_deliveries w set leased_until = null, attempts = w.attempts - 1, forced = w.forced or d.was_forced
        from ${givenBackRows.from('d')}
        where w.delivery_id = d.delivery_id and w.day = d.day and w.day = any(${givenBackRows.array('day')}) and w.attempts = d.attempt`,
    },
    givenBackRows.values(claimed),
  )
}

/** Records the outcome of an attempt. @returns false when the delivery ended meanwhile, or another attempt has begun */
export async function recordAttempt(
  transaction: Queryable,
  recorded: Recorded,
  next: { state: DeliveryState; waitMs: number | null; failures: number },
): Promise<boolean> {
  const { deliveryId, day, attempt, at, outcome, durationMs, statusCode, responseExcerpt } = recorded
  await transaction.execute(
    {
      name: 'webhooks.record-attempt',
      text: `
        insert into webhook_attempts (delivery_id, day, attempt, at, outcome, duration_ms, status_code, response_excerpt)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (delivery_id, attempt, day) do update set outcome = excluded.outcome, duration_ms = excluded.duration_ms,
          status_code = excluded.status_code, response_excerpt = excluded.response_excerpt`,
    },
    [deliveryId, day, attempt, at, outcome, durationMs, statusCode, responseExcerpt],
  )
  const moved = await transaction.execute(
    {
      name: 'webhooks.record-delivery',
      text: `
        update webhook_deliveries set failures = $5, leased_until = null,
          state = case when ${retryAsked} then 'pending' else $4 end,
          next_attempt_at = case when $4 = 'pending' or ${retryAsked} then now() + coalesce($6::float8, 0) * interval '1 millisecond' end
        where delivery_id = $1 and day = $2 and attempts = $3 and (state = 'pending' or state = 'skipped' and $4 = 'delivered')`,
    },
    [deliveryId, day, attempt, next.state, next.failures, next.waitMs],
  )
  return moved === 1
}

export type Health = {
  status: string
  failedInRow: number
  probes: number
}

export async function lockHealth(transaction: Queryable, endpointId: string): Promise<Health | null> {
  const [health] = await transaction.query<Health>(
    {
      name: 'webhooks.lock-health',
      text: `select status, failed_in_row as "failedInRow", probes from webhook_endpoints where endpoint_id = $1 for update`,
    },
    [endpointId],
  )
  return health ?? null
}

/**
 * Records a failure of an endpoint. While a probe is planned (`probe_at` is in the future), no attempt begins
 * automatically. A failure can then come from an attempt that began earlier, from a client's `retry`, or from
 * `deliverWaiting` in a sandbox. Such failures are counted, but the planned probe keeps its time.
 *
 * @param probeMs the time until the next probe; null: the endpoint is not probed
 */
export async function noteFailure(
  transaction: Queryable,
  { endpointId, now, probeMs }: { endpointId: string; now: Date; probeMs: number | null },
): Promise<void> {
  await transaction.execute(
    {
      name: 'webhooks.note-failure',
      text: `
        update webhook_endpoints set last_failure_at = now(), failing_since = coalesce(failing_since, $2),
          failed_attempts = failed_attempts + 1, failed_in_row = failed_in_row + 1,
          probe_at = case when probe_at > now() then probe_at else now() + $3::float8 * interval '1 millisecond' end,
          probes = case when probe_at > now() then probes when $3::float8 is null then 0 else probes + 1 end
        where endpoint_id = $1`,
    },
    [endpointId, now, probeMs],
  )
}

/** The lowest id that can be made at an instant. Ids begin with the time of their creation. */
export function firstIdAt(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

export type TestDelivery = {
  deliveryId: string
  account: Account
  endpointId: string
  eventId: string
  type: string
  body: string
}

/** Creates the delivery of a test with its first attempt already running. */
export async function insertTest(transaction: Queryable, params: Omit<TestDelivery, 'deliveryId'>): Promise<Claimed> {
  const [row] = await transaction.query<Claimed>(
    `with made as (
       insert into webhook_deliveries (${deliveryColumns}, leased_until, attempts, test_body)
       select uuid_at(now()), (now() at time zone 'UTC')::date, $1, $2, $3, $4, 0, $5, null, 'pending', now(), now(),
              now() + interval '${leaseSeconds} seconds', 1, $6 returning *
     )
     select m.delivery_id as "deliveryId", m.day::text, m.endpoint_id as "endpointId", e.url, e.version, m.event_id as "eventId",
       1 as attempt, 0 as failures, false as "wasForced", m.test_body as body, null as "recordedAt"
     from made m join webhook_endpoints e using (endpoint_id)`,
    [params.account.type, params.account.id, params.endpointId, params.eventId, params.type, params.body],
  )
  if (!row) throw new Error('A test was not written down')
  return row
}

/**
 * Counts the tests of the last minute.
 * @returns the tests of one endpoint, and the tests of all the account's endpoints, including deleted ones
 */
export async function countTests(
  transaction: Queryable,
  { type, id }: Account,
  endpointId: string,
): Promise<{ ofEndpoint: number; ofAccount: number }> {
  const [row] = await transaction.query<{ ofEndpoint: number; ofAccount: number }>(
    `select count(*) filter (where endpoint_id = $3)::int as "ofEndpoint", count(*)::int as "ofAccount" from webhook_deliveries
     where account_type = $1 and account_id = $2 and test_body is not null
       and created_at > now() - interval '1 minute' and delivery_id >= $4`,
    [type, id, endpointId, firstIdAt(new Date(Math.floor(realMs()) - minuteMs))],
  )
  return row ?? { ofEndpoint: 0, ofAccount: 0 }
}

/** Ends the tests whose process was killed; they are not attempted again. */
export async function endLostTests(database: Queryable): Promise<void> {
  await database.execute(
    `update webhook_deliveries set state = 'failed', next_attempt_at = null
     where state = 'pending' and test_body is not null and leased_until < now()`,
  )
}

/** Endpoints with pending deliveries whose attempts may begin. */
export async function findPendingEndpoints(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select e.endpoint_id as id from webhook_endpoints e where ${isServed('e')} and exists (
       select from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending' and d.test_body is null)`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Whether a pending delivery, due or not, may be claimed soon. Call it when `recordAndClaim` has just claimed none:
 * another statement may have locked the endpoint, or it has the maximum number of running requests. The result is false
 * for an endpoint that gets one request at a time and has a running request.
 *
 * @param but ids of deliveries to ignore
 */
export async function hasWaiting(database: Queryable, endpointId: string, but: readonly string[]): Promise<boolean> {
  const [row] = await database.query<{ hasWaiting: boolean }>(
    `select bool_or(not is_leased and not delivery_id = any($2::uuid[])) and not (${hasOneOnly('e')} and bool_or(is_leased)) as "hasWaiting"
     from webhook_endpoints e cross join lateral (
       select delivery_id, coalesce(leased_until, '-infinity') > now() as is_leased from webhook_deliveries d
       where d.endpoint_id = e.endpoint_id and d.state = 'pending' and d.test_body is null) as d
     where e.endpoint_id = $1 and ${isServed('e')} group by e.endpoint_id`,
    [endpointId, but],
  )
  return row?.hasWaiting ?? false
}

/** Whether an endpoint gets one request at a time, because it is serial or being probed. */
export async function isOneOnly(database: Queryable, endpointId: string): Promise<boolean> {
  const [row] = await database.query<{ oneOnly: boolean }>(
    `select ${hasOneOnly('e')} as "oneOnly" from webhook_endpoints e where endpoint_id = $1`,
    [endpointId],
  )
  return row?.oneOnly ?? true
}
