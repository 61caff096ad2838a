import { Button, Group, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { Failure } from '../ui/states.tsx'
import { webhookTexts } from './texts.ts'

/**
 * A form in a dialog.
 *
 * @param props.rest errors that belong to none of the fields
 */
export function FormFrame(props: {
  action: string
  rest: unknown
  isPending: boolean
  onSubmit: () => void
  children: ReactNode
}) {
  const { action, rest, isPending, onSubmit, children } = props
  const texts = useTexts(webhookTexts)
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <Stack>
        {children}
        {rest ? <Failure error={rest} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => modals.closeAll()}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
