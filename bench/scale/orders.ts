/** A year of orders of all banks and tariffs, in every status except open reservations. */
import { bankId } from './directory.ts'
import { type Connect, inLanes, ranges } from './loading.ts'
import {
  banks,
  latestOrderMs,
  ordersOfTiny,
  profilesOfTariff,
  type Sizes,
  sellerShare,
  tariffs,
  tariffsOfOperator,
  yearMs,
} from './sizes.ts'

const ordersAtOnce = 250_000

export async function makeOrders(connect: Connect, sizes: Sizes, now: Date): Promise<void> {
  const statement = insertOrders(sizes, now.getTime() - latestOrderMs - yearMs)
  const pieces = ranges(sizes.orders, ordersAtOnce)
  await inLanes(
    connect,
    pieces.map(
      ({ from, to }) =>
        client =>
          client.query(statement, [from - 1, to - 1]),
    ),
  )
  await inLanes(connect, [client => client.query(positions(sizes))])
}

/**
 * SQL that inserts orders. `n` counts all orders, `t` is the tariff, and `k` counts the orders of one tariff; all start at 0.
 * Each tenth order of a tariff ends without a sale, and the next order gets the same profile: hence `k - (k + 9) / 10`.
 */
const insertOrders = (sizes: Sizes, firstMs: number): string => `
  insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
    confirmed_at, cancelled_at, delivery_mode)
  select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
    case when status <> 'withdrawn' then ${bankId('bank')} end,
    case when status <> 'withdrawn' then 'payment-' || to_char(at, 'YYYYMMDD') || '-' || lpad(n::text, 10, '0') end,
    t + 1, t * ${profilesOfTariff(sizes)}::bigint + 1 + k - (k + 9) / 10, status, 101 + t, 'UAH', at, at + interval '15 minutes',
    case when status = 'confirmed' then at + interval '1 minute' end,
    case when status = 'cancelled' then at + interval '2 minutes' end,
    case when status = 'confirmed' then 'local' end
  from (
    select n, n / ${tariffs} as k, n % ${tariffs} as t, md5(n::text) as hash, to_timestamp(ms / 1000.0::float8) as at, ms,
      case when n / ${tariffs} % 10 = 0 then case when n / ${tariffs} % 20 = 0 then 'cancelled' else 'expired' end
        when n / ${tariffs} % 1000 = 999 then 'withdrawn' else 'confirmed' end as status,
      ${bankOf(sizes)} as bank
    from (
      select n, ${firstMs} + n * ${yearMs}::bigint / ${sizes.orders} as ms, hashint8(n) & 2147483647 as chance
      from generate_series($1::bigint, $2::bigint) n offset 0
    ) numbered offset 0
  ) o`

const bankOf = (sizes: Sizes): string => {
  const others = sizes.banks - banks.steady
  return `case
    when n % ${tariffs} >= ${tariffs - tariffsOfOperator} then ${banks.steady} + chance / 100 % ${others}
    when n % ${Math.floor(sizes.orders / ordersOfTiny)} = 1 then ${banks.tiny}
    when chance % 100 < ${sizes.share} then ${banks.big}
    when chance % 100 < ${sizes.share + sellerShare} then ${banks.seller}
    else ${banks.steady} + chance / 100 % ${others} end`
}

/** SQL that stores the position up to which each tariff's stock was taken. */
const positions = (sizes: Sizes): string => `
  insert into stock_positions (tariff_id, taken_up_to)
  select t + 1, t * ${profilesOfTariff(sizes)}::bigint + k - (k + 9) / 10
  from (select t, (${sizes.orders} - 1 - t) / ${tariffs} + 1 as k from generate_series(0, ${tariffs - 1}) t) counted`
