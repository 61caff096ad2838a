/**
 * SQL that imports profiles, and seals them again with another key. The SQL that sells profiles is in `stock.ts` and
 * `orders/`, the SQL that counts them in `sold/`, and the SQL that takes them off sale in `withdrawal.ts`.
 */
import type { Queryable } from '../../db/database.ts'
import { ofTariff } from '../orders/profiles-sql.ts'
import type { ProfileRow } from './sealing.ts'

/**
 * A temporary table for new profiles, which only this transaction sees. It costs no write-ahead log, and is dropped at
 * the end of the transaction.
 *
 * PostgreSQL may keep plans in this transaction. Otherwise it would plan the check of the tariff (a foreign key) anew
 * for each profile, which would take a third of the time of the insert.
 */
export async function createStage(transaction: Queryable): Promise<void> {
  await transaction.execute('set local plan_cache_mode = auto')
  await transaction.execute(
    `create temporary table staged_profiles
       (profile_id bigint, iccid_hash bytea, msisdn text, sealed bytea, activation_hash bytea, line_number bigint) on commit drop`,
  )
}

export const copyIntoStage = 'copy staged_profiles from stdin (format binary)'

const importLock = 7_365_014

/**
 * Lets only one import at a time move its profiles into stock, because two imports with the same profiles could
 * deadlock. The lock lasts until the end of the transaction.
 */
export async function lockImports(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [importLock])
}

/** Like `lockImports`, but does not wait. @returns whether the lock was taken */
export async function tryLockImports(transaction: Queryable): Promise<boolean> {
  const [lock] = await transaction.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
    importLock,
  ])
  return lock?.taken === true
}

/**
 * Whether another import has added later ids to the tariff since this import drew its first id. Then this import needs
 * new ids, because sales need the ids of a tariff to become visible in ascending order (`stock.ts`).
 */
export async function isOvertaken(transaction: Queryable, tariffId: number): Promise<boolean> {
  const later = await transaction.query(
    `select from profiles p where ${ofTariff('p', '$1', '(select min(profile_id) from staged_profiles)')} limit 1`,
    [tariffId],
  )
  return later.length > 0
}

/** @returns `operator/tariff`, by their codes */
export async function findTariffName(transaction: Queryable, tariffId: number): Promise<string> {
  const [found] = await transaction.query<{ name: string }>(
    `select o.code || '/' || t.code as name from tariffs t join mobile_operators o using (mobile_operator_id) where tariff_id = $1`,
    [tariffId],
  )
  return found?.name ?? String(tariffId)
}

/** Creates the index that `findStaged` needs. Only an import that was overtaken by another import calls it. */
export async function indexStage(transaction: Queryable): Promise<void> {
  await transaction.execute('create index on staged_profiles (profile_id)')
  await transaction.execute('analyze staged_profiles')
}

/** The next staged profiles by id. */
export function findStaged(
  transaction: Queryable,
  range: { after: number; upTo: number; limit: number },
): Promise<Omit<SealedProfile, 'tariffId'>[]> {
  return transaction.query(
    `select profile_id as "profileId", iccid_hash as "iccidHash", sealed from staged_profiles
     where profile_id > $1 and profile_id <= $2 order by profile_id limit $3`,
    [range.after, range.upTo, range.limit],
  )
}

export async function lastStagedId(transaction: Queryable): Promise<number> {
  const [row] = await transaction.query<{ last: number | null }>('select max(profile_id) as last from staged_profiles')
  return row?.last ?? 0
}

export async function renumberStaged(
  transaction: Queryable,
  changes: { before: number; after: number; sealed: Buffer }[],
): Promise<void> {
  await transaction.execute(
    `update staged_profiles s set profile_id = i.after, sealed = i.sealed
     from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as i (before, after, sealed) where s.profile_id = i.before`,
    [changes.map(({ before }) => before), changes.map(({ after }) => after), changes.map(({ sealed }) => sealed)],
  )
}

/** Draws ascending ids for new profiles. The ids of duplicates stay unused. */
export async function drawProfileIds(database: Queryable, count: number): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    {
      name: 'esim.draw-profile-ids',
      text: `select nextval(pg_get_serial_sequence('profiles', 'profile_id')) as id from generate_series(1, $1)`,
    },
    [count],
  )
  return rows.map(({ id }) => id)
}

/**
 * Moves the staged profiles into stock in the order of their ids, which is the order of the file. Skips a profile whose
 * ICCID or activation code is in stock already, perhaps from an earlier line.
 *
 * @returns how many were new
 */
