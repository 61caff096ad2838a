/** Proves the books (operations.md, `perkline audit`): what the rules promise is counted anew from what the database holds. */
import { type Database, type Queryable, queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { auditChecks, type Check, countProfileByProfile, type StateCount } from './audit-checks.ts'
import { countStock } from './stock-store.ts'

export type AuditResult = { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }

/** More faults of one check than anybody reads are counted but not named. */
const namedFaults = 10

/**
 * Checks all orders and profiles in one snapshot; sales go on meanwhile.
 *
 * @returns each check with what was found, in plain words and without secrets
 */
export function audit(database: Database, now: Date): Promise<AuditResult> {
  const begin = 'begin isolation level repeatable read read only'
  return longTransaction(
    database,
    async client => {
      const snapshot = queryable(client)
      const checks = [await checkBooks(snapshot, now)]
      for (const check of auditChecks) checks.push(await run(snapshot, check))
      return { ok: checks.every(({ ok }) => ok), checks }
    },
    { begin, keep: false },
  )
}

async function run(database: Queryable, { name, holds, faults }: Check): Promise<AuditResult['checks'][0]> {
  const rows = await database.query<{ fault: string; total: number }>(
    `select fault, count(*) over () as total from (${faults}) as f limit ${namedFaults}`,
  )
  const named = rows.map(({ fault }) => fault)
  return describe(name, holds, named, rows[0]?.total ?? 0)
}

/** Two counts that share nothing: profile by profile, and order by order as `perkline stock` tells it. */
async function checkBooks(database: Queryable, now: Date): Promise<AuditResult['checks'][0]> {
  const told = new Map((await countStock(database, now)).map(count => [nameOf(count), count]))
  const counted = await countProfileByProfile(database, now)
  const faults = counted.flatMap(count => faultsOfBooks(count, told.get(nameOf(count))))
  const sum = (state: Exclude<keyof StateCount, 'operatorCode' | 'tariffCode'>) =>
    counted.reduce((total, count) => total + count[state], 0)
  const holds =
    `${sum('profiles')} profiles of ${counted.length} tariffs are ${sum('free')} free, ${sum('reserved')} reserved, ` +
    `${sum('sold')} sold and ${sum('withdrawn')} withdrawn`
  return describe('every profile is either free, reserved, sold or withdrawn', holds, faults, faults.length)
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

function describe(name: string, holds: string, faults: string[], total: number): AuditResult['checks'][0] {
  if (total === 0) return { name, ok: true, detail: holds }
  const named = faults.slice(0, namedFaults)
  const more = total > named.length ? [`and ${total - named.length} more`] : []
  return { name, ok: false, detail: [...named, ...more].join('; ') }
}
