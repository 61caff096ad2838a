import { mayOnlyGrow } from '../../campaigns/form/fields.ts'
import { type CampaignValues, periodValues } from '../../campaigns/form/values.ts'
import type { ReadCampaign } from '../queries.ts'

/** The platform has `dateFrom` and `dateTo` for these values, and allows both or none to change. */
const ofPeriod: readonly string[] = periodValues

/**
 * Which of the changes the campaign still allows.
 *
 * @returns `open`: the changes to fields that its status allows to change. `locked`: the names of the others. `kept`: the names of the
 *   banks whose invitations the changes would take back, which is not possible once a bank has approved. In `open` they stay invited
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
