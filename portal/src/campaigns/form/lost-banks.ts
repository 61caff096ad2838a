/** Finds the banks of a draft that can no longer be invited. Pure. */
import type { CampaignValues } from './values.ts'

/** The names of chosen banks by id. The draft stores them: once a bank cannot be invited, the platform does not tell its name. */
export type BankNames = Record<string, string>

export function bankNamesOf(chosen: readonly string[], banks: readonly { id: string; name: string }[]): BankNames {
  const ids = new Set(chosen)
  return Object.fromEntries(banks.filter(({ id }) => ids.has(id)).map(({ id, name }) => [id, name]))
}

/**
 * Removes the banks that can no longer be chosen from a draft. The form shows no box for them, so the person could not
 * clear it.
 *
 * @param banks the banks that can be chosen
 * @returns `lost`: the names of the removed banks; null for a name that the draft does not contain
 */
export function withoutLostBanks(
  restored: Partial<CampaignValues>,
  banks: readonly { id: string }[],
  names: BankNames,
): { values: Partial<CampaignValues>; lost: (string | null)[] } {
  const { participantsIds } = restored
  if (participantsIds === undefined) return { values: restored, lost: [] }
  const known = new Set(banks.map(({ id }) => id))
  return {
    values: { ...restored, participantsIds: participantsIds.filter(id => known.has(id)) },
    lost: participantsIds.filter(id => !known.has(id)).map(id => names[id] ?? null),
  }
}
