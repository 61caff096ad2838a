/** Forms that create something: what happens after a lost answer. */
import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { addressOf } from '../api/client.ts'
import { CancelledError, mayBeDone } from '../api/errors.ts'
import { createsAnother, forgetCreations, mayBeCreated } from '../api/once.ts'
import { useConfirmAbove } from './confirm.tsx'

/** What to say after a lost answer. */
export type LostAnswerTexts = {
  /** The thing may have been created already. */
  title: string
  /** Look at the list first; the same content creates nothing twice. */
  text: string
  /** Asked before other content is sent. */
  question: string
  /** The button that sends it all the same. */
  another: string
}

type Creation = {
  /**
   * Creates the thing. If an earlier answer got lost and the content is another one now, it asks first, because the earlier
   * thing may exist.
   *
   * @throws CancelledError when the person does not want another one
   */
  create<Created>(body: unknown, send: () => Promise<Created>): Promise<Created>
  /** Call it when the person starts over. */
  startOver(): void
  /** Says that the thing may exist already; null: no answer got lost. */
  notice: ReactNode
}

/**
 * Creates what a form describes, and deals with lost answers. A change of the content makes another request, which the
 * platform cannot recognize as a repetition.
 *
 * @param props.path where it is created, one of the `lists` of `api/once.ts`
 * @param props.query the parameters of the request
 * @param props.isRestored whether the form shows a draft. Only then can an answer that got lost before a reload be about it
 * @param props.list a link to the list of what was created. Dialogs have none, because the list is below them
 */
export function useCreation(props: {
  path: string
  query?: Record<string, string>
  isRestored?: boolean
  texts: LostAnswerTexts
  list?: ReactNode
}): Creation {
  const { path, query = {}, isRestored = false, texts, list } = props
  const confirm = useConfirmAbove()
  const [wasLost] = useState(() => mayBeCreated(path))
  const [isLostNow, setLost] = useState<boolean | null>(null)
  const isLost = isLostNow ?? (isRestored && wasLost)
  const ask = () => confirm({ title: texts.title, text: texts.question, action: texts.another })
  return {
    async create(body, send) {
      if (isLost && (await createsAnother(addressOf(path, query), body)) && !(await ask())) throw new CancelledError()
      try {
        const created = await send()
        // Without a notice, the person has not heard of lost answers of other forms.
        if (isLost) forgetCreations(path)
        return created
      } catch (error) {
        setLost((isLost || mayBeDone(error)) && mayBeCreated(path))
        throw error
      }
    },
    startOver: () => setLost(false),
    notice: isLost ? (
      <Alert color="orange" icon={<IconAlertTriangle />} title={texts.title}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{texts.text}</Text>
          {list}
        </Stack>
      </Alert>
    ) : null,
  }
}
