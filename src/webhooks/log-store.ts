/** SQL that reads the log of deliveries: each attempt and its outcome. */
import type { Account } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { type DeliveryState, firstIdAt } from './delivery-store.ts'
import { maxPending, pendingOf } from './endpoint-store.ts'
import { begunAt } from './record-and-claim-sql.ts'
import type { Outcome } from './sender.ts'

type AttemptRow = {
  attempt: number
  at: string
  durationMs: number | null
  outcome: Outcome
  statusCode: number | null
  responseExcerpt: string | null
}
export type Delivery = {
  deliveryId: string
  day: string
  endpointId: string
  eventId: string
  sequence: number
  type: string
  replayId: string | null
  state: DeliveryState
  createdAt: Date
  nextAttemptAt: Date | null
  attempts: AttemptRow[]
}

export type DeliverySearch = {
  endpointId?: string | undefined
  state?: DeliveryState | undefined
  types?: readonly string[] | undefined
  eventId?: string | undefined
  replayId?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** The maximum number of deliveries that one request examines when no index covers its filters. */
const maxExamined = 10_000

/**
 * The columns of a delivery with its attempts. `nextAttemptAt` is null for a disabled endpoint, except for tests. An
 * attempt is stored when it ends. If the time reserved for an attempt (the lease) has ended and the attempt is not
 * stored, it is shown as interrupted.
 */
const columns = `
  d.delivery_id as "deliveryId", d.day::text, d.endpoint_id as "endpointId", d.event_id as "eventId", d.sequence, d.type,
  d.replay_id as "replayId", d.state, d.created_at as "createdAt",
  case when d.test_body is not null or exists (select from webhook_endpoints e where e.endpoint_id = d.endpoint_id and e.status = 'enabled')
    then d.next_attempt_at end as "nextAttemptAt", coalesce((
    select json_agg(json_build_object('attempt', attempt, 'at', instant_text(at), 'durationMs', duration_ms, 'outcome', outcome,
      'statusCode', status_code, 'responseExcerpt', response_excerpt) order by attempt)
    from (
      select attempt, at, duration_ms, outcome, status_code, response_excerpt
      from webhook_attempts a where a.delivery_id = d.delivery_id and a.day = d.day
      union all
      select d.attempts, ${begunAt('d.leased_until')}, null, 'interrupted', null, null
      where d.leased_until <= now() and not exists (
        select from webhook_attempts a where a.delivery_id = d.delivery_id and a.day = d.day and a.attempt = d.attempts)
    ) as attempts
  ), '[]') as attempts`

export type DeliveryPage = {
  deliveries: Delivery[]
  /** The id after which the next page begins; null: there are no more deliveries. */
  next: string | null
}

const lookedAt = `
  select * from webhook_deliveries
  where account_type = $1 and account_id = $2
    and ($3::uuid is null or delivery_id < $3) and ($4::uuid is null or endpoint_id = $4) and ($5::uuid is null or event_id = $5)
    and ($6::uuid is null or delivery_id >= $6) and ($7::uuid is null or delivery_id < $7)
    and ($8::text is null or not $11 or state = $8)
  order by delivery_id desc`

/**
 * Reads a page, and examines at most `$12` deliveries for it. `$11` is true when an index covers all filters; each
 * examined delivery is then on the page. `lookedTo` is the id of the last examined delivery, after which the next page
 * begins. It is null when the page is full, or when all deliveries were examined.
 */
const pageText = `
  with found as materialized (
    select * from (${lookedAt} limit $12) as looked
    where ($8::text is null or state = $8) and ($9::text[] is null or type = any($9)) and ($10::uuid is null or replay_id = $10)
    order by delivery_id desc limit $13
  ), ends as materialized (
    select case when (select count(*) from found) < $13 then (
      select delivery_id from (${lookedAt} offset $12 - 1 limit 1) as last) end as "lookedTo"
  )
  select ${columns}, ends.* from ends left join found d on true order by d.delivery_id desc`

/** A page of the account's deliveries, the newest first. @param page.before only deliveries with a lower id */
export async function findDeliveries(
  database: Queryable,
  account: Account,
  search: DeliverySearch,
  page: { before: string | null; limit: number },
): Promise<DeliveryPage> {
  const { endpointId, state, types, eventId, replayId, from, to } = search
  const isIndexed = types === undefined && replayId === undefined && (state === undefined || endpointId !== undefined)
  const rows = await database.query<Delivery & { lookedTo: string | null }>(pageText, [
    account.type,
    account.id,
    page.before,
    endpointId ?? null,
    eventId ?? null,
    from ? firstIdAt(from) : null,
    to ? firstIdAt(to) : null,
    state ?? null,
    types ?? null,
    replayId ?? null,
    isIndexed,
    isIndexed ? page.limit + 1 : maxExamined,
    page.limit + 1,
  ])
  const found = rows.filter(({ deliveryId }) => deliveryId !== null)
  const shown = found.slice(0, page.limit)
  const next = found.length > page.limit ? shown.at(-1)?.deliveryId : isIndexed ? null : rows[0]?.lookedTo
  return { deliveries: shown, next: next ?? null }
}

/** @returns null when the account has no such delivery */
export async function findDelivery(
  database: Queryable,
  account: Account,
  deliveryId: string,
): Promise<Delivery | null> {
  const [delivery] = await database.query<Delivery>(
    `select ${columns} from webhook_deliveries d where account_type = $1 and account_id = $2 and delivery_id = $3`,
    [account.type, account.id, deliveryId],
  )
  return delivery ?? null
}

/**
 * Locks the endpoint of a delivery by writing its row without a change. If the statement that creates deliveries
 * (`handOverText`) has counted the endpoint's deliveries before this write, it sees that the row is newer and creates
 * none.
 */
export async function lockEndpointOf(transaction: Queryable, account: Account, deliveryId: string): Promise<void> {
  await transaction.execute(
    `update webhook_endpoints set version = version where endpoint_id = (
       select endpoint_id from webhook_deliveries where account_type = $1 and account_id = $2 and delivery_id = $3)`,
    [account.type, account.id, deliveryId],
  )
}

/** Whether the endpoint has the maximum number of unfinished deliveries. */
export async function isEndpointFull(transaction: Queryable, endpointId: string): Promise<boolean> {
  const [row] = await transaction.query<{ isFull: boolean }>(`select ${pendingOf('$1')} >= ${maxPending} as "isFull"`, [
    endpointId,
  ])
  return row?.isFull ?? false
}

export type LockedDelivery = {
  endpointId: string
  day: string
  state: DeliveryState
  isTest: boolean
  endpointStatus: string
  isDeleted: boolean
}

export async function lockDelivery(
  transaction: Queryable,
  account: Account,
  deliveryId: string,
): Promise<LockedDelivery | null> {
  const [row] = await transaction.query<LockedDelivery>(
    `select d.endpoint_id as "endpointId", d.day::text, d.state, d.test_body is not null as "isTest", e.status as "endpointStatus", e.deleted_at is not null as "isDeleted"
     from webhook_deliveries d join webhook_endpoints e using (endpoint_id)
     where d.account_type = $1 and d.account_id = $2 and d.delivery_id = $3 for update of d`,
    [account.type, account.id, deliveryId],
  )
  return row ?? null
}

/**
 * Makes a delivery due at once. @param failures the new number of failures, from which the schedule continues; null:
 * unchanged
 */
export async function forceDelivery(
  transaction: Queryable,
  { deliveryId, day, failures }: { deliveryId: string; day: string; failures: number | null },
): Promise<void> {
  await transaction.execute(
    `update webhook_deliveries set state = 'pending', forced = true, next_attempt_at = now(), failures = coalesce($3, failures)
     where delivery_id = $1 and day = $2`,
    [deliveryId, day, failures],
  )
}

export async function skipDelivery(
  transaction: Queryable,
  { deliveryId, day }: { deliveryId: string; day: string },
): Promise<void> {
  await transaction.execute(
    `update webhook_deliveries set state = 'skipped', next_attempt_at = null where delivery_id = $1 and day = $2 and state = 'pending'`,
    [deliveryId, day],
  )
}
