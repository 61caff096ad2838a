import { Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { entriesOf, HistoryPages } from '../history/campaign-history.tsx'
import { changeTexts } from '../history/change-texts.ts'
import { historyQuery } from '../queries.ts'
import type { HistoryEntry, Versioned } from '../types.ts'

/** The version of a campaign that the person sees. */
export type Seen = Versioned & {
  cashbackId: string
  updatedAt: string
  /** Banks whose names can be shown. */
  banks: readonly { id: string; name: string }[]
}

/** The history of a campaign since the person read it. */
function useNewer({ cashbackId, updatedAt }: Seen) {
  const query = useInfiniteQuery({ ...historyQuery(cashbackId), staleTime: 0 })
  const newer = entriesOf(query.data?.pages ?? []).filter(({ at }) => at > updatedAt)
  return { query, isDeleted: hasDeletion(newer) }
}

/** Whether the campaign was deleted. The newest page of the history is enough, because a deletion is the last entry. */
const hasDeletion = (entries: readonly HistoryEntry[]): boolean =>
  entries.some(({ subject, trigger }) => subject === 'campaign' && trigger === 'delete')

/** The changes of a campaign since the person read it, with old and new values. */
export function ChangesSince({ seen }: { seen: Seen }) {
  const texts = useTexts(changeTexts)
  const { query } = useNewer(seen)
  const none = <Text size="sm">{texts.staleUnknown}</Text>
  return <HistoryPages query={query} banks={seen.banks} since={seen.updatedAt} none={none} />
}

/**
 * Use this when the platform refuses a change of a campaign.
 *
 * @returns a function that handles two errors: the campaign has changed since the person read it (412), or it was deleted. It shows
 *   what happened and returns true; the caller must then read the campaign again. For all other errors it returns false
 */
export function useShowStale(): (error: unknown, seen: Seen) => Promise<boolean> {
  const queryClient = useQueryClient()
  const show = useShowChanges()
  return useCallback(
    async (error, seen) => {
      const isStale = isApiError(error, 412)
      if (!isStale) {
        // For some changes the platform checks the status first, so it refuses them with 400 after a deletion.
        if (!isApiError(error, 400) || error.code !== 'campaign-state') return false
        const query = { ...historyQuery(seen.cashbackId), staleTime: 0 }
        const { pages } = await queryClient.fetchInfiniteQuery(query).catch(() => ({ pages: [] }))
        if (!hasDeletion(entriesOf(pages))) return false
      }
      show(seen)
      return true
    },
    [queryClient, show],
  )
}

function useShowChanges(): (seen: Seen) => void {
  const texts = useTexts(changeTexts)
  return useCallback(
    seen => {
      modals.openConfirmModal({
        title: <StaleTitle seen={seen} />,
        centered: true,
        children: <Stale seen={seen} />,
        labels: { confirm: texts.staleClose, cancel: '' },
        cancelProps: { display: 'none' },
        confirmProps: { 'data-autofocus': true },
      })
    },
    [texts],
  )
}

function StaleTitle({ seen }: { seen: Seen }) {
  const texts = useTexts(changeTexts)
  return useNewer(seen).isDeleted ? texts.deletedTitle : texts.staleTitle
}

function Stale({ seen }: { seen: Seen }) {
  const texts = useTexts(changeTexts)
  const { isDeleted } = useNewer(seen)
  return (
    <Stack gap="md" data-stale>
      <Text>{isDeleted ? texts.deletedText : texts.staleText}</Text>
      <ChangesSince seen={seen} />
      {!isDeleted && <Text>{texts.staleAgain}</Text>}
    </Stack>
  )
}
