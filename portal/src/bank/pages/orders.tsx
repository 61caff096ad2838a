import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useShownPages } from '../../ui/data-table/use-shown-pages.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { OrderFinder } from '../../ui/order-finder.tsx'
import { isOrderId } from '../../ui/orders.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime, Money, none } from '../../ui/values.tsx'
import { OrderFilters } from '../components/order-filters.tsx'
import { SaveOrders } from '../components/save-orders.tsx'
import { esimTexts } from '../esim-texts.ts'
import { ordersParams, ordersQuery, searchByProfile } from '../queries.ts'
import type { OrdersSearch } from '../search.ts'
import { useOperatorName } from '../tariff-names.ts'
import type { Order } from '../types.ts'

const route = getRouteApi('/signed-in/bank/esim/orders')

/** The bank's eSIM orders that match the filters in the address, without the secrets that install a profile. */
export function OrdersPage() {
  const { orders: texts } = useTexts(esimTexts)
  const { timeZone } = usePreferences()
  const navigate = useNavigate()
  const search = route.useSearch()
  const setSearch = useSetSearch<OrdersSearch>()
  const { page, ...filters } = search
  const { orderId, ...others } = filters
  // An invalid order id is reported at its field, while the other filters still work.
  const validFilters = orderId && !isOrderId(orderId) ? others : filters
  const query = useInfiniteQuery(ordersQuery(validFilters, timeZone))
  const { rows, hasMore, isComing, showMore } = useShownPages(query, page, next => setSearch({ page: next }))
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <Group gap="sm">
            <OrderFinder
              search={searchByProfile}
              onOpen={found => void navigate({ to: '/bank/esim/orders/$orderId', params: { orderId: found } })}
            />
            <SaveOrders params={ordersParams(validFilters, timeZone)} isDisabled={rows?.length === 0} />
          </Group>
        }
      />
      <OrderFilters search={filters} onSearch={setSearch} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={rows}
        rowKey={order => order.orderId}
        empty={
          isFiltered ? (
            <Empty title={texts.notFound} text={texts.notFoundText} />
          ) : (
            <Empty title={texts.none} text={texts.noneText} />
          )
        }
      />
      {rows && rows.length > 0 && (
        <Group justify="space-between" mt="md" gap="sm">
          <Text size="sm" c="dimmed">
            {hasMore ? texts.shown(rows.length) : texts.all(rows.length)}
          </Text>
          {hasMore && (
            <Button variant="default" loading={isComing} onClick={showMore}>
              {texts.more}
            </Button>
          )}
        </Group>
      )}
    </>
  )
}

function useColumns(): Column<Order>[] {
  const { tariff, orders: texts } = useTexts(esimTexts)
  const operatorName = useOperatorName()
  return [
    { key: 'order', title: texts.order, cell: order => <OrderName order={order} /> },
    {
      key: 'tariff',
      title: tariff,
      cell: ({ tariffName, operatorCode }) => (
        <>
          {tariffName}
          <Text size="sm" c="dimmed">
            {operatorName(operatorCode)}
          </Text>
        </>
      ),
    },
    { key: 'status', title: texts.status, cell: order => <OrderState order={order} /> },
    { key: 'number', title: texts.subscriber, cell: ({ msisdn }) => <span className="figure">{msisdn ?? none}</span> },
    {
      key: 'price',
      title: texts.price,
      align: 'right',
      cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
    },
    { key: 'made', title: texts.made, cell: ({ createdAt }) => <DateTime at={createdAt} /> },
    { key: 'ended', title: texts.ended, cell: order => <OrderEnd order={order} /> },
  ]
}

function OrderName({ order: { externalId, orderId } }: { order: Order }) {
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <LinkAnchor to="/bank/esim/orders/$orderId" params={{ orderId }} fw={600} c="inherit">
        {externalId}
      </LinkAnchor>
      <Text size="xs" c="dimmed">
        {orderId}
      </Text>
    </div>
  )
}

function OrderState({ order: { status, emailDelivery } }: { order: Order }) {
  const { mail } = useTexts(esimTexts).orders
  const trouble = emailDelivery === 'unknown' || emailDelivery === 'failed' ? mail[emailDelivery] : null
  return (
    <>
      <StatusBadge of="order" status={status} />
      {trouble && (
        <Text size="sm" c="var(--mantine-color-error)">
          {trouble}
        </Text>
      )}
    </>
  )
}

function OrderEnd({ order }: { order: Order }) {
  const { orders: texts } = useTexts(esimTexts)
  const { format } = usePreferences()
  const { status, reservedUntil, confirmedAt, cancelledAt } = order
  if (status === 'reserved') return texts.until(format.time(reservedUntil))
  return <DateTime at={confirmedAt ?? cancelledAt ?? reservedUntil} />
}
