/** All SQL of what was sold in a time. */
import type { Queryable } from '../db/database.ts'
import { reservationMinutes } from '../esim/lifecycle.ts'
import { firstOrderId } from '../esim/order-id.ts'

export type SalesRow = {
  /** Which of the spans, from 0. */
  span: number
  operatorCode: string
  tariffCode: string
  currency: string
  confirmed: number
  cancelled: number
  expired: number
  /** Of the confirmed orders; decimal text. */
  amount: string
}

/**
 * A bank's orders that came to their end in each of the spans between `bounds`: confirmed, cancelled, or expired by now.
 *
 * @param bounds in the order of time; n spans have n + 1
 */
export function countSales(
  database: Queryable,
  given: { bankId: string; bounds: readonly Date[]; now: Date },
): Promise<SalesRow[]> {
  const { bankId, bounds, now } = given
  const [first = now, last = now] = [bounds[0], bounds.at(-1)]
  // What ends in a span was made in it or shortly before; an order's id begins with the instant at which it was made.
  const madeFrom = new Date(first.getTime() - reservationMinutes * 60_000)
  return database.query<SalesRow>(
    `with ended as (
       select width_bucket(coalesce(confirmed_at, cancelled_at, reserved_until), $2::timestamptz[]) - 1 as span, tariff_id, currency,
              count(*) filter (where status = 'confirmed')::int as confirmed,
              count(*) filter (where status = 'cancelled')::int as cancelled,
              count(*) filter (where status in ('expired', 'reserved'))::int as expired,
              coalesce(sum(price) filter (where status = 'confirmed'), 0)::text as amount
       from orders
       where bank_id = $1 and order_id >= $3 and order_id < $4
         and (status in ('confirmed', 'cancelled', 'expired') or status = 'reserved' and reserved_until <= $5)
       group by 1, tariff_id, currency
     )
     select span, m.code as "operatorCode", t.code as "tariffCode", e.currency, confirmed, cancelled, expired, amount
     from ended e join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id)
     where span between 0 and cardinality($2::timestamptz[]) - 2
     order by span, mobile_operator_id, t.position, e.currency`,
    [bankId, bounds, firstOrderId(madeFrom), firstOrderId(last), now],
  )
}
