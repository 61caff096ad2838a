import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { statusNames } from '../../campaigns/list/campaign-groups.ts'
import classes from '../../campaigns/parts.module.css'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { DateTime, Period } from '../../ui/values.tsx'
import { type Campaign, campaignsQuery } from '../queries.ts'
import type { CampaignsSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/campaigns')

/** Campaigns of all merchants. */
export function CampaignsPage() {
  const { campaigns: texts } = useTexts(operatorTexts)
  const names = useTexts(statusTexts).campaign
  const search = route.useSearch()
  const setSearch = useSetSearch<CampaignsSearch>()
  const query = useQuery(campaignsQuery(search))
  return (
    <>
      <PageHeader title={texts.title} />
      <div className={classes.filters} style={{ marginBlockEnd: 'var(--mantine-spacing-md)' }}>
        <SearchInput label={texts.search} value={search.search} onChange={words => setSearch({ search: words })} />
        <NativeSelect
          aria-label={texts.status}
          data={[{ value: '', label: texts.all }, ...statusNames.map(value => ({ value, label: names[value] }))]}
          value={search.status ?? ''}
          onChange={({ currentTarget }) =>
            setSearch({ status: statusNames.find(status => status === currentTarget.value) })
          }
        />
      </div>
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={query.data?.data}
        rowKey={({ cashbackId }) => cashbackId}
        {...(query.data && { paging: query.data.pagination })}
        after={search.after}
        onSearch={change => setSearch(change as Partial<CampaignsSearch>)}
        empty={<Empty title={texts.none} />}
      />
    </>
  )
}

function useColumns(): Column<Campaign>[] {
  const { campaigns: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const names = useNames()
  return [
    {
      key: 'name',
      title: texts.name,
      cell: ({ cashbackId, name }) => (
        <LinkAnchor to="/operator/campaigns/$cashbackId" params={{ cashbackId }} fw={600} c="inherit">
          {name}
        </LinkAnchor>
      ),
    },
    { key: 'merchant', title: texts.merchant, cell: ({ retailer }) => names.of(retailer) },
    { key: 'status', title: texts.status, cell: ({ status }) => <StatusBadge of="campaign" status={status} /> },
    { key: 'period', title: texts.period, cell: campaign => <Period {...campaign} /> },
    {
      key: 'banks',
      title: texts.banks,
      cell: ({ banksApproved, banksInvited }) =>
        texts.takePart(format.number(banksApproved), format.number(banksInvited)),
    },
    {
      // The platform lists the campaigns by this instant, the newest first.
      key: 'changed',
      title: texts.changed,
      cell: ({ updatedAt }) => <DateTime at={updatedAt} />,
    },
  ]
}
