/** The SQL of reservations: makes the orders of many requests at once, and limits how many a bank may hold. */
import type { Queryable, Statement } from '../../db/database.ts'
import { rowList } from '../../db/row-list.ts'
import { isFree, joinLiveOrder, ofTariff } from './profiles-sql.ts'
import { type Order, type OrderValues, orderColumns, orderOf, orderProfile } from './store.ts'

export type Reservation = {
  orderId: string
  bankId: string
  externalId: string
  /**
   * The tariff to reserve; null: the bank may not see it. Then no order is made; only an order that was made before can
   * be returned.
   */
  tariffId: number | null
  /**
   * The profile to try; null: none is free. Then no order is made; only an order that was made before can be returned.
   */
  profileId: number | null
  price: string
  currency: string
  now: Date
  reservedUntil: Date
  /** Who reserves, in the form of `callerName`. */
  caller: string
}

export type ReserveResult =
  | { outcome: 'made' }
  | { outcome: 'known'; order: Order }
  /** Another order took the profile first, or there was no profile to try. */
  | { outcome: 'not-made' }
  /** The bank already holds the maximum number of live reservations, either in total or of this tariff. */
  | { outcome: 'at-limit' }

const inputRows = rowList(1, {
  orderId: 'uuid',
  bankId: 'uuid',
  externalId: 'text',
  tariffId: 'int',
  profileId: 'bigint',
  price: 'numeric',
  currency: 'text',
  now: 'timestamptz',
  reservedUntil: 'timestamptz',
  caller: 'text',
})

// This is the busiest statement, so it does nothing but the insert.
const reserveStatement: Statement = {
  name: 'esim.reserve',
  plannedOnce: ['orders', 'profiles'],
  text: `
    with made as (
      insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                          reserved_by)
      select order_id, bank_id, external_id, tariff_id, profile_id, 'reserved', price, currency, i.now, reserved_until, caller
      from ${inputRows.from('i')}
      on conflict do nothing
      returning order_id, profile_id
    ), taken as (
      delete from returned_profiles where profile_id in (select profile_id from made)
    )
    select order_id from made`,
}

const findKnownStatement: Statement = {
  name: 'esim.find-known-orders',
  text: `
    select ${orderColumns}, i.n
    from unnest($1::int[], $2::uuid[], $3::text[]) as i (n, bank_id, external_id)
    join orders o on o.bank_id = i.bank_id and o.external_id = i.external_id collate "C" ${orderProfile}`,
}

/**
 * Makes an order for each reservation whose externalId is new and whose profile is free. Two unique indexes decide
 * this, so no lock is needed. For each other reservation, a second statement looks for an order with the same
 * externalId. If such an order prevented the insert, this statement always finds it: the insert has waited until the
 * transaction of that order had ended.
 */
export async function reserve(database: Queryable, reservations: Reservation[]): Promise<ReserveResult[]> {
  const made = await insert(database, reservations)
  const others = reservations.filter(({ orderId }) => !made.has(orderId))
  const known = await findKnown(database, others)
  return reservations.map(reservation => {
    if (made.has(reservation.orderId)) return { outcome: 'made' }
    const order = known.get(reservation)
    return order ? { outcome: 'known', order } : { outcome: 'not-made' }
  })
}

/** Inserts the orders. @returns the ids of those that were made */
async function insert(database: Queryable, reservations: Reservation[]): Promise<Set<string>> {
  const tried = reservations
    .filter(({ tariffId, profileId }) => tariffId !== null && profileId !== null)
    .sort(compareReservations)
  if (tried.length === 0) return new Set()
  const rows = await database.tuples<[orderId: string]>(reserveStatement, inputRows.values(tried))
  return new Set(rows.map(([orderId]) => orderId))
}

