import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { groups, statusNames } from '../../campaigns/list/campaign-groups.ts'
import { ListFilters } from '../../campaigns/list/campaigns-list.tsx'
import { listTexts } from '../../campaigns/list/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { homeQuery } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { merchantTexts } from '../texts.ts'

type Props = { search: CampaignsSearch; onSearch: (change: Partial<CampaignsSearch>) => void }

const nothing = {
  name: undefined,
  group: undefined,
  status: undefined,
  from: undefined,
  to: undefined,
} satisfies Record<keyof Omit<CampaignsSearch, 'page' | 'after' | 'sortBy' | 'sortOrder'>, undefined>

/** The filters of the table of campaigns. */
export function CampaignFilters({ search, onSearch }: Props) {
  const { data: home } = useQuery(homeQuery())
  const onGroup = (group: CampaignsSearch['group']) => onSearch({ group, status: undefined })
  return (
    <ListFilters {...{ search, onSearch, onGroup, nothing, home }}>
      <StatusSelect search={search} onSearch={onSearch} />
    </ListFilters>
  )
}

function StatusSelect({ search: { group, status }, onSearch }: Props) {
  const { campaigns: texts } = useTexts(merchantTexts)
  const { status: label } = useTexts(listTexts)
  const names = useTexts(statusTexts).campaign
  const offered = group ? groups[group] : statusNames
  return (
    <NativeSelect
      aria-label={label}
      data={[{ value: '', label: texts.anyStatus }, ...offered.map(value => ({ value, label: names[value] }))]}
      value={status ?? ''}
      onChange={({ currentTarget }) => onSearch({ status: statusNames.find(each => each === currentTarget.value) })}
    />
  )
}
