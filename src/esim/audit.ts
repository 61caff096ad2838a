/** The books of the stock, counted twice, and whether what is sealed still opens. */
import { type CheckResult, checkResult } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { SealingError } from '../sealing.ts'
import { countProfileByProfile, type StateCount } from './audit-checks.ts'
import type { Sealing } from './sealing.ts'
import { countStock, type SealedProfile, sampleSealedProfiles } from './stock-store.ts'

/** Two counts that share nothing: profile by profile, and order by order as `perkline stock` tells it. */
export async function checkBooks(database: Queryable, now: Date): Promise<CheckResult> {
  const told = new Map((await countStock(database, now)).map(count => [nameOf(count), count]))
  const counted = await countProfileByProfile(database, now)
  const faults = counted.flatMap(count => faultsOfBooks(count, told.get(nameOf(count))))
  const states = ['profiles', 'free', 'reserved', 'sold', 'withdrawn'] as const
  const sums = states.map(state => [state, counted.reduce((total, count) => total + count[state], 0)] as const)
  const { profiles, free, reserved, sold, withdrawn } = Object.fromEntries(sums)
  const check = {
    code: 'profile-states',
    name: 'every profile is either free, reserved, sold or withdrawn',
    holds: `${profiles} profiles of ${counted.length} tariffs are ${free} free, ${reserved} reserved, ${sold} sold and ${withdrawn} withdrawn`,
    params: { ...Object.fromEntries(sums), tariffs: counted.length },
  }
  return checkResult(check, faults, faults.length)
}

function faultsOfBooks({ profiles, ...counted }: StateCount, told: Omit<StateCount, 'profiles'> | undefined): string[] {
  const name = nameOf(counted)
  const states = ({ free, reserved, sold, withdrawn }: Omit<StateCount, 'profiles'>) =>
    `${free} free, ${reserved} reserved, ${sold} sold, ${withdrawn} withdrawn`
  const sum = counted.free + counted.reserved + counted.sold + counted.withdrawn
  if (sum !== profiles)
    return [`${name} has ${profiles} profiles, but in all states together ${sum} (${states(counted)})`]
  if (told && states(told) === states(counted)) return []
  return [`${name}: profile by profile ${states(counted)}, order by order ${told ? states(told) : 'nothing'}`]
}

const nameOf = ({ operatorCode, tariffCode }: Pick<StateCount, 'operatorCode' | 'tariffCode'>) =>
  `${operatorCode}/${tariffCode}`

/** A profile takes some microseconds to open. */
const openedProfiles = 2_000

/** Opens a random sample of the profiles: each must open in its own row and hold the ICCID that the row is found by (contract/security.md, "Keys"). */
export async function checkSealedProfiles(database: Queryable, sealing: Sealing): Promise<CheckResult> {
  const profiles = await sampleSealedProfiles(database, openedProfiles)
  const errors = profiles.flatMap(profile => openingError(sealing, profile) ?? [])
  const check = {
    code: 'sealed-profiles',
    name: 'what is sealed belongs to its profile',
    holds: `${profiles.length} profiles picked at random open, each in its own row`,
    params: { profiles: profiles.length },
  }
  return checkResult(check, errors, errors.length)
}

function openingError(sealing: Sealing, profile: SealedProfile): string | null {
  try {
    const { iccid } = sealing.open(profile.sealed, profile)
    if (sealing.hashIccid(iccid).equals(profile.iccidHash)) return null
    return `profile ${profile.profileId} holds another ICCID than the one it is found by`
  } catch (error) {
    if (error instanceof SealingError)
      return `profile ${profile.profileId} was sealed with a key that MASTER_KEY does not hold`
    return `profile ${profile.profileId} does not open: it was changed, or moved from another row`
  }
}
