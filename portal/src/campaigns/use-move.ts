/** What somebody does with a campaign at the push of a button. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback } from 'react'
import { useConfirm } from '../ui/confirm.tsx'
import { useNotify } from '../ui/notify.tsx'

export type Move = { ask(): Promise<void>; isPending: boolean }
export type Question = { title: string; text: ReactNode; action: string; isDangerous?: boolean; done: string }

/**
 * A move that asks, acts, tells, and reads the campaign again; after a failure too, since it may have been done by another.
 *
 * @param onSettled reads again what shows the campaign
 */
export function useMove(question: Question, act: () => Promise<unknown>, onSettled: () => Promise<void>): Move {
  const confirm = useConfirm()
  const notify = useNotify()
  const { mutate, isPending } = useMutation({
    mutationFn: act,
    onSuccess: () => notify.done(question.done),
    onError: notify.failed,
    onSettled,
  })
  return {
    isPending,
    async ask() {
      if (await confirm(question)) mutate()
    },
  }
}

/**
 * For after a change of a campaign: everything that shows it is read again.
 *
 * @param area the first word of the keys of the area's queries
 */
export function useCampaignChanged(area: 'merchant' | 'bank'): (cashbackId: string) => Promise<void> {
  const queryClient = useQueryClient()
  return useCallback(
    async cashbackId => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: [area] }),
        queryClient.invalidateQueries({ queryKey: ['campaigns', cashbackId] }),
      ])
    },
    [queryClient, area],
  )
}
