/**
 * Checks the version that a caller based its request on (contract/http.md, "Versions of a campaign"). For a merchant it must be
 * the current one. For a bank, the terms and the bank's own part must not have changed since.
 */
import type { Queryable, Statement } from '../../db/database.ts'
import { StaleError } from '../../errors.ts'
import { updatedForBank } from '../seen-by-bank-store.ts'
import { type Decision, effectOf } from './lifecycle.ts'
import type { LockedCampaign } from './locking-store.ts'

/**
 * `isExpected` tells whether the request accepts a version with these entity tags. If it is absent, the request accepts
 * any version.
 */
export type Guard = { isExpected?(tags: readonly string[]): boolean }

/** The strong entity tag of a version of a campaign. */
export const versionTag = (version: number): string => `"${version}"`

/**
 * The strong entity tag of a version for a bank. It has no version number, because the number would reveal how often
 * other banks' parts have changed.
 */
export const instantTag = (updatedAt: Date): string => `"${updatedAt.toISOString()}"`

const stale = () => new StaleError('campaign')

/**
 * Decides about the current state, after a check of the version that the request is based on. A repeated request
 * changes nothing, so its version is not checked. If both the version is old and the decision is refused, the caller
 * gets 'stale', and so learns that the state has changed.
 *
 * @param requireVersion throws 'stale' when the request is based on another version
 * @throws DomainError what `requireVersion` and `decide` throw
 */
export async function decideOn(requireVersion: () => void | Promise<void>, decide: () => Decision): Promise<Decision> {
  if (effectOf(decide) !== 'repeats') await requireVersion()
  return decide()
}

/**
 * Checks the version that a merchant's request is based on. Every change of the campaign makes that version stale.
 *
 * @throws DomainError 'stale' when the request does not accept the current version
 */
export function requireExpected({ version }: LockedCampaign, { isExpected }: Guard): void {
  if (isExpected?.([versionTag(version)]) === false) throw stale()
}

/**
 * Reads the `updatedAt` values with which the bank may name a version that is not stale: the time of the last change of
 * the terms or of its own part (version `since`), the times of later changes of the status, and the present value. A
 * time that an older version has, too, is ambiguous and left out. Changes that the bank does not see are also left out.
 * Otherwise the bank could find out their times by trying many values.
 */
const seenStatement: Statement = {
  name: 'campaigns.seen-by-bank',
  text: `
    with seen as (
      select greatest(c.terms_version, b.version) as since, ${updatedForBank('b.changed_at')} as shown
      from campaigns c join campaign_banks b using (cashback_id) where c.cashback_id = $1 and b.bank_id = $2
    )
    select array(
      select at from campaign_history where cashback_id = $1 group by at
      having min(version) >= since
        and bool_or(version = since or bank_id = $2 or bank_id is null and from_state is distinct from to_state)
      union select shown
    ) as instants
    from seen`,
}

/**
 * Checks the version that a bank's decision is based on. The version is stale only if the terms or the bank's own part
 * have changed since; other changes of the campaign do not matter. The bank names the version by its `updatedAt`,
 * because a version number would reveal how many other banks have decided. Lock the campaign before the call.
 *
 * @throws DomainError 'stale', also for a tag that the campaign never had
 */
export async function requireSeen(
  transaction: Queryable,
  { cashbackId }: LockedCampaign,
  bankId: string,
  { isExpected }: Guard,
): Promise<void> {
  if (!isExpected) return
  const [seen] = await transaction.query<{ instants: Date[] }>(seenStatement, [cashbackId, bankId])
  if (!seen || !isExpected(seen.instants.map(instantTag))) throw stale()
}
