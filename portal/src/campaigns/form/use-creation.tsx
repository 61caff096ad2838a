import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { CancelledError } from '../../api/errors.ts'
import { createsAnother, forgetCreations, mayBeCreated } from '../../api/once.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import { formTexts } from './form-texts.ts'

type Creation = {
  /**
   * Creates the campaign. If an earlier answer got lost and the content is another one now, it asks first, because the earlier
   * campaign may exist.
   *
   * @throws CancelledError when the person does not want another campaign
   */
  create<Created>(body: unknown, send: () => Promise<Created>): Promise<Created>
  /** Call it when the person starts over. */
  startOver(): void
  /** Says that the campaign may exist already; null: no answer got lost. */
  notice: ReactNode
}

/**
 * Creates a campaign, and deals with lost answers. A change of the content makes another request, which the platform cannot
 * recognize as a repetition.
 *
 * @param props.path where campaigns are created
 * @param props.isRestored whether the form shows a draft. Only then can an answer that got lost before a reload be about it
 * @param props.list a link to the list of campaigns
 */
export function useCreation(props: { path: string; isRestored: boolean; list: ReactNode }): Creation {
  const { path, isRestored, list } = props
  const { lostAnswer: texts } = useTexts(formTexts)
  const confirm = useConfirm()
  const [wasLost] = useState(() => mayBeCreated(path))
  const [isLostNow, setLost] = useState<boolean | null>(null)
  const isLost = isLostNow ?? (isRestored && wasLost)
  const ask = () => confirm({ title: texts.title, text: texts.question, action: texts.another })
  return {
    async create(body, send) {
      if (isLost && (await createsAnother(path, body)) && !(await ask())) throw new CancelledError()
      try {
        const created = await send()
        forgetCreations(path)
        return created
      } catch (error) {
        setLost(mayBeCreated(path))
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
