import { mayOnlyGrow } from '../../campaigns/form/fields.ts'
import { type CampaignValues, periodValues } from '../../campaigns/form/values.ts'
import type { ReadCampaign } from '../queries.ts'

/** The form's values for the period. The platform stores `dateFrom` and `dateTo`, and allows changes of both or of neither. */
const ofPeriod: readonly string[] = periodValues

/**
 * Splits the changes into those that the campaign still allows and those that it no longer allows.
 *
 * @returns `open`: the allowed changes. `locked`: the names of the fields that can no longer be changed. `kept`: the
 *   names of the banks that the changes would remove. Once a bank has approved, no bank can be removed, so these banks
 *   stay invited in `open`
 */
export function openChanges(
  { permissions, banks }: Pick<ReadCampaign, 'permissions' | 'banks'>,
  changes: Partial<CampaignValues>,
): { open: Partial<CampaignValues>; locked: string[]; kept: string[] } {
  const editable: readonly string[] = permissions.editableFields
  const isOpen = (field: string) => editable.includes(ofPeriod.includes(field) ? 'dateFrom' : field)
  const locked = Object.keys(changes).filter(field => !isOpen(field))
  const { participantsIds, ...others } = Object.fromEntries(
    Object.entries(changes).filter(([field]) => isOpen(field)),
  ) as Partial<CampaignValues>
  if (participantsIds === undefined) return { open: others, locked, kept: [] }
  if (!mayOnlyGrow(permissions.editableFields)) return { open: { ...others, participantsIds }, locked, kept: [] }
  const invited = banks.map(({ id }) => id)
  const added = participantsIds.filter(id => !invited.includes(id))
  const kept = banks.filter(({ id }) => !participantsIds.includes(id)).map(({ name }) => name)
  const open = added.length > 0 ? { ...others, participantsIds: [...invited, ...added] } : others
  return { open, locked, kept }
}
