/**
 * SQL that finds profiles of one tariff. Whatever the planner's statistics say, it reads no profiles of other tariffs,
 * and none with an id up to `after`.
 */
import { holdsProfile } from './lifecycle.ts'

/**
 * The condition that a row of `profiles` or `returned_profiles` belongs to a tariff and has a profile id above `after`.
 * It compares both columns as one row, so that PostgreSQL can use only the index by tariff. With `tariff_id = ...`,
 * when nearly all profiles are of one tariff, PostgreSQL could choose the primary key. For every other tariff it would
 * then read all profiles of the large one.
 *
 * @param tariffId SQL expression
 * @param after SQL expression
 */
export const ofTariff = (row: string, tariffId: string, after = '0'): string =>
  `(${row}.tariff_id, ${row}.profile_id) > (${tariffId}, ${after}) and ${row}.tariff_id <= ${tariffId}`

/** The order of the rows of `ofTariff` in the index: the profiles that were imported first come first. */
export const importedFirst = (row: string): string => `order by ${row}.tariff_id, ${row}.profile_id`

/**
 * A left join with the live order of a profile. If there is one, `o.taken` is true, otherwise null. It is written so
 * that PostgreSQL looks up each profile in the unique index of live orders.
 */
export const joinLiveOrder = (profile: string): string => `
  left join lateral (
    select true as taken from orders o
    where o.profile_id = ${profile}.profile_id and o.${holdsProfile} limit 1) o on true`

/**
 * The condition that no live order holds the profile, for use after `joinLiveOrder`. For this form, PostgreSQL expects
 * that half of the rows match. For `o.taken is null` it would expect hardly any, and could sort all rows to find one.
 */
export const isFree = 'not coalesce(o.taken, false)'

/** The ids of the returned profiles of a tariff that no live order holds. @param tariffId SQL expression */
export const freeReturned = (tariffId: string): string => `
  select r.profile_id from returned_profiles r ${joinLiveOrder('r')}
  where ${ofTariff('r', tariffId)} and ${isFree} ${importedFirst('r')}`
