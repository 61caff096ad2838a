import { NativeSelect } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import classes from '../../campaigns/parts.module.css'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { ShowMore } from '../../ui/data-table/show-more.tsx'
import { useShownPages } from '../../ui/data-table/use-shown-pages.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { OrderFinder } from '../../ui/order-finder.tsx'
import { orderStatuses } from '../../ui/orders.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { DateTime, Money } from '../../ui/values.tsx'
import { BankFilter } from '../components/bank-filter.tsx'
import { type Order, ordersQuery, searchByProfile } from '../queries.ts'
import type { OrdersSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/orders')

/** eSIM orders of all banks, the newest first. */
export function OrdersPage() {
  const { orders: texts } = useTexts(operatorTexts)
  const { timeZone } = usePreferences()
  const navigate = useNavigate()
  const { page, ...filters } = route.useSearch()
  const setSearch = useSetSearch<OrdersSearch>()
  const query = useInfiniteQuery(ordersQuery(filters, timeZone))
  const { rows, ...more } = useShownPages(query, page, next => setSearch({ page: next }))
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <OrderFinder
            search={searchByProfile}
            onOpen={orderId => void navigate({ to: '/operator/orders/$orderId', params: { orderId } })}
          />
        }
      />
      <Filters search={filters} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={rows}
        rowKey={({ orderId }) => orderId}
        empty={<Empty title={texts.none} />}
      />
      <ShowMore {...more}>{texts.more}</ShowMore>
    </>
  )
}

function Filters({ search }: { search: Omit<OrdersSearch, 'page'> }) {
  const { orders: texts } = useTexts(operatorTexts)
  const names = useTexts(statusTexts).order
  const setSearch = useSetSearch<OrdersSearch>()
  return (
    <div className={classes.filters} style={{ marginBlockEnd: 'var(--mantine-spacing-md)' }}>
      <SearchInput
        label={texts.search}
        value={search.externalId}
        onChange={externalId => setSearch({ externalId })}
        maxLength={128}
      />
      <BankFilter code={search.bank} onChoose={bank => setSearch({ bank })} />
      <NativeSelect
        aria-label={texts.status}
        data={[{ value: '', label: texts.all }, ...orderStatuses.map(value => ({ value, label: names[value] }))]}
        value={search.status ?? ''}
        onChange={({ currentTarget }) =>
          setSearch({ status: orderStatuses.find(status => status === currentTarget.value) })
        }
      />
      <DaysFilter
        aria-label={texts.days}
        placeholder={texts.days}
        isClearable
        value={[search.from ?? null, search.to ?? null]}
        onChange={([from, to]) => setSearch({ from: from ?? undefined, to: to ?? undefined })}
      />
    </div>
  )
}

function useColumns(): Column<Order>[] {
  const { orders: texts } = useTexts(operatorTexts)
  return [
    {
      key: 'externalId',
      title: texts.externalId,
      cell: ({ orderId, externalId }) => (
        <LinkAnchor to="/operator/orders/$orderId" params={{ orderId }} fw={600} c="inherit">
          {externalId}
        </LinkAnchor>
      ),
    },
    { key: 'bank', title: texts.bank, cell: ({ bank }) => bank.name },
    { key: 'tariff', title: texts.tariff, cell: ({ tariffName }) => tariffName },
    { key: 'status', title: texts.status, cell: ({ status }) => <StatusBadge of="order" status={status} /> },
    {
      key: 'price',
      title: texts.price,
      align: 'right',
      cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
    },
    { key: 'created', title: texts.created, cell: ({ createdAt }) => <DateTime at={createdAt} /> },
  ]
}
