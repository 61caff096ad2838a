import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import classes from '../../campaigns/parts.module.css'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useShownPages } from '../../ui/data-table/use-shown-pages.ts'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { Count, DateTime, none } from '../../ui/values.tsx'
import { webhookTexts } from '../../webhooks/texts.ts'
import type { Attempt, Delivery } from '../../webhooks/types.ts'
import { type DeliveriesSearch, deliveryStates } from '../search.ts'
import { type DeliveriesParams, deliveriesQuery, useEventTypeNames } from '../webhook-queries.ts'

/** A table of deliveries, newest first, which grows by "show more". @param props.page how many pages to show */
export function Deliveries(props: {
  params: DeliveriesParams
  page: number | undefined
  onPage: (page: number) => void
  /** The text that is shown when there are no deliveries. */
  noneText: string
}) {
  const { params, page, onPage, noneText } = props
  const texts = useTexts(webhookTexts).deliveries
  const { timeZone } = usePreferences()
  const query = useInfiniteQuery(deliveriesQuery(params, timeZone))
  const shown = useShownPages(query, page, onPage)
  // For filters without a database index, a page may be short or empty although more deliveries follow.
  const isShort = shown.hasMore && (shown.rows?.length ?? 0) === 0
  return (
    <Stack gap="md">
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={shown.rows}
        rowKey={({ deliveryId }) => deliveryId}
        empty={<Empty title={texts.none} text={noneText} />}
      />
      {shown.hasMore && (
        <Group>
          <Button variant="default" loading={shown.isComing} onClick={shown.showMore}>
            {isShort ? texts.goOn : texts.more}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function useColumns(): Column<Delivery>[] {
  const texts = useTexts(webhookTexts).deliveries
  return [
    {
      key: 'type',
      title: texts.type,
      cell: ({ type, endpointId, deliveryId, replayId, sequence }) => (
        <Group gap="xs">
          <LinkAnchor to="/account/webhooks/$endpointId/$deliveryId" params={{ endpointId, deliveryId }} fw={600}>
            {type}
          </LinkAnchor>
          {sequence === 0 && <Badge color="gray">{texts.isTest}</Badge>}
          {replayId !== null && <Badge color="blue">{texts.isReplay}</Badge>}
        </Group>
      ),
    },
    { key: 'sequence', title: texts.sequence, cell: ({ sequence }) => <Sequence value={sequence} /> },
    { key: 'state', title: texts.state, cell: ({ state }) => <StatusBadge of="delivery" status={state} /> },
    { key: 'created', title: texts.created, cell: ({ createdAt }) => <DateTime at={createdAt} /> },
    {
      key: 'attempts',
      title: texts.attempts,
      align: 'right',
      cell: ({ attempts }) => <Count value={attempts.length} />,
      isMinor: true,
    },
    { key: 'answer', title: texts.answer, cell: ({ attempts }) => <Outcome attempt={attempts.at(-1)} /> },
  ]
}

/**
 * Shows the number of the event in the feed. The event of a test is not in the feed, so it has the number 0, shown as a
 * dash.
 */
export const Sequence = ({ value }: { value: number }) => (value === 0 ? <span>{none}</span> : <Count value={value} />)

/** The outcome of an attempt, with the HTTP status if there is one. */
export function Outcome({ attempt }: { attempt: Attempt | undefined }) {
  const { outcomes } = useTexts(webhookTexts)
  if (!attempt) return <span>{none}</span>
  const { outcome, statusCode } = attempt
  return (
    <Text component="span" size="sm" {...(outcome !== 'delivered' && { c: 'red' })}>
      {outcomes[outcome]}
      {statusCode !== null && `, ${statusCode}`}
    </Text>
  )
}

const nothing = { state: undefined, type: undefined, from: undefined, to: undefined }

/** The filters of the table of deliveries. */
export function DeliveryFilters(props: {
  search: DeliveriesSearch
  onSearch: (change: Partial<DeliveriesSearch>) => void
}) {
  const { search, onSearch } = props
  const texts = useTexts(webhookTexts).deliveries
  const states = useTexts(statusTexts).delivery
  const types = useEventTypeNames(useSession().typeAccount)
  const { state, type, from, to } = search
  const isFiltered = [state, type, from, to].some(value => value !== undefined)
  const names = [...new Set(['test.ping', ...types, ...(type ? [type] : [])])]
  return (
    <div className={classes.filters}>
      <NativeSelect
        aria-label={texts.state}
        data={[{ value: '', label: texts.anyState }, ...deliveryStates.map(value => ({ value, label: states[value] }))]}
        value={state ?? ''}
        onChange={({ currentTarget }) => onSearch({ state: deliveryStates.find(each => each === currentTarget.value) })}
      />
      <NativeSelect
        aria-label={texts.type}
        data={[{ value: '', label: texts.anyType }, ...names]}
        value={type ?? ''}
        onChange={({ currentTarget }) => onSearch({ type: currentTarget.value || undefined })}
      />
      <DaysFilter
        aria-label={texts.days}
        placeholder={texts.days}
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
  )
}
