/**
 * SQL that finds profiles of one tariff. It reads neither the profiles of other tariffs nor those that were sold before,
 * whatever the database's statistics say.
 */
import { holdsProfile } from './lifecycle.ts'

/**
 * The condition that a row of `profiles` or `returned_profiles` is of a tariff and has a higher profile id than `after`.
 * It compares both columns as one row, because for this PostgreSQL can use only the index by tariff. With `tariff_id = ...` it
 * could choose the primary key when nearly all profiles are of one tariff, and would then walk over all of these for every
 * other tariff.
 *
 * @param tariffId SQL expression
 * @param after SQL expression
 */
export const ofTariff = (row: string, tariffId: string, after = '0'): string =>
  `(${row}.tariff_id, ${row}.profile_id) > (${tariffId}, ${after}) and ${row}.tariff_id <= ${tariffId}`

/** The order of the rows of `ofTariff` in the index: the profiles that were imported first come first. */
export const importedFirst = (row: string): string => `order by ${row}.tariff_id, ${row}.profile_id`

/**
 * Left join: `o.taken` is true if a live order holds the profile. Written so that PostgreSQL looks it up in the unique
 * index of live orders, once per profile.
 */
export const joinLiveOrder = (profile: string): string => `
  left join lateral (
    select true as taken from orders o
    where o.profile_id = ${profile}.profile_id and o.${holdsProfile} limit 1) o on true`

/**
 * The condition that no live order holds the profile, after `joinLiveOrder`. PostgreSQL expects half of the rows to meet
 * it. With `is null` it expects hardly any, and could read and sort all of them to find one.
 */
export const isFree = 'not coalesce(o.taken, false)'

/** The ids of the returned profiles of a tariff that no live order holds. @param tariffId SQL expression */
export const freeReturned = (tariffId: string): string => `
  select r.profile_id from returned_profiles r ${joinLiveOrder('r')}
  where ${ofTariff('r', tariffId)} and ${isFree} ${importedFirst('r')}`
