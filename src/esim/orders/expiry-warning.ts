/** Records events for reservations that end in a few minutes (contract/events.md, "Types"). */
import type { Database } from '../../db/database.ts'
import { orderText, orderTextJoins, recordingEvents } from '../../events/event-writing.ts'
import { expiringMinutes } from './lifecycle.ts'

const reportedAtOnce = 1_000

/**
 * Records the events for the next reservations that end soon; it continues where the previous call ended. It skips
 * reservations that are being confirmed or cancelled.
 *
 * @returns whether there may be more
 */
export function reportExpiring(database: Database, now: Date): Promise<boolean> {
  const until = new Date(now.getTime() + expiringMinutes * 60_000)
  return database.transaction(async transaction => {
    // Lock the position first: a statement that marks reservations as expired reads it.
    const [position] = await transaction.query<{ reached: Date }>(
      `select reached from event_positions where name = 'order.expiring' for update skip locked`,
    )
    if (!position) return false
    const [reported] = await transaction.query<{ orders: number }>(expiringStatement, [
      position.reached,
      until,
      reportedAtOnce,
    ])
    return reported?.orders === reportedAtOnce
  })
}

/** Records the events and moves the position. After a sandbox's clock was set back, the position moves back as well. */
const expiringStatement = {
  name: 'esim.tell-expiring',
  text: `
    with due as materialized (
      select reserved_until from orders
      where status = 'reserved' and reserved_until > $1 and reserved_until <= $2 order by reserved_until limit $3
    ), reached as materialized (
      select case when (select count(*) from due) = $3 then (select max(reserved_until) from due) else $2::timestamptz end as reached
    ), expiring as materialized (
      select o.*, o.reserved_until - interval '${expiringMinutes} minutes' as at from orders o
      where status = 'reserved' and bank_id is not null and reserved_until > $1
        and reserved_until <= (select reached from reached) order by reserved_until for update skip locked
    ), texts as (select o.bank_id, o.at, ${orderText(`'reserved'`)} as text from expiring o ${orderTextJoins}
    ), recorded as (${recordingEvents({ type: 'order.expiring', from: 'texts', to: { bank: 'bank_id' }, at: 'at', text: 'text' })}
    ), moved as (
      update event_positions set reached = (select reached from reached)
      where name = 'order.expiring' and reached is distinct from (select reached from reached)
    )
    select count(*)::int as orders from due`,
}
