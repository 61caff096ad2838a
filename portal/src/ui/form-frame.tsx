import { Button, Group, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import type { FormEvent, ReactNode } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { Failure } from './states.tsx'
import { uiTexts } from './texts.ts'

/**
 * The frame of a form in a dialog: its fields, errors that belong to no field, and the buttons.
 *
 * @param props.action the text of the main button
 * @param props.rest errors that belong to no field; null: there are none
 */
export function FormFrame(props: {
  action: string
  /** Skips this step of a guided flow. Without this function, the button closes the dialog. */
  onCancel?: (() => void) | undefined
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  rest: unknown
  isPending: boolean
  children: ReactNode
}) {
  const { action, onCancel, onSubmit, rest, isPending, children } = props
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
        {rest ? <Failure error={rest} /> : null}
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
