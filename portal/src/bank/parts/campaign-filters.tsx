import { Button, NativeSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { GroupChips } from '../../campaigns/group-chips.tsx'
import classes from '../../campaigns/parts.module.css'
import { useTexts } from '../../i18n/preferences.tsx'
import { DaysInput } from '../../ui/dates.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { homeQuery } from '../queries.ts'
import { authors, type CampaignsSearch, decisions } from '../search.ts'
import { bankTexts } from '../texts.ts'

type Given = { search: CampaignsSearch; onSearch: (change: Partial<CampaignsSearch>) => void }

const nothing = {
  name: undefined,
  group: undefined,
  decision: undefined,
  author: undefined,
  from: undefined,
  to: undefined,
}

/** Which campaigns the table shows. */
export function CampaignFilters({ search, onSearch }: Given) {
  const { campaigns: texts } = useTexts(bankTexts)
  const { data: home } = useQuery(homeQuery)
  const { name, group, decision, author, from, to } = search
  const isFiltered = [name, group, decision, author, from, to].some(value => value !== undefined)
  return (
    <Stack gap="sm" mb="md">
      <GroupChips group={group} home={home} onGroup={chosen => onSearch({ group: chosen })} />
      <div className={classes.filters}>
        <SearchInput label={texts.search} value={name} onChange={words => onSearch({ name: words })} />
        <Choices search={search} onSearch={onSearch} />
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

function Choices({ search: { decision, author }, onSearch }: Given) {
  const { campaigns: texts } = useTexts(bankTexts)
  const { participation } = useTexts(statusTexts)
  return (
    <>
      <NativeSelect
        aria-label={texts.decision}
        data={[
          { value: '', label: texts.anyDecision },
          ...decisions.map(value => ({ value, label: participation[value] })),
        ]}
        value={decision ?? ''}
        onChange={({ currentTarget }) => onSearch({ decision: decisions.find(each => each === currentTarget.value) })}
      />
      <NativeSelect
        aria-label={texts.author}
        data={[
          { value: '', label: texts.anyAuthor },
          ...authors.map(value => ({ value, label: texts.authors[value] })),
        ]}
        value={author ?? ''}
        onChange={({ currentTarget }) => onSearch({ author: authors.find(each => each === currentTarget.value) })}
      />
    </>
  )
}
