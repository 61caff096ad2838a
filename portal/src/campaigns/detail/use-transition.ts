/** What somebody does with a campaign at the push of a button. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback } from 'react'
import { ifMatch } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { type Seen, useTellStale } from './stale.tsx'

export type Move = { ask(): Promise<void>; isPending: boolean }
export type Question = { title: string; text: ReactNode; action: string; isDangerous?: boolean; done: string }

/**
 * A move that asks, acts, tells, and reads again; after a failure too, since it may have been done by another.
 *
 * @param onSettled reads again what shows the change
 */
export function useMove(question: Question, act: () => Promise<unknown>, onSettled: () => Promise<void>): Move {
  return useAsked<void>({ question, subject: undefined, act, onSettled })
}

/**
 * A move of a campaign, meant for the version whose figures the question shows: when the campaign is another by then, the person is
 * told what has changed.
 *
 * @param given.act is handed the header that names the version
 */
export function useCampaignMove(given: {
  seen: Seen
  question: Question
  act: (header: ReturnType<typeof ifMatch>) => Promise<unknown>
  onSettled: () => Promise<void>
}): Move {
  const { seen, question, act, onSettled } = given
  const tellStale = useTellStale()
  const onError = (error: unknown, asked: Seen) => {
    if (!isApiError(error, 412)) return false
    tellStale(asked)
    return true
  }
  return useAsked<Seen>({ question, subject: seen, act: ({ etag }) => act(ifMatch(etag)), onError, onSettled })
}

/** @param given.onError gives whether it has told of the error */
function useAsked<Subject>(given: {
  question: Question
  subject: Subject
  act: (subject: Subject) => Promise<unknown>
  onError?: (error: unknown, subject: Subject) => boolean
  onSettled: () => Promise<void>
}): Move {
  const { question, subject, act, onError, onSettled } = given
  const confirm = useConfirm()
  const notify = useNotify()
  const { mutate, isPending } = useMutation({
    mutationFn: act,
    onSuccess: () => notify.done(question.done),
    onError: (error, asked) => {
      if (!onError?.(error, asked)) notify.failed(error)
    },
    onSettled,
  })
  return {
    isPending,
    async ask() {
      // With the subject of the question: a newer one may be read while the question is open.
      if (await confirm(question)) mutate(subject)
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
