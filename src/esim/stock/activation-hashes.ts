/**
 * Adds the hash of the activation code to profiles that were loaded without it. Some were in stock before migration
 * 0060 created the hashes; others are loaded by a process of an older version during an upgrade. The table
 * `unhashed_profiles` lists them.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Database, Queryable } from '../../db/database.ts'
import type { ProfileRow, Sealing } from './sealing.ts'
import { tryLockImports } from './store.ts'

type Deps = {
  database: Database
  sealing: Sealing
  /** Called when profiles were left without a hash. `profiles` has the ids of the first of them. */
  warn(fields: { count: number; profiles: number[] }, text: string): void
}

/** Opening this many profiles and storing their hashes takes some ten milliseconds. */
const profilesAtOnce = 500
const openedAtOnce = 100
const maxNamed = 20

type Range = { rangeId: number; first: number; last: number }
/** One of the profiles that are looked at; `sealed` is null when the profile has a hash already. */
type Found = ProfileRow & { sealed: Buffer | null }
type Hashed = { profileId: number; hash: Buffer }
type Done = { outcome: 'soon' | null; repeated: number[]; unreadable: number[] }

/**
 * Hashes the activation codes of the next profiles. No two profiles may have the same hash. If another profile has it
 * already, this profile gets none and is listed in `repeated_activation_codes`.
 *
 * @param input.atOnce how many profiles are looked at
 * @returns 'soon' when there may be more; false when there are none; null when an import or another process holds the
 *   lock
 */
export async function hashActivationCodes(
  { database, sealing, warn }: Deps,
  { atOnce = profilesAtOnce }: { atOnce?: number } = {},
): Promise<'soon' | false | null> {
  if ((await findRange(database)) === undefined) return false
  const { outcome, repeated, unreadable } = await database.transaction(transaction =>
    hashPiece(transaction, sealing, atOnce),
  )
  const tell = (profiles: number[], text: string) => {
    if (profiles.length > 0) warn({ count: profiles.length, profiles: profiles.slice(0, maxNamed) }, text)
  }
  tell(repeated, 'profiles were loaded with the activation codes of others: perkline audit names them')
  tell(unreadable, 'profiles cannot be decrypted, so their activation codes were not compared')
  return outcome
}

async function hashPiece(transaction: Queryable, sealing: Sealing, atOnce: number): Promise<Done> {
  const nothing = { repeated: [], unreadable: [] }
  // The lock prevents an import from adding one of these codes between `storeHashes` and `noteRepeated`.
  if (!(await tryLockImports(transaction))) return { outcome: null, ...nothing }
  const range = await findRange(transaction)
  if (range === undefined) return { outcome: 'soon', ...nothing }
  const profiles = await findProfiles(transaction, range, atOnce)
  const { hashed, unreadable } = await hashAll(sealing, profiles)
  await storeHashes(transaction, hashed)
  const repeated = await noteRepeated(transaction, hashed)
  const reached = profiles.length < atOnce ? range.last : (profiles.at(-1)?.profileId ?? range.last)
  if (reached >= range.last)
    await transaction.execute('delete from unhashed_profiles where range_id = $1', [range.rangeId])
  else
    await transaction.execute('update unhashed_profiles set first_profile_id = $2 where range_id = $1', [
      range.rangeId,
      reached + 1,
    ])
  return { outcome: 'soon', repeated, unreadable }
}

async function hashAll(sealing: Sealing, profiles: Found[]): Promise<{ hashed: Hashed[]; unreadable: number[] }> {
  const hashed: Hashed[] = []
  const unreadable: number[] = []
  for (const [index, { sealed, ...row }] of profiles.entries()) {
    if (index % openedAtOnce === 0) await othersTurn()
    if (sealed === null) continue
    try {
      const hash = sealing.hashActivationCode(sealing.open(sealed, row).activationCode)
      if (hash) hashed.push({ profileId: row.profileId, hash })
    } catch {
      unreadable.push(row.profileId)
    }
  }
  return { hashed, unreadable }
}

async function findRange(database: Queryable): Promise<Range | undefined> {
  const [range] = await database.query<Range>(
    `select range_id as "rangeId", first_profile_id as first, last_profile_id as last from unhashed_profiles
     order by range_id limit 1`,
  )
  return range
}

function findProfiles(transaction: Queryable, { first, last }: Range, limit: number): Promise<Found[]> {
  return transaction.query(
    `select profile_id as "profileId", tariff_id as "tariffId", iccid_hash as "iccidHash",
       case when activation_hash is null then sealed end as sealed
     from profiles where profile_id between $1 and $2 order by profile_id limit $3`,
    [first, last, limit],
  )
}

const given = 'unnest($1::bigint[], $2::bytea[]) as g (profile_id, activation_hash)'
const valuesOf = (hashed: Hashed[]) => [hashed.map(({ profileId }) => profileId), hashed.map(({ hash }) => hash)]

/**
 * Stores the hashes that no profile has yet. If several of these profiles have the same code, only the one that was
 * loaded first gets the hash.
 */
async function storeHashes(transaction: Queryable, hashed: Hashed[]): Promise<void> {
  await transaction.execute(
    `update profiles p set activation_hash = f.activation_hash
     from (select distinct on (activation_hash) * from ${given} order by activation_hash, profile_id) as f
     where p.profile_id = f.profile_id
       and not exists (select from profiles o where o.activation_hash = f.activation_hash)`,
    valuesOf(hashed),
  )
}

/** Lists the profiles that got no hash, because another profile has it. @returns their ids */
async function noteRepeated(transaction: Queryable, hashed: Hashed[]): Promise<number[]> {
  const repeated = await transaction.query<{ profileId: number }>(
    `insert into repeated_activation_codes (profile_id, other_profile_id)
     select g.profile_id, p.profile_id from ${given} join profiles p using (activation_hash)
     where p.profile_id <> g.profile_id order by g.profile_id
     on conflict do nothing returning profile_id as "profileId"`,
    valuesOf(hashed),
  )
  return repeated.map(({ profileId }) => profileId)
}
