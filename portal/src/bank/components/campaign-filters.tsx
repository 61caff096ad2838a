import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListFilters } from '../../campaigns/list/campaigns-list.tsx'
import { useTexts } from '../../i18n/preferences.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { homeQuery } from '../queries.ts'
import { authors, type CampaignsSearch, decisions } from '../search.ts'
import { bankTexts } from '../texts.ts'

type Props = { search: CampaignsSearch; onSearch: (change: Partial<CampaignsSearch>) => void }

const nothing = {
  name: undefined,
  group: undefined,
  decision: undefined,
  author: undefined,
  from: undefined,
  to: undefined,
} satisfies Record<keyof Omit<CampaignsSearch, 'page' | 'after' | 'sortBy' | 'sortOrder'>, undefined>

/** The filters of the table of campaigns. */
export function CampaignFilters({ search, onSearch }: Props) {
  const { data: home } = useQuery(homeQuery())
  const onGroup = (group: CampaignsSearch['group']) => onSearch({ group })
  return (
    <ListFilters {...{ search, onSearch, onGroup, nothing, home }}>
      <Choices search={search} onSearch={onSearch} />
    </ListFilters>
  )
}

function Choices({ search: { decision, author }, onSearch }: Props) {
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
