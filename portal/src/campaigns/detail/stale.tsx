import { Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { Loaded } from '../../ui/states.tsx'
import { HistoryEntries } from '../history/campaign-history.tsx'
import { changeTexts } from '../history/change-texts.ts'
import { historyQuery } from '../queries.ts'
import type { Versioned } from '../types.ts'

/** The version of a campaign that the person sees. */
export type Seen = Versioned & {
  cashbackId: string
  updatedAt: string
  /** Banks whose names can be shown. */
  banks: readonly { id: string; name: string }[]
}

/** The changes of a campaign since the person read it, with old and new values. */
export function ChangesSince({ seen: { cashbackId, updatedAt, banks } }: { seen: Seen }) {
  const texts = useTexts(changeTexts)
  const query = useQuery({ ...historyQuery(cashbackId), staleTime: 0 })
  return (
    <Loaded query={query}>
      {entries => {
        const newer = entries.filter(({ at }) => at > updatedAt)
        return newer.length > 0 ? (
          <HistoryEntries entries={newer} banks={banks} />
        ) : (
          <Text size="sm">{texts.staleUnknown}</Text>
        )
      }}
    </Loaded>
  )
}

/**
 * Use this when the platform refuses a change with 412, because somebody else has changed the campaign meanwhile.
 *
 * @returns a function that shows what has changed. The caller must also read the campaign again
 */
export function useShowStale(): (seen: Seen) => void {
  const texts = useTexts(changeTexts)
  return useCallback(
    seen => {
      modals.openConfirmModal({
        title: texts.staleTitle,
        centered: true,
        children: (
          <Stack gap="md" data-stale>
            <Text>{texts.staleText}</Text>
            <ChangesSince seen={seen} />
            <Text>{texts.staleAgain}</Text>
          </Stack>
        ),
        labels: { confirm: texts.staleClose, cancel: '' },
        cancelProps: { display: 'none' },
        confirmProps: { 'data-autofocus': true },
      })
    },
    [texts],
  )
}
