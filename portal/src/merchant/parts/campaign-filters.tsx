import { Button, NativeSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { groups, statusNames } from '../../campaigns/campaign-groups.ts'
import { GroupChips } from '../../campaigns/group-chips.tsx'
import classes from '../../campaigns/parts.module.css'
import { useTexts } from '../../i18n/preferences.tsx'
import { DaysInput } from '../../ui/dates.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { homeQuery } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { merchantTexts } from '../texts.ts'

type Given = { search: CampaignsSearch; onSearch: (change: Partial<CampaignsSearch>) => void }

/** Which campaigns the table shows. */
export function CampaignFilters({ search, onSearch }: Given) {
  const { campaigns: texts } = useTexts(merchantTexts)
  const { data: home } = useQuery(homeQuery)
  const { name, group, status, from, to } = search
  const isFiltered = [name, group, status, from, to].some(value => value !== undefined)
  const nothing = { name: undefined, group: undefined, status: undefined, from: undefined, to: undefined }
  return (
    <Stack gap="sm" mb="md">
      <GroupChips
        group={group}
        home={home}
        onGroup={chosen => onSearch({ group: chosen, status: undefined, page: undefined })}
      />
      <div className={classes.filters}>
        <SearchInput label={texts.search} value={name} onChange={words => onSearch({ name: words })} />
        <StatusSelect search={search} onSearch={onSearch} />
        <DaysInput
          aria-label={texts.dates}
          placeholder={texts.dates}
          isClearable
          value={[from ?? null, to ?? null]}
          onChange={([first, last]) => onSearch({ from: first ?? undefined, to: last ?? undefined })}
        />
        {isFiltered && (
          <Button variant="subtle" onClick={() => onSearch(nothing)}>
            {texts.clear}
          </Button>
        )}
      </div>
    </Stack>
  )
}

function StatusSelect({ search: { group, status }, onSearch }: Given) {
  const { campaigns: texts } = useTexts(merchantTexts)
  const names = useTexts(statusTexts).campaign
  const offered = group ? groups[group] : statusNames
  return (
    <NativeSelect
      aria-label={texts.status}
      data={[{ value: '', label: texts.anyStatus }, ...offered.map(value => ({ value, label: names[value] }))]}
      value={status ?? ''}
      onChange={({ currentTarget }) => onSearch({ status: statusNames.find(each => each === currentTarget.value) })}
    />
  )
}
