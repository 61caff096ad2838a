/** Finds the banks of a draft that can no longer be invited. Pure. */
import type { CampaignValues } from './values.ts'

/** The names of chosen banks by id. A draft stores them: later, the platform may not list these banks any more. */
export type BankNames = Record<string, string>

export function bankNamesOf(chosen: readonly string[], banks: readonly { id: string; name: string }[]): BankNames {
  const ids = new Set(chosen)
  return Object.fromEntries(banks.filter(({ id }) => ids.has(id)).map(({ id, name }) => [id, name]))
}

/**
 * Removes from a draft the banks that can no longer be chosen. The form shows no checkboxes for these banks, so the
 * person could not remove them.
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
