import { Button, Stack } from '@mantine/core'
import {
  IconBuildingBank,
  IconCalendarEvent,
  IconCoins,
  IconFileSpreadsheet,
  IconPencil,
  type IconProps,
  IconSpeakerphone,
  IconUsers,
} from '@tabler/icons-react'
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { type Happening, Timeline } from '../../ui/timeline.tsx'
import { historyQuery } from '../queries.ts'
import { isSystem } from '../system-login.ts'
import type { HistoryEntry, HistoryPage } from '../types.ts'
import { FieldChanges } from './field-changes.tsx'
import { historyTexts } from './texts.ts'

type Named = { id: string; name: string }

/**
 * Who did what with a campaign, latest first.
 *
 * @param props.banks the banks whose names are known; any other bank is shown as "a bank"
 */
export function CampaignHistory({ cashbackId, banks }: { cashbackId: string; banks: readonly Named[] }) {
  return <HistoryPages query={useInfiniteQuery(historyQuery(cashbackId))} banks={banks} />
}

type HistoryPagesQuery = UseInfiniteQueryResult<InfiniteData<HistoryPage>>

/**
 * A history, latest first, with a button that shows older entries.
 *
 * @param props.since shows only entries that are later than this instant
 * @param props.none shown when there are no entries; default: a text
 */
export function HistoryPages(props: {
  query: HistoryPagesQuery
  banks: readonly Named[]
  since?: string
  none?: ReactNode
}) {
  const { query, banks, since = '', none } = props
  const texts = useTexts(historyTexts)
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const loaded = entriesOf(pages)
        const entries = loaded.filter(({ at }) => at > since)
        const hasMore = query.hasNextPage && entries.length === loaded.length
        return (
          <Stack gap="md" align="flex-start">
            {entries.length > 0 && <HistoryEntries entries={entries} banks={banks} />}
            {entries.length === 0 && !hasMore && (none ?? <Empty title={texts.none} />)}
            {hasMore && (
              <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                {texts.more}
              </Button>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** The entries of all pages, oldest first. The first page contains the newest entries. */
export const entriesOf = (pages: readonly HistoryPage[]): HistoryEntry[] =>
  pages.toReversed().flatMap(({ data }) => data)

function HistoryEntries({ entries, banks }: { entries: readonly HistoryEntry[]; banks: readonly Named[] }) {
  const describe = useDescribe(banks)
  return <Timeline happenings={entries.map(withoutRepeatedComment).map(describe).toReversed()} />
}

/**
 * If a bank's decision changes the whole campaign, the history has two entries with the same comment. This removes the
 * comment from the campaign's entry.
 */
function withoutRepeatedComment(entry: HistoryEntry, _: number, all: readonly HistoryEntry[]): HistoryEntry {
  const isShownWithDecision = ({ subject, at, comment }: HistoryEntry) =>
    subject === 'bank' && at === entry.at && comment === entry.comment
  return entry.subject === 'campaign' && all.some(isShownWithDecision) ? { ...entry, comment: null } : entry
}

function useDescribe(
  banks: readonly Named[],
): (entry: HistoryEntry, index: number, all: readonly HistoryEntry[]) => Happening {
  const texts = useTexts(historyTexts)
  const statuses = useTexts(statusTexts).campaign
  const format = useFormat()
  const nameOf = (id: string | null) => banks.find(bank => bank.id === id)?.name ?? texts.otherBank
  const textOf = (entry: HistoryEntry) => {
    const { changes, comment, subject, from, to } = entry
    if (changes !== null) return <FieldChanges changes={changes} banks={banks} />
    if (comment) return format.quoted(comment)
    const status = subject === 'campaign' ? (statuses as Record<string, string>)[to ?? ''] : undefined
    return status && from !== null ? texts.now(status) : null
  }
  return (entry, index, all) => {
    const Picture = pictureOf(entry)
    return {
      // Counts from the newest entry, so that the keys stay the same when older entries are added.
      key: String(all.length - index),
      at: entry.at,
      title: titleOf(entry, nameOf(entry.bankId), texts),
      by: byOf(entry, texts, nameOf),
      text: textOf(entry),
      icon: <Picture size={13} aria-hidden />,
    }
  }
}

type Texts = ReturnType<typeof useTexts<(typeof historyTexts)['en']>>

/** A transition that this version of the portal does not know gets a general text. */
function titleOf({ subject, trigger, changes }: HistoryEntry, bank: string, texts: Texts): string {
  if (subject === 'campaign') {
    const titles: Record<string, string> = texts.campaign
    return titles[trigger] ?? texts.campaign.other
  }
  const titles: Record<string, (bank: string) => string> = subject === 'bank' ? texts.participation : texts.reporting
  const isRemoved = trigger === 'segment' && changes?.customersCount?.[1] === null
  return (titles[isRemoved ? 'segmentRemoved' : trigger] ?? titles.other)?.(bank) ?? ''
}

function byOf({ actor }: HistoryEntry, texts: Texts, nameOf: (id: string | null) => string): string {
  if (actor.type === 'clock') return texts.clock
  const who =
    actor.type === 'bank'
      ? actor.id === null
        ? texts.otherBank
        : (actor.name ?? nameOf(actor.id))
      : actor.type === 'retailer'
        ? texts.merchant
        : texts.platform
  if (actor.login === null) return who
  return isSystem(actor.login) ? texts.bySystem(who) : texts.by(who, actor.login)
}

function pictureOf({ subject, trigger }: HistoryEntry): ComponentType<IconProps> {
  if (trigger === 'start' || trigger === 'end') return IconCalendarEvent
  if (trigger === 'edit') return IconPencil
  if (trigger === 'segment') return IconUsers
  if (trigger.includes('report')) return IconFileSpreadsheet
  if (['settle', 'pay', 'acknowledge'].includes(trigger)) return IconCoins
  return subject === 'campaign' ? IconSpeakerphone : IconBuildingBank
}
