/** The statement of `recordAndClaim` (delivery-store.ts), in parts. The parts are `with` queries. */
import { rowList } from '../db/row-list.ts'
import { isServed } from './endpoint-store.ts'
import { failuresOfRetry, probedFrom } from './schedule.ts'

export const leaseSeconds = 30
/** The maximum number of concurrent requests to one endpoint, over all processes. */
export const maxAtOnce = 10

/** SQL: whether the endpoint `e` gets one request at a time, because it is serial or being probed. */
export const hasOneOnly = (e: string): string =>
  `(${e}.delivery_order = 'serial' or ${e}.failed_in_row >= ${probedFrom})`

/** A success clears everything that failures have set. */
const succeeded = `last_success_at = now(), failing_since = null, failing_told = false, failed_attempts = 0, failed_in_row = 0,
  probe_at = null, probes = 0`

/**
 * SQL: whether somebody asked for a retry while the attempt was running. The retry follows this attempt, even after a
 * success. If this attempt was the last one of the schedule, the retry is one more.
 */
export const retryAsked = `(forced and state = 'pending')`

/** SQL for when an interrupted attempt began: the time when its lease was taken. */
export const begunAt = (leasedUntil: string): string => `${leasedUntil} - interval '${leaseSeconds} seconds'`

export const doneRows = rowList(1, {
  deliveryId: 'uuid',
  day: 'date',
  attempt: 'int',
  at: 'timestamptz',
  durationMs: 'int',
  statusCode: 'int',
  responseExcerpt: 'text',
})
export const claimRows = rowList(doneRows.next, { endpointId: 'uuid', max: 'int', held: 'int' })
/**
 * The SQL parameters after `doneRows` and `claimRows`: the endpoints of the accepted deliveries, and `early` and `but`
 * of `recordAndClaim`.
 */
const [ofDone, isEarly, excepted] = [0, 1, 2].map(n => `$${claimRows.next + n}`)

/**
 * Switches off the wait for the disk (`synchronous_commit`). PostgreSQL runs this query only because `done` and `facts`
 * read its result (`holds`).
 */
const unsynced = `unsynced as materialized (select set_config('synchronous_commit', 'off', true) = 'off' as holds)`

/**
 * Records successes. It waits for the locks of the endpoints. All statements that wait for such locks take them in the
 * order of the ids, to prevent deadlocks. `(select count(*) from locked) >= 0` is always true: it only makes a `with`
 * query wait for the locks.
 */
const recorded = `
  done as materialized (
    select * from ${doneRows.from('d')} where (select holds from unsynced)
  ), locked as materialized (
    select *, xmin as written_by from webhook_endpoints where endpoint_id = any(${ofDone}::uuid[]) order by endpoint_id for update
  ), succeeded as (
    update webhook_endpoints set ${succeeded} where endpoint_id in (select endpoint_id from locked)
  ), attempted as (
    insert into webhook_attempts (delivery_id, day, attempt, at, outcome, duration_ms, status_code, response_excerpt)
    select delivery_id, day, attempt, at, 'delivered', duration_ms, status_code, response_excerpt
    from done where (select count(*) from locked) >= 0
    on conflict (delivery_id, attempt, day) do update set outcome = excluded.outcome, duration_ms = excluded.duration_ms,
      status_code = excluded.status_code, response_excerpt = excluded.response_excerpt
  ), ended as (
    update webhook_deliveries w set leased_until = null,
      state = case when ${retryAsked} then 'pending' else 'delivered' end,
      next_attempt_at = case when ${retryAsked} then now() end,
      failures = case when ${retryAsked} then ${failuresOfRetry} else failures end
    from done d where w.delivery_id = d.delivery_id and w.day = d.day and w.day = any(${doneRows.array('day')}) and w.attempts = d.attempt
      and w.state in ('pending', 'skipped') and (select count(*) from locked) >= 0
    returning w.delivery_id
  )`

/** Locks the endpoints for which deliveries are only claimed, but skips those that another transaction has locked. */
const freeEndpoints = `
  free as materialized (
    select *, xmin as written_by from webhook_endpoints where endpoint_id = any(${claimRows.array('endpointId')}) and not endpoint_id = any(${ofDone})
      and (select count(*) from locked) >= 0 for update skip locked
  )`

