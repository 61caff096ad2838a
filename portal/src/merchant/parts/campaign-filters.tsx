import { Button, Chip, Group, NativeSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { DaysInput } from '../../ui/dates.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { countOf, groupNames, groups, type Group as StatusGroup, statusNames } from '../campaign-groups.ts'
import { homeQuery } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { merchantTexts } from '../texts.ts'
import classes from './parts.module.css'

type Given = { search: CampaignsSearch; onSearch: (change: Partial<CampaignsSearch>) => void }

/** Which campaigns the table shows. */
export function CampaignFilters({ search, onSearch }: Given) {
  const { campaigns: texts } = useTexts(merchantTexts)
  const { name, group, status, from, to } = search
  const isFiltered = [name, group, status, from, to].some(value => value !== undefined)
  const nothing = { name: undefined, group: undefined, status: undefined, from: undefined, to: undefined }
  return (
    <Stack gap="sm" mb="md">
      <GroupChips search={search} onSearch={onSearch} />
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

/** The general statuses with how many campaigns each has. */
function GroupChips({ search: { group }, onSearch }: Given) {
  const { campaigns, groups: names } = useTexts(merchantTexts)
  const format = useFormat()
  const { data } = useQuery(homeQuery)
  const label = (each: StatusGroup) =>
    data ? `${names[each]} ${format.number(countOf(each, data.counts.byStatus))}` : names[each]
  return (
    <Chip.Group
      value={group ?? ''}
      onChange={value =>
        onSearch({ group: groupNames.find(each => each === value), status: undefined, page: undefined })
      }
    >
      <Group gap={6} role="radiogroup" aria-label={campaigns.group}>
        <Chip value="">{names.all}</Chip>
        {groupNames.map(each => (
          <Chip key={each} value={each}>
            {label(each)}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
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
