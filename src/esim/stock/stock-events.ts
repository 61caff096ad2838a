/**
 * Records events when a tariff is sold out or available again, and when the level of its stock changes
 * (contract/events.md, "Types"). A change is reported only after it has lasted for a while. Otherwise a tariff that
 * sells its last profile again and again would cause a series of events.
 */
import type { Clock } from '../../clock.ts'
import type { Database } from '../../db/database.ts'
import { type RecordedEvent, recordEvents } from '../../outbox/event-writing.ts'
import { findFree } from '../orders/store.ts'
import { foldSales } from '../sold/fold-store.ts'
import { type DeskTariff, readStockDesk, type StockLevel } from './desk.ts'

type Deps = { database: Database; clock: Clock }

const availabilityHolds = '30 seconds'
const levelHolds = '60 seconds'
/** SQL that tries to take a lock, so that only one process at a time compares the stock with the last report. */
const lockText = (name: string) => `select pg_try_advisory_xact_lock(hashtext('perkline.${name}')) as taken`

/**
 * Compares the availability of every tariff with the last reported availability. It does not count profiles: each
 * tariff costs a few index look-ups. The first result for a tariff is stored without an event.
 *
 * @returns null: another process is doing it
 */
export async function reportAvailability({ database, clock }: Deps): Promise<false | null> {
  const now = clock.now()
  const tariffs = await database.query<{ tariffId: number }>('select tariff_id as "tariffId" from tariffs')
  const free = await findFree(database, new Map(tariffs.map(({ tariffId }) => [tariffId, null])), now)
  return database.transaction(async transaction => {
    const [lock] = await transaction.query<{ taken: boolean }>(lockText('availability'))
    if (!lock?.taken) return null
    const turned = await transaction.query<TurnedTariff>(availabilityText, [[...free.keys()], now])
    const events = turned.map(
      ({ banks, ...data }): RecordedEvent => ({ type: 'tariff.availability_changed', at: now, banks, data }),
    )
    await recordEvents(transaction, events)
    return false
  })
}

type TurnedTariff = { operatorCode: string; tariffCode: string; available: boolean; banks: string[] }

/**
 * The column `told` has the availability that was reported last. `other_since` is the time since which the present
 * availability differs from `told`. The query `other` sets this time, and `back` clears it when the two are equal
 * again. `turned` reports a difference that has lasted long enough. If a sandbox's clock was set back, `other_since`
 * may be later than now; then `other` sets it to now.
 */
const availabilityText = `
  with present as materialized (
    select t.tariff_id, t.code, m.code as operator_code, m.mobile_operator_id,
           t.on_sale and m.status = 'active' and t.tariff_id = any($1::int[]) as available
    from tariffs t join mobile_operators m using (mobile_operator_id)
  ), first as (
    insert into told_availability (tariff_id, told) select tariff_id, available from present on conflict do nothing
  ), back as (
    update told_availability a set other_since = null from present p
    where a.tariff_id = p.tariff_id and a.told = p.available and a.other_since is not null
  ), other as (
    update told_availability a set other_since = $2 from present p
    where a.tariff_id = p.tariff_id and a.told <> p.available and (a.other_since is null or a.other_since > $2)
  ), turned as (
    update told_availability a set told = p.available, other_since = null from present p
    where a.tariff_id = p.tariff_id and a.told <> p.available and a.other_since <= $2::timestamptz - interval '${availabilityHolds}'
    returning p.*
  )
  select operator_code as "operatorCode", code as "tariffCode", available, array(
    select b.bank_id from banks b where b.esim_all_operators or exists (
      select from bank_mobile_operators o where o.bank_id = b.bank_id and o.mobile_operator_id = turned.mobile_operator_id)
    order by b.bank_id) as banks
  from turned order by tariff_id`

const ofLevel = { enough: 'stock.enough', low: 'stock.low', out: 'stock.out' } as const satisfies Record<
  StockLevel,
  string
>

/**
 * Compares the present stock levels with the last reported ones. It folds the latest sales first, because otherwise the
 * read of the levels would look up each of their orders, and the fold would do it again.
 *
 * @returns null: another process is doing it
 */
export async function reportStockLevels({ database, clock }: Deps): Promise<false | null> {
  await foldSales(database)
  const desk = await readStockDesk({ database, clock })
  const now = clock.now()
  return database.transaction(async transaction => {
    const [lock] = await transaction.query<{ taken: boolean }>(lockText('stock'))
    if (!lock?.taken) return null
    const turned = await transaction.query<{ n: number }>(levelText, [
      desk.map(({ operatorCode }) => operatorCode),
      desk.map(({ tariffCode }) => tariffCode),
      desk.map(({ level }) => level),
      now,
    ])
    await recordEvents(
      transaction,
      turned.flatMap(({ n }) => desk.slice(n - 1, n)).map(tariff => levelEvent(tariff, now)),
    )
    return false
  })
}

function levelEvent({ operatorCode, tariffCode, free, daysOfCover, level }: DeskTariff, now: Date): RecordedEvent {
  return { type: ofLevel[level], at: now, platform: true, data: { operatorCode, tariffCode, free, daysOfCover } }
}

const sameTariff = 's.operator_code = p.operator_code and s.tariff_code = p.tariff_code'
/**
 * Like `availabilityText`. But a level has three values: after it has changed from `told` to a second value, it may
 * change to the third before it is reported. So the column `other` stores the present level while it differs from
 * `told`.
 */
const levelText = `
  with present as materialized (
    select * from unnest($1::text[], $2::text[], $3::text[]) with ordinality as p (operator_code, tariff_code, level, n)
  ), first as (
    insert into told_stock (operator_code, tariff_code, told) select operator_code, tariff_code, level from present
    on conflict do nothing
  ), back as (
    update told_stock s set other = null, other_since = null from present p
    where ${sameTariff} and s.told = p.level and s.other is not null
  ), other as (
    update told_stock s set other = p.level, other_since = $4 from present p
    where ${sameTariff} and s.told <> p.level and (s.other is distinct from p.level or s.other_since > $4)
  ), turned as (
    update told_stock s set told = p.level, other = null, other_since = null from present p
    where ${sameTariff} and s.told <> p.level and s.other = p.level
      and s.other_since <= $4::timestamptz - interval '${levelHolds}'
    returning p.n
  )
  select n::int from turned order by n`
