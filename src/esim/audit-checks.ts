/** What must hold of all orders and profiles, each as a query that finds what breaks it. */
import { type Check, listed } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { orderStatuses } from './lifecycle.ts'
import { deliveryModes, mailStates } from './store.ts'

export type StateCount = {
  operatorCode: string
  tariffCode: string
  profiles: number
  free: number
  reserved: number
  sold: number
  withdrawn: number
}

/** An order that keeps others from its profile; a reservation that is over does so until it is marked. */
const isLive = `status in ('reserved', 'confirmed', 'withdrawn')`

/**
 * Every tariff with its profiles, each looked at by itself: whether a live order names it, and which. A profile on two of them counts
 * twice, one that is lost not at all.
 */
export function countProfileByProfile(database: Queryable, now: Date): Promise<StateCount[]> {
  return database.query(
    `with seen as (
       select p.tariff_id, p.profile_id, o.status
       from profiles p
       left join orders o on o.profile_id = p.profile_id and ${isLive} and (o.status <> 'reserved' or o.reserved_until > $1)
     ), counted as (
       select tariff_id, count(*) filter (where status is null) as free, count(*) filter (where status = 'reserved') as reserved,
              count(*) filter (where status = 'confirmed') as sold, count(*) filter (where status = 'withdrawn') as withdrawn
       from seen group by tariff_id
     ), loaded as (
       select tariff_id, count(*) as profiles from profiles group by tariff_id
     )
     select m.code as "operatorCode", t.code as "tariffCode", coalesce(profiles, 0) as profiles, coalesce(free, 0) as free,
            coalesce(reserved, 0) as reserved, coalesce(sold, 0) as sold, coalesce(withdrawn, 0) as withdrawn
     from tariffs t join mobile_operators m using (mobile_operator_id)
     left join loaded using (tariff_id) left join counted using (tariff_id)
     order by mobile_operator_id, t.position, tariff_id`,
    [now],
  )
}

export const auditChecks: readonly Check[] = [
  {
    code: 'live-orders',
    name: 'no profile is on two live orders',
    holds: 'each reserved, sold or withdrawn profile is named by one live order',
    faults: `
      select 'profile ' || profile_id || ' is on the live orders ' || string_agg(order_id::text, ', ' order by order_id) as fault
      from orders where ${isLive} group by profile_id having count(*) > 1`,
  },
  {
    code: 'order-references',
    name: 'every order names a bank, a tariff and a profile that exist',
    holds: 'and the profile belongs to that tariff',
    faults: `
      select 'order ' || o.order_id || case
        when o.bank_id is not null and b.bank_id is null then ' names a bank that does not exist'
        when t.tariff_id is null then ' names a tariff that does not exist'
        when p.profile_id is null then ' names a profile that does not exist'
        else ' is of another tariff than its profile' end as fault
      from orders o left join banks b using (bank_id) left join tariffs t on t.tariff_id = o.tariff_id
      left join profiles p on p.profile_id = o.profile_id
      where (o.bank_id is not null and b.bank_id is null) or t.tariff_id is null or p.profile_id is null
         or p.tariff_id <> o.tariff_id`,
  },
  {
    code: 'order-states',
    name: 'no state is outside the tables',
    holds: `orders are ${[...orderStatuses].join(', ')}, or withdrawn by the operator`,
    faults: `
      select 'order ' || order_id || ' has the status ' || status as fault
      from orders where status not in (${listed([...orderStatuses, 'withdrawn'])})
      union all
      select 'order ' || order_id || ' has the delivery mode ' || delivery_mode
      from orders where delivery_mode not in (${listed(deliveryModes)})
      union all
      select 'order ' || order_id || ' has the mail state ' || mail from orders where mail not in (${listed(mailStates)})`,
  },
  {
    code: 'order-values',
    name: 'every order has what its status asks for',
    holds: 'bank, externalId, times and delivery mode fit the status',
    faults: `
      select 'order ' || order_id || ' is ' || status || ', but ' || case
        when (status = 'confirmed') <> (confirmed_at is not null) then 'the time of its confirmation does not fit'
        when (status = 'confirmed') <> (delivery_mode is not null) then 'its delivery mode does not fit'
        when (status = 'cancelled') <> (cancelled_at is not null) then 'the time of its cancellation does not fit'
        when coalesce(confirmed_at, cancelled_at) >= reserved_until then 'it was so only after its reservation was over'
        when mail is not null and status <> 'confirmed' then 'an e-mail went out for it'
        else 'its bank and externalId do not fit' end as fault
      from orders
      where (status = 'confirmed') <> (confirmed_at is not null) or (status = 'confirmed') <> (delivery_mode is not null)
         or (status = 'cancelled') <> (cancelled_at is not null) or coalesce(confirmed_at, cancelled_at) >= reserved_until
         or (mail is not null and status <> 'confirmed')
         or (status = 'withdrawn') <> (bank_id is null) or (bank_id is null) <> (external_id is null)`,
  },
  {
    code: 'external-ids',
    name: 'no externalId of a bank has two orders',
    holds: 'a repeated request can always be answered with its one order',
    faults: `
      select 'the orders ' || string_agg(order_id::text, ', ' order by order_id) || ' have the same bank and externalId' as fault
      from orders where bank_id is not null group by bank_id, external_id having count(*) > 1`,
  },
  {
    code: 'lost-profiles',
    name: 'no free profile is lost for sale',
    holds: 'each is ahead of the place up to which its tariff was handed out, or noted as given back',
    faults: `
      select 'profile ' || p.profile_id || ' of ' || m.code || '/' || t.code || ' is free, but no sale finds it' as fault
      from profiles p join stock_positions s using (tariff_id) join tariffs t using (tariff_id)
      join mobile_operators m using (mobile_operator_id)
      where p.profile_id <= s.taken_up_to
        and not exists (select from orders o where o.profile_id = p.profile_id and o.${isLive})
        and not exists (select from returned_profiles r where r.profile_id = p.profile_id and r.tariff_id = p.tariff_id)`,
  },
  {
    code: 'returned-profiles',
    name: 'every profile that was given back is one of its tariff',
    holds: 'nothing is noted as given back that is not in stock',
    faults: `
      select 'profile ' || r.profile_id || ' was given back, but ' ||
        case when p.profile_id is null then 'is not in stock' else 'belongs to another tariff' end as fault
      from returned_profiles r left join profiles p using (profile_id)
      where p.profile_id is null or p.tariff_id <> r.tariff_id`,
  },
]