async function findKnown(database: Queryable, reservations: Reservation[]): Promise<Map<Reservation, Order>> {
  if (reservations.length === 0) return new Map()
  const rows = await database.tuples<[...OrderValues, n: number]>(findKnownStatement, [
    reservations.map((_, n) => n),
    reservations.map(({ bankId }) => bankId),
    reservations.map(({ externalId }) => externalId),
  ])
  return new Map(rows.map(row => [reservations[row[8]] as Reservation, orderOf(row)]))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Sorts the rows of every statement in the same way, so that two statements with the same orders wait for each other
 * without a deadlock. A deadlock is still possible if they try the same profiles in a different sequence. The database
 * then ends one statement, and `Database` repeats it.
 */
export const compareReservations = (a: Reservation, b: Reservation): number =>
  (a.tariffId ?? 0) - (b.tariffId ?? 0) || compare(a.bankId, b.bankId) || compare(a.externalId, b.externalId)

const lockOpenReservations: Statement = {
  name: 'esim.lock-open-reservations',
  text: `select pg_advisory_xact_lock(hashtextextended($1, 1))`,
}
const countOpenReservations: Statement = {
  name: 'esim.count-open-reservations',
  text: `
    select count(*)::int as count from (
      select from orders where bank_id = $1 and status = 'reserved' and reserved_until > $2 limit $3) open`,
}

/** How many live reservations the bank has, counted up to `limit`. */
export async function countOpen(database: Queryable, bankId: string, now: Date, limit: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(countOpenReservations, [bankId, now, limit])
  return row?.count ?? 0
}

/**
 * Counts the unsold profiles of a tariff. The tariff's position (`taken_up_to`) is a profile id; all profiles up to it
 * were reserved or withdrawn at least once. Three counts are added: the profiles above the position that are neither
 * sold nor withdrawn, the free returned profiles up to the position, and the reserved profiles up to it.
 */
const countUnsoldStatement: Statement = {
  name: 'esim.count-unsold',
  text: `
    with position as (select coalesce((select taken_up_to from stock_positions where tariff_id = $1), 0) as taken_up_to)
    select (
      (select count(*) from profiles p where ${ofTariff('p', '$1', '(select taken_up_to from position)')} and not exists (
        select from orders o where o.profile_id = p.profile_id and o.status in ('confirmed', 'withdrawn')))
      + (select count(*) from position cross join returned_profiles r ${joinLiveOrder('r')}
         where ${ofTariff('r', '$1')} and r.profile_id <= taken_up_to and ${isFree})
      + (select count(*) from orders o, position
         where o.status = 'reserved' and o.tariff_id = $1 and o.profile_id <= taken_up_to)
    )::int as unsold`,
}

/**
 * Counts the profiles of a tariff that are free or reserved. It skips the sold profiles below the tariff's position.
 */
export async function countUnsold(database: Queryable, tariffId: number): Promise<number> {
  const [row] = await database.query<{ unsold: number }>(countUnsoldStatement, [tariffId])
  return row?.unsold ?? 0
}

const countHeldStatement: Statement = {
  name: 'esim.count-held',
  text: `
    select tariff_id as "tariffId", count(*)::int as held from orders
    where bank_id = $1 and status = 'reserved' and reserved_until > $2 and tariff_id = any($3) group by tariff_id`,
}

export type WithinLimits = {
  bankId: string
  reservations: Reservation[]
  /** The maximum number of live reservations of the bank. */
  limit: number
  /** The maximum number of live reservations of each tariff, by the tariff's id; null: no maximum. */
  ofTariffs: ReadonlyMap<number, number> | null
}

/** Makes reservations for one bank. It limits how many the bank may hold in total, and how many of each tariff. */
export async function reserveWithinShares(
  transaction: Queryable,
  { ofTariffs, ...input }: WithinLimits,
): Promise<{ results: ReserveResult[]; open: number }> {
  if (!ofTariffs) return reserveWithinLimit(transaction, input)
  const { bankId, reservations } = input
  await transaction.execute(lockOpenReservations, [bankId])
  const latest = new Date(Math.max(...reservations.map(({ now }) => now.getTime())))
  const counted = await transaction.query<{ tariffId: number; held: number }>(countHeldStatement, [
    bankId,
    latest,
    [...ofTariffs.keys()],
  ])
  const held = new Map(counted.map(row => [row.tariffId, row.held]))
  const roomOf = (tariffId: number) => Math.max(0, (ofTariffs.get(tariffId) ?? 0) - (held.get(tariffId) ?? 0))

  const answers = new Map<Reservation, ReserveResult>()
  const refused = new Set<Reservation>()
  // A reservation without a profile makes no order, so the limit does not apply to it.
  const possible = reservations.filter(({ profileId }) => profileId !== null)
  const byTariff = Map.groupBy(possible, ({ tariffId }) => tariffId)
  for (const [tariffId, wanted] of byTariff) {
    if (tariffId === null || wanted.length <= roomOf(tariffId)) continue
    // Answer repeated requests first. They make no new order, so the limit does not apply to them.
    for (const [reservation, known] of await findRepeats(transaction, wanted)) answers.set(reservation, known)
    const others = wanted.filter(reservation => !answers.has(reservation))
    for (const reservation of others.slice(roomOf(tariffId))) refused.add(reservation)
  }
  const rest = reservations.filter(reservation => !answers.has(reservation) && !refused.has(reservation))
  const within = await reserveWithinLimit(transaction, { ...input, reservations: rest })
  for (const [index, reservation] of rest.entries())
    answers.set(reservation, within.results[index] ?? { outcome: 'not-made' })
  // A refused request may be a retry of a request that has just made its order. Then it gets this order, not 'at-limit'.
  const repeats = refused.size > 0 ? await findRepeats(transaction, [...refused]) : new Map()
  for (const reservation of refused) answers.set(reservation, repeats.get(reservation) ?? { outcome: 'at-limit' })
  return { ...within, results: reservations.map(reservation => answers.get(reservation) ?? { outcome: 'not-made' }) }
}

/** Finds the reservations whose externalId has an order already, with their results. */
async function findRepeats(
  transaction: Queryable,
  reservations: readonly Reservation[],
): Promise<Map<Reservation, ReserveResult>> {
  const results = await reserve(
    transaction,
    reservations.map(reservation => ({ ...reservation, profileId: null })),
  )
  return new Map(
    reservations.flatMap((reservation, index): [Reservation, ReserveResult][] => {
      const result = results[index]
      return result?.outcome === 'known' ? [[reservation, result]] : []
    }),
  )
}

export type HeldReservations = { operatorCode: string; tariffCode: string; bank: string; reserved: number }

/** Counts the live reservations of each bank and tariff that has any, the largest count first. */
export function countHolders(database: Queryable, now: Date): Promise<HeldReservations[]> {
  return database.query<HeldReservations>(
    `select m.code as "operatorCode", t.code as "tariffCode", b.code as bank, held.reserved
     from (
       select tariff_id, bank_id, count(*)::int as reserved from orders
       where status = 'reserved' and reserved_until > $1 group by tariff_id, bank_id
     ) held join banks b using (bank_id) join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id)
     order by held.reserved desc, b.code`,
    [now],
  )
}

/**
 * Reserves for one bank that may be near its limit of live reservations. It counts and reserves under a lock, so that
 * the limit is exact. At the limit, repeated requests still get the orders that they made before.
 *
 * @returns the results in the order of the reservations, and how many live reservations the bank has now (counted up to
 *   `limit`)
 */
async function reserveWithinLimit(
  transaction: Queryable,
  input: { bankId: string; reservations: Reservation[]; limit: number },
): Promise<{ results: ReserveResult[]; open: number }> {
  const { bankId, limit } = input
  const latest = new Date(Math.max(0, ...input.reservations.map(({ now }) => now.getTime())))
  await transaction.execute(lockOpenReservations, [bankId])
  let open = await countOpen(transaction, bankId, latest, limit)
  const results = new Map<Reservation, ReserveResult>()
  const run = async (some: Reservation[], tried = some): Promise<void> => {
    for (const [index, result] of (await reserve(transaction, tried)).entries()) {
      if (result.outcome === 'made') open++
      results.set(some[index] as Reservation, result)
    }
  }
  let waiting = input.reservations
  // Repeated requests make no new order, so the limit does not apply to them.
  const answerRepeats = async () => {
    await run(
      waiting,
      waiting.map(reservation => ({ ...reservation, profileId: null })),
    )
    waiting = waiting.filter(reservation => results.get(reservation)?.outcome !== 'known')
  }
  if (limit - open < waiting.length) await answerRepeats()
  for (let room = limit - open; waiting.length > 0 && room > 0; room = limit - open) {
    await run(waiting.slice(0, room))
    waiting = waiting.slice(room)
  }
  // While these requests waited for the lock, another request may have made an order with the same externalId. So look
  // for these orders once more.
  if (waiting.length > 0) await answerRepeats()
  for (const reservation of waiting) results.set(reservation, { outcome: 'at-limit' })
  return { results: input.reservations.map(reservation => results.get(reservation) ?? { outcome: 'not-made' }), open }
}
