/**
 * Checks the version that a caller based its request on (contract/http.md, "Versions of a campaign"). For a merchant it must be
 * the current one. For a bank, the terms and the bank's own part must not have changed since.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'
import { type Decision, effectOf } from './lifecycle.ts'
import type { LockedCampaign } from './locking-store.ts'

/**
 * `isExpected` tells whether the request accepts a version with these entity tags. Left out: any version is accepted.
 */
export type Guard = { isExpected?(tags: readonly string[]): boolean }

/** The strong entity tag of a version of a campaign. */
export const versionTag = (version: number): string => `"${version}"`

/**
 * The strong entity tag of a version for a bank. It has no version number, because the number would reveal how often
 * other banks' parts have changed.
 */
export const instantTag = (updatedAt: Date): string => `"${updatedAt.toISOString()}"`

const stale = () =>
  new DomainError(
    'stale',
    'The campaign has changed since it was read, or If-Match is not the quoted tag of a version: read it again',
  )

/**
 * Decides about the current state, after a check of the version that the request is based on. A repeated request
 * changes nothing, so its version is not checked. If the decision would be refused, the version is checked first, so
 * that the caller learns that the state has changed.
 *
 * @param requireVersion throws 'stale' when the request is based on another version
 * @throws DomainError what `requireVersion` and `decide` throw
 */
export async function decideOn(requireVersion: () => void | Promise<void>, decide: () => Decision): Promise<Decision> {
  if (effectOf(decide) !== 'repeats') await requireVersion()
  return decide()
}

/**
 * Checks the version that a merchant's request is based on. For a merchant, every change of the campaign makes a version stale.
 *
 * @throws DomainError 'stale' when the request does not accept the current version
 */
export function requireExpected({ version }: LockedCampaign, { isExpected }: Guard): void {
  if (isExpected?.([versionTag(version)]) === false) throw stale()
}

/**
 * Reads which versions a bank may base its decision on: the last one that changed the terms or the bank's own part
 * (`version`), and all later ones. `instants` are the `updatedAt` values of these versions. Most come from the history.
 * The current value (`now`) may not be in the history, so it is added. A value that an older version also has is
 * ambiguous, so it is left out. The value that the bank gets (`shown`) is always included.
 */
const seenStatement: Statement = {
  name: 'campaigns.seen-by-bank',
  text: `
    with seen as (
      select greatest(c.terms_version, b.version) as version, c.updated_at as now,
        ${updatedForBank('c', 'b.changed_at')} as shown
      from campaigns c join campaign_banks b using (cashback_id) where c.cashback_id = $1 and b.bank_id = $2
    )
    select seen.version, array(
      select at from campaign_history where cashback_id = $1 group by at having min(campaign_history.version) >= seen.version
      union
      select now where not exists (
        select from campaign_history h where h.cashback_id = $1 and h.at = now and h.version < seen.version)
      union select shown
    ) as instants
    from seen`,
}

/**
 * Checks the version that a bank's decision is based on. The version is stale only if the terms or the bank's own part
 * have changed since; other changes of the campaign do not matter. The bank may name the version by its number or by
 * its `updatedAt`. Lock the campaign before the call.
 *
 * @throws DomainError 'stale', also for a tag that the campaign never had
 */
export async function requireSeen(
  transaction: Queryable,
  { cashbackId, version }: LockedCampaign,
  bankId: string,
  { isExpected }: Guard,
): Promise<void> {
  if (!isExpected || isExpected([versionTag(version)])) return
  const [seen] = await transaction.query<{ version: number; instants: Date[] }>(seenStatement, [cashbackId, bankId])
  if (!seen) throw stale()
  const versions = Array.from({ length: version - seen.version + 1 }, (_, later) => versionTag(seen.version + later))
  const instants = seen.instants.map(instantTag)
  if (!isExpected([...versions, ...instants])) throw stale()
}
