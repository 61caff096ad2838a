/** Actions behind buttons. Each asks for confirmation first. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useId, useRef } from 'react'
import { ifMatch } from '../../api/client.ts'
import { isApiError, noAnswer } from '../../api/errors.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { type Seen, useShowStale } from './stale.tsx'

export type Action = { ask(): Promise<void>; isPending: boolean }
export type Question = { title: string; text: ReactNode; action: string; isDangerous?: boolean; done: string }

/**
 * An action that asks for confirmation, acts, reports the result, and reads the data again. It also reads the data
 * after a failure, because somebody else may already have done the same.
 *
 * @param onSettled reads the affected data again
 */
export function useAction(question: Question, act: () => Promise<unknown>, onSettled: () => Promise<void>): Action {
  return useAsked<void>({ question, subject: undefined, act, onSettled })
}

/**
 * An action on the version of a campaign that the confirmation shows. If the campaign has changed meanwhile, the person
 * sees what changed.
 *
 * @param input.act receives the header with the version
 * @param input.isOffered whether the data that was last read allows the action
 */
export function useCampaignAction(input: {
  seen: Seen
  question: Question
  act: (header: ReturnType<typeof ifMatch>) => Promise<unknown>
  isOffered?: boolean
  onSettled: () => Promise<void>
}): Action {
  const { seen, question, act, isOffered, onSettled } = input
  const showStale = useShowStale()
  return useAsked<Seen>({
    question,
    subject: seen,
    act: ({ etag }) => act(ifMatch(etag)),
    onError: showStale,
    isOffered,
    onSettled,
  })
}

/** @param input.onError returns whether it has shown the error */
function useAsked<Subject>(input: {
  question: Question
  subject: Subject
  act: (subject: Subject) => Promise<unknown>
  onError?: (error: unknown, subject: Subject) => Promise<boolean>
  isOffered?: boolean | undefined
  onSettled: () => Promise<void>
}): Action {
  const { question, subject, act, onError, isOffered = true, onSettled } = input
  const confirm = useConfirm()
  const showLost = useLostAnswer(isOffered)
  const notify = useNotify()
  const { mutate, isPending } = useMutation({
    mutationFn: act,
    onSuccess: () => notify.done(question.done),
    onError: async (error, asked) => {
      if (isApiError(error, noAnswer)) showLost(error)
      else if (!(await onError?.(error, asked))) notify.failed(error)
    },
    onSettled,
  })
  return {
    isPending,
    async ask() {
      // Sends the version that the dialog shows, because a newer version may be loaded while the dialog is open.
      if (await confirm(question)) mutate(subject)
    },
  }
}

/**
 * Shows a notice about an action that got no answer. The platform may still have done the action. So the notice is
 * removed once the page has been read again and no longer offers the action.
 */
function useLostAnswer(isOffered: boolean): (error: unknown) => void {
  const id = useId()
  const { failedAs, hide } = useNotify()
  const shownAt = useRef<string | null>(null)
  useEffect(() => {
    if (!isOffered) hide(id)
  }, [isOffered, hide, id])
  // If the button disappears from its page, the platform has done the action, and the notice is removed. If the person
  // has left the page, the result is still unknown, so the notice stays.
  useEffect(() => () => void (shownAt.current === location.pathname && hide(id)), [hide, id])
  return useCallback(
    error => {
      shownAt.current = location.pathname
      failedAs(id, error)
    },
    [failedAs, id],
  )
}

/**
 * After a change of a campaign, reads again everything that shows this campaign.
 *
 * @param area the first word of the area's query keys
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
