/** The books of the stock, counted twice. */
import { type CheckResult, checkResult } from '../db/check.ts'
import type { Queryable } from '../db/database.ts'
import { countProfileByProfile, type StateCount } from './audit-checks.ts'
import { countStock } from './stock-store.ts'

/** Two counts that share nothing: profile by profile, and order by order as `perkline stock` tells it. */
export async function checkBooks(database: Queryable, now: Date): Promise<CheckResult> {
  const told = new Map((await countStock(database, now)).map(count => [nameOf(count), count]))
  const counted = await countProfileByProfile(database, now)
  const faults = counted.flatMap(count => faultsOfBooks(count, told.get(nameOf(count))))
  const sum = (state: Exclude<keyof StateCount, 'operatorCode' | 'tariffCode'>) =>
    counted.reduce((total, count) => total + count[state], 0)
  const holds =
    `${sum('profiles')} profiles of ${counted.length} tariffs are ${sum('free')} free, ${sum('reserved')} reserved, ` +
    `${sum('sold')} sold and ${sum('withdrawn')} withdrawn`
  const name = 'every profile is either free, reserved, sold or withdrawn'
  return checkResult({ name, holds }, faults, faults.length)
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
