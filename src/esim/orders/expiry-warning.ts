/** Records events for reservations that end in a few minutes (contract/events.md, "Types"). */
import type { Database } from '../../db/database.ts'
import { orderText, orderTextJoins, recordingEvents } from '../../outbox/event-writing.ts'
import { expiringMinutes } from './lifecycle.ts'

const reportedAtOnce = 1_000

/**
 * Records the events for the next reservations that end soon; it continues where the previous call ended. A reservation
 * that is being confirmed or cancelled is left to the next call, because this change may still be rolled back.
 *
 * @returns whether a further call may find more reservations
 */
export function reportExpiring(database: Database, now: Date): Promise<boolean> {
  const until = new Date(now.getTime() + expiringMinutes * 60_000)
  return database.transaction(async transaction => {
    // Statements that mark reservations as expired read the position under a shared lock, so they wait for this lock.
    // If another transaction has locked the position, a later call does the work.
    const [position] = await transaction.query<{ reached: Date }>(
      `select reached from event_positions where name = 'order.expiring' for update skip locked`,
    )
    if (!position) return false
    const [reported] = await transaction.query<{ orders: number }>(expiringStatement, [
      position.reached,
      until,
      reportedAtOnce,
    ])
    return reported !== undefined && reported.orders >= reportedAtOnce
  })
}

/**
 * Records the events of the reservations that end after the stored position ($1), up to `until` ($2). Then it moves the
 * position to the end of the last of these reservations, or to `until` if no more follow. If a sandbox's clock was set
 * back, the position moves back, too.
 *
 * If another transaction has locked a reservation (`held`), the position stops one millisecond before the end of the
 * first such reservation. Later reservations wait for the next call. Reservations end at whole milliseconds, so none is
 * skipped.
 */
const expiringStatement = {
  name: 'esim.tell-expiring',
  text: `
    with due as materialized (
      select order_id, reserved_until from orders
      where status = 'reserved' and reserved_until > $1 and reserved_until <= $2
      order by reserved_until fetch first ($3) rows with ties
    ), locked as materialized (
      select o.*, o.reserved_until - interval '${expiringMinutes} minutes' as at from orders o
      where status = 'reserved' and reserved_until > $1 and reserved_until <= (select max(reserved_until) from due)
      order by reserved_until for update skip locked
    ), held as materialized (
      -- EXCEPT instead of NOT EXISTS: for NOT EXISTS with old statistics, PostgreSQL would compare each row with every
      -- other row. That takes too long when 50,000 reservations end at one instant.
      select min(reserved_until) as first
      from (select order_id, reserved_until from due except select order_id, reserved_until from locked) as skipped
    ), reached as materialized (
      select case when held.first is not null then held.first - interval '1 millisecond'
        when (select count(*) from due) >= $3 then (select max(reserved_until) from due)
        else $2::timestamptz end as reached
      from held
    ), expiring as (
      select * from locked where bank_id is not null and reserved_until <= (select reached from reached)
    ), texts as (select o.bank_id, o.at, ${orderText(`'reserved'`)} as text from expiring o ${orderTextJoins}
    ), recorded as (${recordingEvents({ type: 'order.expiring', from: 'texts', to: { bank: 'bank_id' }, at: 'at', text: 'text' })}
    ), moved as (
      update event_positions set reached = (select reached from reached)
      where name = 'order.expiring' and reached is distinct from (select reached from reached)
    )
    select count(*)::int as orders from due where reserved_until <= (select reached from reached)`,
}
