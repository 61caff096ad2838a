import type { CampaignValues } from '../../campaigns/form/values.ts'
import type { ReadCampaign } from '../queries.ts'

/** The parts of a period in the form. The platform has `dateFrom` and `dateTo` instead, and allows both or none to change. */
const ofPeriod: readonly string[] = ['zone', 'hasTimes', 'days', 'clocks'] satisfies (keyof CampaignValues)[]

/** The changes to fields that the campaign’s status still allows to change. */
export function openChanges(
  { permissions }: Pick<ReadCampaign, 'permissions'>,
  changes: Partial<CampaignValues>,
): Partial<CampaignValues> {
  const editable: readonly string[] = permissions.editableFields
  const isOpen = (field: string) => editable.includes(ofPeriod.includes(field) ? 'dateFrom' : field)
  return Object.fromEntries(Object.entries(changes).filter(([field]) => isOpen(field)))
}
