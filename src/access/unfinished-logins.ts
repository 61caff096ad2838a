/**
 * Records in the audit log the logins with a right password that nobody finished with the code of the second factor
 * (contract/audit-log.md, "Refusals"). Whoever began one may have stolen the password. Finished logins are not recorded
 * here.
 */

import type { Database } from '../db/database.ts'
import { takeExpired } from './factors/factor-store.ts'
import { callerOfPerson } from './log-in.ts'
import { noteWithoutCode } from './login-store.ts'
import type { LoginFailure } from './proofs.ts'
import type { RefusalSums } from './refusal-sums.ts'

type UnfinishedDeps = {
  database: Database
  refusalSums: Pick<RefusalSums, 'add'>
  observeFailure(failure: LoginFailure): void
}

const toldAtOnce = 1_000

/** Records some logins for which nobody sent the code in time. @returns whether there may be more */
export async function tellUnfinishedLogins({
  database,
  refusalSums,
  observeFailure,
}: UnfinishedDeps): Promise<boolean> {
  const expired = await takeExpired(database, toldAtOnce)
  const unanswered = expired.flatMap(({ from, ...person }) => (from === null ? [] : [{ ...person, from }]))
  for (const { userId, account, from } of unanswered) {
    const trace = { ...from, requestId: '' }
    const caller = callerOfPerson({ account, userId }, { trace })
    refusalSums.add({ action: 'login.refused', caller, trace, lacking: 'no-code' })
    observeFailure({ by: 'code', outcome: 'missing', address: from.address })
  }
  for (const [userId, { length }] of Map.groupBy(unanswered, one => one.userId))
    await noteWithoutCode(database, userId, length)
  return expired.length === toldAtOnce
}
