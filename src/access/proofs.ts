/**
 * Passwords and codes with which people prove who they are within a session. A wrong one leaves the same traces as a
 * wrong code at a login (contract/audit-log.md, "Refusals").
 */
import type { Caller, Trace } from '../caller.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { noteWrongCode } from './login-store.ts'
import type { Lacking } from './refusal-store.ts'
import type { RefusalSums } from './refusal-sums.ts'
import type { WrongCodes } from './throttle.ts'
import { findUser } from './user-store.ts'

/** @property outcome `missing`: nobody sent the code of the second factor after a right password */
export type LoginFailure = {
  by: 'password' | 'secret' | 'code'
  outcome: 'refused' | 'throttled' | 'missing'
  address: string
}

type Refused = { caller: Caller | null; login: string | null; trace: Trace; lacking: Lacking }

/**
 * Counts a wrong proof in the account's audit log and among the person's `failedLogins`. It does not make logins with
 * the password wait, because such proofs have their own throttle (`WrongCodes`).
 *
 * @param refused.login null: nobody is known to have tried
 */
export async function noteRefused(
  { database, refusalSums }: { database: Queryable; refusalSums: Pick<RefusalSums, 'add'> },
  { caller, login, trace, lacking }: Refused,
): Promise<void> {
  refusalSums.add({ action: 'login.refused', caller, trace, lacking })
  if (login !== null) await noteWrongCode(database, login)
}

/** Who proves something in a session, and the request with which they do so. */
export type Prover = { userId: string; address: string; caller: Caller; trace: Trace }

export type Proofs = {
  /**
   * Carries out an attempt, and limits and records wrong ones.
   *
   * @param attempt returns null or false for a wrong password or code
   * @returns whether it was right
   * @throws DomainError 'too-many' after too many wrong passwords and codes; the errors of `attempt`
   */
  guard(prover: Prover, by: 'password' | 'code', attempt: () => Promise<boolean | null>): Promise<boolean>
}

/**
 * @param deps.database not the transaction of the request. That one is rolled back after a wrong proof
 */
export function createProofs(deps: {
  database: Queryable
  wrongCodes: WrongCodes
  refusalSums: Pick<RefusalSums, 'add'>
  observeFailure(failure: LoginFailure): void
}): Proofs {
  const { database, wrongCodes, observeFailure } = deps
  return {
    async guard({ userId, address, caller, trace }, by, attempt) {
      try {
        if (await wrongCodes.guard(address, userId, attempt)) return true
      } catch (error) {
        if (error instanceof DomainError && error.code === 'too-many')
          observeFailure({ by, outcome: 'throttled', address })
        throw error
      }
      observeFailure({ by, outcome: 'refused', address })
      const person = await findUser(database, { userId })
      await noteRefused(deps, { caller, login: person?.login ?? null, trace, lacking: by })
      return false
    },
  }
}
