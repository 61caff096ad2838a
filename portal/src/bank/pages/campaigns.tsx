import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { fromList } from '../../campaigns/list/back-to-list.ts'
import { CampaignsList, useCampaignColumns } from '../../campaigns/list/campaigns-list.tsx'
import { listTexts } from '../../campaigns/list/texts.ts'
import { useNames, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { usePageSize } from '../../ui/data-table/page-size.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { CampaignFilters } from '../components/campaign-filters.tsx'
import { campaignsQuery, exportParams } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { bankTexts } from '../texts.ts'
import type { ListedCampaign } from '../types.ts'

const route = getRouteApi('/signed-in/bank/campaigns/')

/** All campaigns to which the bank is invited. Filters, search, sorting and page are in the address. */
export function CampaignsPage() {
  const { campaigns: texts } = useTexts(bankTexts)
  const { none } = useTexts(listTexts)
  const { timeZone } = usePreferences()
  const mayChange = useMayChange()
  const search = route.useSearch()
  const setSearch = useSetSearch<CampaignsSearch>()
  const [pageSize] = usePageSize()
  const query = useQuery(campaignsQuery(search, timeZone, pageSize))
  const create = mayChange && <LinkButton to="/bank/campaigns/new">{texts.create}</LinkButton>
  return (
    <CampaignsList
      query={query}
      columns={useColumns(search)}
      search={search}
      onSearch={change => setSearch(change as Partial<CampaignsSearch>)}
      filters={<CampaignFilters search={search} onSearch={setSearch} />}
      exported={exportParams(search, timeZone)}
      actions={create}
      empty={{ title: none, text: texts.noneText }}
    />
  )
}

function useColumns(search: CampaignsSearch): Column<ListedCampaign>[] {
  const { campaigns: texts } = useTexts(bankTexts)
  const { name: title } = useTexts(listTexts)
  const names = useNames()
  const { status, period, percentage, created } = useCampaignColumns<ListedCampaign>()
  return [
    {
      key: 'name',
      title,
      sortBy: 'name',
      cell: ({ cashbackId, name, retailer }) => (
        <>
          <LinkAnchor
            to="/bank/campaigns/$cashbackId"
            params={{ cashbackId }}
            state={fromList(search)}
            fw={600}
            c="inherit"
          >
            {name}
          </LinkAnchor>
          <Text size="sm" c="dimmed">
            {names.of(retailer)}
          </Text>
        </>
      ),
    },
    status,
    {
      key: 'decision',
      title: texts.decision,
      cell: ({ bankStatus }) => <StatusBadge of="participation" status={bankStatus} />,
    },
    period,
    percentage,
    created,
  ]
}
