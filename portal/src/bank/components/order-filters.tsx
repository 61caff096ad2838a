import { Button, Checkbox, NativeSelect } from '@mantine/core'
import classes from '../../campaigns/parts.module.css'
import { useTexts } from '../../i18n/preferences.tsx'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { isOrderId, orderStatuses } from '../../ui/orders.ts'
import { SearchInput } from '../../ui/search-input.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { esimTexts } from '../esim-texts.ts'
import type { OrdersSearch } from '../search.ts'
import { TariffSelect } from './tariff-select.tsx'

type Props = { search: Omit<OrdersSearch, 'page'>; onSearch: (change: Partial<OrdersSearch>) => void }

const nothing = {
  externalId: undefined,
  exact: undefined,
  orderId: undefined,
  status: undefined,
  operator: undefined,
  tariff: undefined,
  from: undefined,
  to: undefined,
} satisfies Record<keyof Omit<OrdersSearch, 'page'>, undefined>

/** The filters of the table of orders. */
export function OrderFilters({ search, onSearch }: Props) {
  const { days, clear, orders: texts } = useTexts(esimTexts)
  const statuses = useTexts(statusTexts).order
  const { externalId, exact, orderId, status, from, to } = search
  const isFiltered = Object.values(search).some(value => value !== undefined)
  return (
    <div className={classes.filters} style={{ marginBlockEnd: 'var(--mantine-spacing-md)' }}>
      <SearchInput
        label={texts.externalId}
        maxLength={128}
        value={externalId}
        onChange={words => onSearch({ externalId: words })}
      />
      {externalId && (
        <Checkbox
          label={texts.exact}
          checked={exact === 'yes'}
          onChange={({ currentTarget }) => onSearch({ exact: currentTarget.checked ? 'yes' : undefined })}
        />
      )}
      <SearchInput
        label={texts.orderId}
        value={orderId}
        onChange={words => onSearch({ orderId: words })}
        error={orderId && !isOrderId(orderId) ? texts.wrongOrderId : null}
      />
      <NativeSelect
        aria-label={texts.status}
        data={[
          { value: '', label: texts.anyStatus },
          ...orderStatuses.map(value => ({ value, label: statuses[value] })),
        ]}
        value={status ?? ''}
        onChange={({ currentTarget }) => onSearch({ status: orderStatuses.find(each => each === currentTarget.value) })}
      />
      <TariffSelect value={search} onChange={onSearch} />
      <DaysFilter
        aria-label={days}
        placeholder={days}
        isClearable
        value={[from ?? null, to ?? null]}
        onChange={([first, last]) => onSearch({ from: first ?? undefined, to: last ?? undefined })}
      />
      {isFiltered && (
        <Button variant="subtle" onClick={() => onSearch(nothing)}>
          {clear}
        </Button>
      )}
    </div>
  )
}