export function takeStaged(transaction: Queryable, input: { tariffId: number; importedAt: Date }): Promise<number> {
  return transaction.execute(
    `insert into profiles (profile_id, tariff_id, iccid_hash, msisdn, sealed, imported_at, activation_hash) overriding system value
     select profile_id, $1, iccid_hash, msisdn, sealed, $2, activation_hash from staged_profiles order by profile_id
     on conflict do nothing`,
    [input.tariffId, input.importedAt],
  )
}

const linesAtOnce = 10_000

/**
 * The lines that `takeStaged` has skipped because another profile has their activation code, in the order of the file.
 * A line is left out in two cases. If its ICCID is in stock under the same id, the line was imported. If its ICCID is
 * in stock under a lower id or in another tariff, the line is a duplicate (see `isOvertaken`). A higher id in this
 * tariff comes from a later line of the file, so it does not count.
 */
export async function* findRefusedLines(transaction: Queryable, tariffId: number): AsyncGenerator<number[]> {
  await transaction.execute(
    `declare refused_lines cursor for select line_number as "lineNumber" from staged_profiles s where not exists (
       select from profiles p
       where p.iccid_hash = s.iccid_hash and (p.tariff_id <> ${Math.trunc(tariffId)} or p.profile_id <= s.profile_id))
     order by profile_id`,
  )
  for (;;) {
    const lines = await transaction.query<{ lineNumber: number }>(`fetch ${linesAtOnce} from refused_lines`)
    yield lines.map(({ lineNumber }) => lineNumber)
    if (lines.length < linesAtOnce) return
  }
}

/**
 * A line whose ICCID is in stock already, or comes earlier in the file.
 *
 * @property otherActivationCode true if the profile with that ICCID has another activation code; false if both codes
 *   are the same, or if one of them has no hash
 */
export type DuplicateLine = { lineNumber: number; otherActivationCode: boolean }

/** The first duplicates that `takeStaged` has skipped, in the order of the file. */
export function findDuplicateLines(transaction: Queryable, tariffId: number, limit: number): Promise<DuplicateLine[]> {
  return transaction.query(
    `select s.line_number as "lineNumber",
       coalesce(s.activation_hash <> p.activation_hash, false) as "otherActivationCode"
     from staged_profiles s join profiles p using (iccid_hash)
     where p.tariff_id <> $1 or p.profile_id < s.profile_id
     order by s.profile_id limit $2`,
    [tariffId, limit],
  )
}

/**
 * Updates the planner's statistics after an import of many profiles. With the statistics from before the import, the planner would
 * choose plans that read all rows.
 */
export async function analyzeProfiles(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze profiles')
}

export type SealedProfile = ProfileRow & { sealed: Buffer }

export async function countProfiles(database: Queryable): Promise<number> {
  const [row] = await database.query<{ profiles: number }>('select count(*) as profiles from profiles')
  return row?.profiles ?? 0
}

/** Up to `limit` profiles with ids above `after`, in the order of their ids. */
export function findSealedProfiles(database: Queryable, after: number, limit: number): Promise<SealedProfile[]> {
  return database.query(
    {
      name: 'esim.find-sealed-profiles',
      text: `select profile_id as "profileId", tariff_id as "tariffId", iccid_hash as "iccidHash", sealed from profiles
             where profile_id > $1 order by profile_id limit $2`,
    },
    [after, limit],
  )
}

/** `activationHash`: null if the code was not hashed */
export type SampledProfile = SealedProfile & { activationHash: Buffer | null }

/** About `size` profiles, picked at random over the whole stock; all of them if there are fewer. */
export function sampleSealedProfiles(database: Queryable, size: number): Promise<SampledProfile[]> {
  return database.query(
    `with bounds as (
       select min(profile_id) as low, max(profile_id) as high from profiles
     ), picked as (
       select distinct case when high - low < $1 then low + n else low + floor(random() * (high - low + 1))::bigint end as profile_id
       from bounds cross join generate_series(0, $1 - 1) as n
     )
     select p.profile_id as "profileId", p.tariff_id as "tariffId", p.iccid_hash as "iccidHash", p.sealed,
       p.activation_hash as "activationHash"
     from profiles p where p.profile_id = any (array(select profile_id from picked))
     order by p.profile_id`,
    [size],
  )
}

/**
 * Replaces each ciphertext that has not changed since it was read.
 * @returns how many were replaced
 */
export function replaceSealed(
  database: Queryable,
  changes: { profileId: number; before: Buffer; after: Buffer }[],
): Promise<number> {
  return database.execute(
    {
      name: 'esim.replace-sealed',
      text: `update profiles p set sealed = i.after
             from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as i (profile_id, before, after)
             where p.profile_id = i.profile_id and p.sealed = i.before`,
    },
    [changes.map(({ profileId }) => profileId), changes.map(({ before }) => before), changes.map(({ after }) => after)],
  )
}
