/** Takes free profiles off sale for good (contract/operations.md, "The stock file"). */

import type { Queryable } from '../../db/database.ts'
import { type Fact, recordEntries } from '../../outbox/audit-entry-writing.ts'
import { operatorOrigin } from '../../outbox/origin.ts'
import { recordingOrders } from '../../outbox/rows.ts'
import { holdsProfile } from '../orders/lifecycle.ts'
import { newOrderId } from '../orders/order-id.ts'
import { expire } from '../orders/store.ts'
import type { StockDeps } from './operations.ts'

/** Why a profile is not withdrawn. */
export const withdrawalProblems = ['sold', 'reserved', 'unknown', 'other-tariff', 'withdrawn'] as const
type WithdrawalProblem = (typeof withdrawalProblems)[number]

export type Withdrawn = {
  withdrawn: number
  notFree: number
  /**
   * Profiles that were not withdrawn. `iccid`: the last 4 digits; `line`: the place in the list that was sent, from 1.
   */
  problems: { iccid: string; line: number; reason: WithdrawalProblem }[]
}

/**
 * Takes free profiles off sale. An ICCID that was sent twice counts once, at its first place.
 *
 * @param input.tariffIds only profiles of these tariffs are withdrawn; null: of all tariffs
 */
export async function withdrawProfiles(
  deps: StockDeps,
  input: { iccids: readonly string[]; tariffIds?: readonly number[] | null },
): Promise<Withdrawn> {
  const { database, sealing } = deps
  const now = deps.clock.now()
  // First mark all reservations that are over, because each holds its profile until it is marked.
  while (await expire(database, now));
  const lines = new Map<string, number>()
  for (const [index, iccid] of input.iccids.entries()) if (!lines.has(iccid)) lines.set(iccid, index + 1)
  const iccids = [...lines.keys()]
  const iccidHashes = iccids.map(iccid => sealing.hashIccid(iccid))
  const orderIds = iccids.map(() => newOrderId(now))
  const { withdrawn, left } = await database.transaction(async transaction => {
    const done = await withdraw(transaction, { iccidHashes, orderIds, tariffIds: input.tariffIds ?? null, now })
    if (done.withdrawn > 0) await recordEntries(transaction, deps.origin ?? operatorOrigin(), [factOf(done.withdrawn)])
    return done
  })
  const problems = left.map(({ place, reason }) => {
    const iccid = iccids[place - 1] ?? ''
    return { iccid: iccid.slice(-4), line: lines.get(iccid) ?? 0, reason }
  })
  return { withdrawn, notFree: problems.length, problems }
}

const factOf = (withdrawn: number): Fact => ({
  action: 'stock.withdrawn',
  object: { type: 'stock', id: null },
  change: { profiles: [null, withdrawn] },
})

type Left = { place: number; reason: WithdrawalProblem }

/**
 * Makes an order with status `withdrawn` for each profile that is on no live order. The unique index on live orders
 * decides, so a sale at the same moment either comes first or does not get the profile.
 *
 * @param input.orderIds one new id for each hash
 * @returns the number of withdrawn profiles. `left` has every other hash: its place in the input (from 1), and why its
 *   profile was not withdrawn
 */
async function withdraw(
  transaction: Queryable,
  input: { iccidHashes: Buffer[]; orderIds: string[]; tariffIds: readonly number[] | null; now: Date },
): Promise<{ withdrawn: number; left: Left[] }> {
  const { iccidHashes, orderIds, tariffIds, now } = input
  const taken = await transaction.query<{ profileId: number }>(
    `with taken as (
       insert into orders (order_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until, ended_by)
       select i.order_id, p.tariff_id, p.profile_id, 'withdrawn', 0, '', $3, $3, 'operator'
       from unnest($1::bytea[], $2::uuid[]) as i (iccid_hash, order_id) join profiles p using (iccid_hash)
       where $4::int[] is null or p.tariff_id = any($4)
       order by p.tariff_id, p.profile_id
       on conflict do nothing
       returning order_id, bank_id, profile_id
     ), recorded as (${recordingOrders('profile.withdrawn', 'taken')}
     )
     select profile_id as "profileId" from taken`,
    [iccidHashes, orderIds, now, tariffIds],
  )
  const takenIds = taken.map(({ profileId }) => profileId)
  // This must be a separate statement. The first statement may have waited for a cancel that returned a profile. Then it
  // does not see the new row in `returned_profiles`, but a later statement does.
  await transaction.execute('delete from returned_profiles where profile_id = any($1)', [takenIds])
  return { withdrawn: taken.length, left: await findLeft(transaction, iccidHashes, tariffIds, takenIds) }
}

/**
 * Finds why profiles were not withdrawn. If a profile was reserved when the withdrawal ran and is free by now, the
 * reason is also 'reserved'.
 */
function findLeft(
  transaction: Queryable,
  iccidHashes: Buffer[],
  tariffIds: readonly number[] | null,
  takenIds: number[],
): Promise<Left[]> {
  return transaction.query<Left>(
    `select i.place::int, case
       when p.profile_id is null then 'unknown'
       when p.tariff_id <> all($2::int[]) then 'other-tariff'
       when o.status = 'confirmed' then 'sold'
       when o.status = 'withdrawn' then 'withdrawn'
       else 'reserved' end as reason
     from unnest($1::bytea[]) with ordinality as i (iccid_hash, place)
     left join profiles p using (iccid_hash)
     left join orders o on o.profile_id = p.profile_id and o.${holdsProfile}
     where not exists (select from unnest($3::bigint[]) as t (profile_id) where t.profile_id = p.profile_id)
     order by i.place`,
    [iccidHashes, tariffIds, takenIds],
  )
}
