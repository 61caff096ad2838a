/** The rules that all orders and profiles must keep, and the statements that find violations. */
import { type Check, listed, type Read, type Step, type Walk, type Within, walkOver } from '../../db/check.ts'
import { deliveryModes } from '../../partners/delivery-modes.ts'
import { holdsProfile, orderStatuses } from '../orders/lifecycle.ts'
import { mailStates } from '../orders/mail-state.ts'

export const booksCheck: Check = {
  code: 'profile-states',
  name: 'every profile is either free, reserved, sold or withdrawn',
  holds:
    '{profiles} profiles of {tariffs} tariffs are {free} free, {reserved} reserved, {sold} sold and {withdrawn} withdrawn',
  params: ['profiles', 'tariffs', 'free', 'reserved', 'sold', 'withdrawn'],
}

export const auditChecks: readonly Check[] = [
  {
    code: 'live-orders',
    name: 'no profile is on two live orders',
    holds: 'each reserved, sold or withdrawn profile is named by one live order',
  },
  {
    code: 'order-references',
    name: 'every order names a bank, a tariff and a profile that exist',
    holds: 'and the profile belongs to that tariff',
  },
  {
    code: 'order-states',
    name: 'every order has a known status',
    holds: `orders are ${[...orderStatuses].join(', ')}, or withdrawn by the operator`,
  },
  {
    code: 'order-values',
    name: 'every order has the data that its status requires',
    holds: 'bank, externalId, times and delivery mode fit the status',
  },
  {
    code: 'external-ids',
    name: 'no externalId of a bank has two orders',
    holds: 'a repeated request can always be answered with its one order',
  },
  {
    code: 'lost-profiles',
    name: 'every free profile can be sold',
    holds: 'each is above the position of its tariff, or in the list of returned profiles',
  },
  {
    code: 'returned-profiles',
    name: 'every returned profile belongs to its tariff',
    holds: 'the list of returned profiles contains only profiles in stock',
  },
  {
    code: 'activation-codes',
    name: 'no activation code can be sold twice',
    holds: 'of two profiles with the same one, at least one is withdrawn, or both were sold before codes were compared',
  },
]

/**
 * The audit's steps over orders and profiles. The walk over orders and the walk over profiles together prove that
 * profiles = free + reserved + sold + withdrawn: each live order holds a profile of its own tariff, and each profile is
 * held by at most one live order.
 *
 * @param now the instant that decides which reservations are over
 * @param more further statements over the same ranges of orders
 */
export function orderSteps(now: Date, more: (within: Within) => readonly Read[]): Step[] {
  const at = `'${now.toISOString()}'::timestamptz`
  return [tariffs, orders(at, more), profiles(at), externalIds, returned, repeatedCodes].map(walkOver)
}

const tariffs: Walk = {
  name: 'tariffs',
  table: 'tariffs',
  key: [['tariff_id', 'int']],
  rows: 20_000,
  reads: within => [
    {
      of: 'tariffs',
      from: `tariffs where ${within('tariff_id')}`,
      rules: [],
      counts: { [booksCheck.code]: { tariffs: 'count(*)' } },
    },
  ],
}

/**
 * Checks orders by ascending id, which is also by time. It looks up only the profiles of cancelled and expired orders,
 * because the walk over profiles checks the profiles of live orders.
 */
const orders = (now: string, more: (within: Within) => readonly Read[]): Walk => ({
  name: 'orders',
  table: 'orders',
  key: [['order_id', 'uuid']],
  rows: 20_000,
  reads: within => [
    {
      of: 'orders',
      from: `orders o left join banks b using (bank_id) left join tariffs t on t.tariff_id = o.tariff_id
        left join (
          select profile_id, tariff_id from profiles
          where profile_id = any (array(select profile_id from orders where not (${holdsProfile}) and ${within('order_id')}))
        ) p on p.profile_id = o.profile_id
        where ${within('o.order_id')}`,
      rules: [references, ...states, values],
      counts: {
        [booksCheck.code]: {
          // The walk over profiles counts each profile as free, so each live order subtracts one from this count.
          free: `-count(*) filter (where o.${holdsProfile} and (o.status <> 'reserved' or o.reserved_until > ${now}))`,
          reserved: `count(*) filter (where o.status = 'reserved' and o.reserved_until > ${now})`,
          sold: `count(*) filter (where o.status = 'confirmed')`,
          withdrawn: `count(*) filter (where o.status = 'withdrawn')`,
        },
      },
    },
    ...more(within),
  ],
})

const profileFits = `case when p.profile_id is null then ' names a profile that does not exist'
  else ' is of another tariff than its profile' end`

