import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime, Percent, Period } from '../../ui/values.tsx'
import { CampaignFilters } from '../parts/campaign-filters.tsx'
import { campaignsQuery } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { bankTexts } from '../texts.ts'
import type { ListedCampaign } from '../types.ts'

const route = getRouteApi('/signed-in/bank/campaigns/')

/** Every campaign in which the bank has a part: filtered, searched, sorted and paged in the address. */
export function CampaignsPage() {
  const { campaigns: texts } = useTexts(bankTexts)
  const { timeZone } = usePreferences()
  const mayChange = useMayChange()
  const search = route.useSearch()
  const setSearch = useSetSearch<CampaignsSearch>()
  const query = useQuery(campaignsQuery(search, timeZone))
  const { page: _, sortBy, sortOrder, ...filters } = search
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  const create = mayChange && <LinkButton to="/bank/campaigns/new">{texts.create}</LinkButton>
  return (
    <>
      <PageHeader title={texts.title} actions={create} />
      <CampaignFilters search={search} onSearch={setSearch} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={query.data?.data}
        rowKey={({ cashbackId }) => cashbackId}
        sorting={{ by: sortBy ?? 'createdAt', order: sortBy ? (sortOrder ?? 'ASC') : 'DESC' }}
        {...(query.data && { paging: query.data.pagination })}
        onSearch={change => setSearch(change as Partial<CampaignsSearch>)}
        empty={isFiltered ? <Empty title={texts.notFound} /> : <Empty title={texts.none} text={texts.noneText} />}
      />
    </>
  )
}

function useColumns(): Column<ListedCampaign>[] {
  const { campaigns: texts } = useTexts(bankTexts)
  return [
    {
      key: 'name',
      title: texts.name,
      sortBy: 'name',
      cell: ({ cashbackId, name }) => (
        <LinkAnchor to="/bank/campaigns/$cashbackId" params={{ cashbackId }} fw={600} c="inherit">
          {name}
        </LinkAnchor>
      ),
    },
    { key: 'merchant', title: texts.merchant, cell: ({ retailer }) => retailer.name },
    {
      key: 'status',
      title: texts.status,
      sortBy: 'status',
      cell: ({ status }) => <StatusBadge of="campaign" status={status} />,
    },
    {
      key: 'decision',
      title: texts.decision,
      cell: ({ bankStatus }) => <StatusBadge of="participation" status={bankStatus} />,
    },
    { key: 'period', title: texts.period, sortBy: 'dateFrom', cell: campaign => <Period {...campaign} /> },
    {
      key: 'percentage',
      title: texts.percentage,
      sortBy: 'percentage',
      align: 'right',
      cell: ({ percentage }) => <Percent value={percentage} />,
    },
    {
      key: 'created',
      title: texts.created,
      sortBy: 'createdAt',
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
      isMinor: true,
    },
  ]
}
