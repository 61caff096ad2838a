import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import classes from '../../campaigns/parts.module.css'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, DateTime } from '../../ui/values.tsx'
import { eventTexts } from '../../webhooks/event-texts.ts'
import { webhookTexts } from '../../webhooks/texts.ts'
import { typeOptions } from '../../webhooks/type-choice.tsx'
import type { FeedEvent } from '../../webhooks/types.ts'
import { feedQuery } from '../event-queries.ts'
import type { EventsSearch } from '../search.ts'
import { useEventTypeNames } from '../webhook-queries.ts'

const route = getRouteApi('/signed-in/account/events')

/** The account's feed of events, newest first. */
export function EventsPage() {
  const texts = useTexts(eventTexts)
  const format = useFormat()
  const { type } = route.useSearch()
  const query = useInfiniteQuery(feedQuery(type))
  const last = query.data?.pages.at(-1)
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <Button variant="default" loading={query.isRefetching} onClick={() => void query.refetch()}>
            {texts.refresh}
          </Button>
        }
      />
      <Stack gap="md">
        <Filter type={type} />
        <DataTable
          label={texts.title}
          columns={useColumns()}
          query={query}
          rows={query.data?.pages.flatMap(page => page.data)}
          rowKey={({ id }) => id}
          empty={<Empty title={texts.none} text={texts.noneText} />}
        />
        {query.hasNextPage && last && (
          <Group>
            <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              {texts.more}
            </Button>
            <Text size="sm" c="dimmed">
              {texts.lookedTo(format.number(last.lookedTo))}
            </Text>
          </Group>
        )}
      </Stack>
    </>
  )
}

function Filter({ type }: EventsSearch) {
  const texts = useTexts(eventTexts)
  const { fields } = useTexts(webhookTexts)
  const setSearch = useSetSearch<EventsSearch>()
  const known = typeOptions(useEventTypeNames(useSession().typeAccount), fields.group)
  const isOther = type !== undefined && !known.some(({ value }) => value === type)
  return (
    <div className={classes.filters}>
      <NativeSelect
        aria-label={texts.type}
        data={[{ value: '', label: texts.anyType }, ...known, ...(isOther ? [type] : [])]}
        value={type ?? ''}
        onChange={({ currentTarget }) => setSearch({ type: currentTarget.value || undefined })}
      />
    </div>
  )
}

function useColumns(): Column<FeedEvent>[] {
  const texts = useTexts(eventTexts)
  return [
    {
      key: 'type',
      title: texts.type,
      cell: ({ id, type }) => (
        <LinkAnchor to="/account/events/$eventId" params={{ eventId: id }} fw={600} c="inherit">
          {type}
        </LinkAnchor>
      ),
    },
    { key: 'sequence', title: texts.sequence, cell: ({ sequence }) => <Count value={sequence} /> },
    { key: 'at', title: texts.at, cell: ({ timestamp }) => <DateTime at={timestamp} /> },
    {
      key: 'data',
      title: texts.data,
      isMinor: true,
      cell: ({ data }) => (
        <Text size="sm" c="dimmed" ff="monospace" truncate maw="60ch">
          {JSON.stringify(data)}
        </Text>
      ),
    },
  ]
}