const references = {
  code: 'order-references',
  broken: `(o.bank_id is not null and b.bank_id is null) or t.tariff_id is null
    or (not (o.${holdsProfile}) and p.tariff_id is distinct from o.tariff_id)`,
  text: `'order ' || o.order_id || case
    when o.bank_id is not null and b.bank_id is null then ' names a bank that does not exist'
    when t.tariff_id is null then ' names a tariff that does not exist'
    else ${profileFits} end`,
}

/**
 * SQL condition: a live order has another tariff than its profile `p`, or `p` is missing. `l` has the lowest and the
 * highest tariff of the profile's live orders.
 */
const ofOtherTariff = 'p.tariff_id is distinct from l.first_tariff or p.tariff_id is distinct from l.last_tariff'
const otherTariffRules = (now: string) => {
  const others = `from orders o where o.profile_id = l.profile_id and o.${holdsProfile} and p.tariff_id is distinct from o.tariff_id`
  const counted = `(o.status <> 'reserved' or o.reserved_until > ${now})`
  // An order whose tariff does not exist is left out here, because `references` reports it.
  const ofTariff = 'exists (select from tariffs t where t.tariff_id = o.tariff_id)'
  return [
    {
      code: 'order-references',
      broken: `l.orders > 0 and (${ofOtherTariff}) and exists (select ${others} and ${ofTariff})`,
      text: `(select string_agg('order ' || o.order_id || ${profileFits}, '; ' order by o.order_id) ${others} and ${ofTariff})`,
    },
    {
      code: booksCheck.code,
      broken: `l.orders > 0 and (${ofOtherTariff}) and exists (select ${others} and ${counted})`,
      text: `(select string_agg('order ' || o.order_id || ' is ' || o.status || ' in the tariff ' || o.tariff_id || ', its profile is ' ||
        coalesce('in the tariff ' || p.tariff_id, 'not in stock'), '; ' order by o.order_id) ${others} and ${counted})`,
    },
  ]
}

const stateRule = (column: string, what: string, words: readonly string[]) => ({
  code: 'order-states',
  broken: `o.${column} not in (${listed(words)})`,
  text: `'order ' || o.order_id || ' has the ${what} ' || o.${column}`,
})
const states = [
  stateRule('status', 'status', [...orderStatuses, 'withdrawn']),
  stateRule('delivery_mode', 'delivery mode', deliveryModes),
  stateRule('mail', 'mail state', mailStates),
]

const values = {
  code: 'order-values',
  broken: `(o.status = 'confirmed') <> (confirmed_at is not null) or (o.status = 'confirmed') <> (delivery_mode is not null)
    or (o.status = 'cancelled') <> (cancelled_at is not null) or coalesce(confirmed_at, cancelled_at) >= reserved_until
    or (mail is not null and o.status <> 'confirmed')
    or (o.status = 'withdrawn') <> (o.bank_id is null) or (o.bank_id is null) <> (external_id is null)`,
  text: `'order ' || o.order_id || ' is ' || o.status || ', but ' || case
    when (o.status = 'confirmed') <> (confirmed_at is not null) then 'the time of its confirmation does not fit'
    when (o.status = 'confirmed') <> (delivery_mode is not null) then 'its delivery mode does not fit'
    when (o.status = 'cancelled') <> (cancelled_at is not null) then 'the time of its cancellation does not fit'
    when coalesce(confirmed_at, cancelled_at) >= reserved_until then 'it was so only after its reservation was over'
    when mail is not null and o.status <> 'confirmed' then 'an e-mail went out for it'
    else 'its bank and externalId do not fit' end`,
}

/**
 * Walks over the profiles and finds their live orders. It reads only the index of live orders, because the orders of
 * neighbouring profiles are spread over the whole table.
 */
const profiles = (now: string): Walk => ({
  name: 'profiles',
  table: 'profiles',
  key: [['profile_id', 'bigint']],
  rows: 20_000,
  reads: within => [
    {
      of: 'profiles',
      from: `(select profile_id, tariff_id from profiles where ${within('profile_id')}) p
        full join (
          select profile_id, count(*) as orders, min(tariff_id) as first_tariff, max(tariff_id) as last_tariff
          from orders where ${holdsProfile} and ${within('profile_id')} group by profile_id
        ) l on l.profile_id = p.profile_id
        left join stock_positions s on s.tariff_id = p.tariff_id`,
      rules: [
        ...otherTariffRules(now),
        {
          code: 'live-orders',
          broken: 'coalesce(l.orders, 0) > 1',
          text: `(select 'profile ' || l.profile_id || ' is on the live orders ' || string_agg(order_id::text, ', ' order by order_id)
            from orders o where o.profile_id = l.profile_id and ${holdsProfile})`,
        },
        {
          code: booksCheck.code,
          broken: `coalesce(l.orders, 0) > 1 and (select count(*) from orders o where o.profile_id = l.profile_id and ${holdsProfile}
            and (status <> 'reserved' or reserved_until > ${now})) > 1`,
          text: `'profile ' || l.profile_id || ' counts more than once'`,
        },
        {
          code: 'lost-profiles',
          broken: `l.orders is null and p.profile_id <= s.taken_up_to and not exists (
            select from returned_profiles r where r.profile_id = p.profile_id and r.tariff_id = p.tariff_id)`,
          text: `(select 'profile ' || p.profile_id || ' of ' || m.code || '/' || t.code || ' is free, but no sale finds it'
            from tariffs t join mobile_operators m using (mobile_operator_id) where t.tariff_id = p.tariff_id)`,
        },
      ],
      counts: { [booksCheck.code]: { profiles: 'count(p.profile_id)', free: 'count(p.profile_id)' } },
    },
  ],
})

