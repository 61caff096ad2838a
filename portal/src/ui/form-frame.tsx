import { Button, Group, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import type { FormEvent, ReactNode } from 'react'
import { isApiError, mayBeDone, noAnswer } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { Failure, MayBeDone } from './states.tsx'
import { uiTexts } from './texts.ts'

/**
 * The frame of a form in a dialog: its fields, errors that belong to no field, and the buttons.
 *
 * @param props.action the text of the main button
 * @param props.rest errors that belong to no field; null: there are none
 * @param props.notice what `useCreation` says. It replaces the message about a lost answer
 * @param props.lost what to say instead of an error after which the change may have been made all the same
 */
export function FormFrame(props: {
  action: string
  /** Skips this step of a guided flow. Without this function, the button closes the dialog. */
  onCancel?: (() => void) | undefined
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  rest: unknown
  notice?: ReactNode
  lost?: ReactNode
  isPending: boolean
  children: ReactNode
}) {
  const { action, onCancel, onSubmit, notice, lost, isPending, children } = props
  const rest = notice && isApiError(props.rest, noAnswer) ? null : props.rest
  const texts = useTexts(uiTexts)
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit(event)
      }}
    >
      <Stack gap="md">
        {children}
        {notice}
        {rest ? lost && mayBeDone(rest) ? <MayBeDone error={rest}>{lost}</MayBeDone> : <Failure error={rest} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel ?? (() => modals.closeAll())}>
            {onCancel ? texts.skip : texts.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