/**
 * The values that decide how many deliveries are claimed for each endpoint. `under_way` counts the deliveries of the
 * endpoint that any process has claimed and not finished. If other processes have claimed some of them, all processes
 * together may have at most ten.
 *
 * The statement does not see claims that other statements have made since it began. So each claim also writes the
 * endpoint's row: in `succeeded`, or else in `marked`, which changes no value (`set version = version`). If the locked
 * row is newer than the row that the statement sees (`written_by` differs), the statement claims nothing for this
 * endpoint.
 */
const facts = `
  facts as materialized (
    select e.endpoint_id, e.url, e.version, e.probe_at, ${hasOneOnly('e')} as one_only,
      a.max, a.held, w.under_way
    from ${claimRows.from('a')} cross join lateral (
      select * from (select * from locked union all select * from free) as mine
      where endpoint_id = a.endpoint_id and ${isServed('mine')} and written_by = (
        select xmin from webhook_endpoints seen where seen.endpoint_id = a.endpoint_id)) as e cross join lateral (
      select count(*) as under_way from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending'
        and d.leased_until > now() and not d.delivery_id in (select delivery_id from ended)) as w
    where (select holds from unsynced)
  )`

/**
 * The next deliveries of each endpoint. If an endpoint gets one request at a time (`one_only`), this is its oldest
 * delivery, and only while no request is running.
 */
const chosen = `
  chosen as materialized (
    select d.*, e.url, e.version, e.one_only from facts e cross join lateral (
      select d.delivery_id, d.day, d.attempts, d.leased_until, d.forced from webhook_deliveries d
      where d.endpoint_id = e.endpoint_id and d.state = 'pending' and d.test_body is null and coalesce(d.leased_until, '-infinity') <= now()
        and (d.forced or (${isEarly} or d.next_attempt_at <= now() and coalesce(e.probe_at, '-infinity') <= now())
          and (not e.one_only or e.under_way = 0 and d.delivery_id = (
            select o.delivery_id from webhook_deliveries o
            where o.endpoint_id = e.endpoint_id and o.state = 'pending' and o.test_body is null
              and not o.delivery_id in (select delivery_id from ended)
            order by o.sequence, o.delivery_id limit 1)))
        and not d.delivery_id in (select delivery_id from ended) and not d.delivery_id = any(${excepted}::uuid[])
      order by d.sequence, d.delivery_id
      limit greatest(0, least(e.max, case when e.under_way = e.held then e.max else ${maxAtOnce} - e.under_way end))
    ) as d
  )`

/**
 * Takes the leases. If a delivery's previous lease has ended, its attempt is recorded as interrupted. `state || ''` is
 * an expression, so the planner cannot use the index of pending deliveries and finds the rows by their ids.
 */
const claimed = `
  interrupted as (
    insert into webhook_attempts (delivery_id, day, attempt, at, outcome)
    select delivery_id, day, attempts, ${begunAt('leased_until')}, 'interrupted' from chosen where leased_until is not null
    on conflict (delivery_id, attempt, day) do nothing
  ), claimed as (
    update webhook_deliveries d set leased_until = now() + interval '${leaseSeconds} seconds', attempts = d.attempts + 1, forced = false
    from chosen c where d.delivery_id = c.delivery_id and d.day = c.day and d.attempts = c.attempts and d.state || '' = 'pending'
    returning d.*, c.url, c.version, c.one_only, c.forced as was_forced
  ), marked as (
    update webhook_endpoints set version = version where endpoint_id in (
      select endpoint_id from free where endpoint_id in (select endpoint_id from claimed))
  )`

/**
 * Records successes and claims the next deliveries. Parameters: `doneRows`, `claimRows`, and then `ofDone`, `isEarly`
 * and `excepted`.
 */
export const recordAndClaimText = `
  with ${[unsynced, recorded, freeEndpoints, facts, chosen, claimed].join(', ')}
  select c.delivery_id as "deliveryId", c.day::text, c.endpoint_id as "endpointId", c.url, c.version, c.one_only as "oneOnly",
    c.event_id as "eventId", c.attempts as attempt, c.was_forced as "wasForced", c.failures, v.body, v.recorded_at as "recordedAt"
  from claimed c left join events v on v.event_id = c.event_id
    and v.day = (to_timestamp(('x' || substr(replace(c.event_id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) at time zone 'UTC')::date
  order by c.sequence`