/**
 * Checks that no bank has two orders with the same externalId. If the unique index is valid, the database guarantees
 * this, and nothing is read.
 */
const externalIds: Walk = {
  name: 'external-ids',
  table: 'orders',
  guaranteedBy: `select from pg_index
    where indrelid = 'orders'::regclass and indisunique and indisvalid and indisready and indpred is null and indexprs is null
      and indnkeyatts = 2 and indkey[0] = (select attnum from pg_attribute where attrelid = indrelid and attname = 'bank_id')
      and indkey[1] = (select attnum from pg_attribute where attrelid = indrelid and attname = 'external_id')`,
  key: [
    ['bank_id', 'uuid'],
    ['external_id', 'text collate "C"'],
  ],
  rows: 20_000,
  reads: within => [
    {
      of: 'orders',
      from: `(select bank_id, external_id, count(*) as orders from orders where ${within('bank_id', 'external_id')} group by 1, 2) as ids`,
      rules: [
        {
          code: 'external-ids',
          broken: 'orders > 1',
          text: `(select 'the orders ' || string_agg(order_id::text, ', ' order by order_id) || ' have the same bank and externalId'
            from orders o where o.bank_id = ids.bank_id and o.external_id = ids.external_id)`,
        },
      ],
    },
  ],
}

const profileOf = (profile: string, tariff: string, operator: string) =>
  `'profile ' || ${profile}.profile_id || ' of ' || ${operator}.code || '/' || ${tariff}.code || ', loaded on ' ||
    to_char(${profile}.imported_at at time zone 'UTC', 'YYYY-MM-DD')`

/**
 * Finds pairs of profiles with the same activation code, unless one of them is withdrawn or both are sold already. It
 * reads only `repeated_activation_codes`: for all other profiles, a unique index prevents equal codes.
 */
const repeatedCodes: Walk = {
  name: 'activation-codes',
  table: 'repeated_activation_codes',
  key: [['profile_id', 'bigint']],
  rows: 1_000,
  reads: within => [
    {
      of: 'repeated_activation_codes',
      from: `repeated_activation_codes r
        join profiles p on p.profile_id = r.profile_id join tariffs t on t.tariff_id = p.tariff_id
        join mobile_operators m on m.mobile_operator_id = t.mobile_operator_id
        join profiles p2 on p2.profile_id = r.other_profile_id join tariffs t2 on t2.tariff_id = p2.tariff_id
        join mobile_operators m2 on m2.mobile_operator_id = t2.mobile_operator_id
        left join orders o on o.profile_id = p.profile_id and o.${holdsProfile}
        left join orders o2 on o2.profile_id = p2.profile_id and o2.${holdsProfile}
        where ${within('r.profile_id')}`,
      rules: [
        {
          code: 'activation-codes',
          broken: `o.status is distinct from 'withdrawn' and o2.status is distinct from 'withdrawn'
            and (o.status is distinct from 'confirmed' or o2.status is distinct from 'confirmed')`,
          text: `${profileOf('p', 't', 'm')} || ', has the activation code of ' || ${profileOf('p2', 't2', 'm2')}`,
        },
      ],
    },
  ],
}

const returned: Walk = {
  name: 'returned-profiles',
  table: 'returned_profiles',
  key: [['profile_id', 'bigint']],
  rows: 20_000,
  reads: within => [
    {
      of: 'returned_profiles',
      from: `returned_profiles r left join (select profile_id, tariff_id from profiles where ${within('profile_id')}) p using (profile_id)
        where ${within('r.profile_id')}`,
      rules: [
        {
          code: 'returned-profiles',
          broken: 'p.tariff_id is distinct from r.tariff_id',
          text: `'profile ' || r.profile_id || ' was given back, but ' ||
            case when p.tariff_id is null then 'is not in stock' else 'belongs to another tariff' end`,
        },
      ],
    },
  ],
}
