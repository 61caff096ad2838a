/** A secret that is shown this once: it is in the memory of a component and nowhere else. */
import { Alert, Button, CopyButton, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { isApiError, noAnswer } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { operatorTexts } from '../texts.ts'

export type Issued = { clientId: string; secret: string }

/** Whether the platform may have made the secret all the same: its answer, which alone holds the secret, got lost. */
export const mayBeMade = (error: unknown): boolean =>
  isApiError(error) && (error.status === noAnswer || error.status >= 500)

/**
 * Shows it in a dialog of its own until the person says that it is kept: a slip of the hand beside the dialog does not lose it.
 *
 * @param oldUntil when the secret before stops working
 */
export function showSecret(title: string, { clientId, secret }: Issued, oldUntil: string | null = null): void {
  modals.closeAll()
  modals.open({
    title,
    size: 'lg',
    closeOnClickOutside: false,
    closeOnEscape: false,
    withCloseButton: false,
    children: <Secret issued={{ clientId, secret }} oldUntil={oldUntil} onKept={() => modals.closeAll()} />,
  })
}

/** @param props.onKept the person says that the secret is kept */
export function Secret(props: { issued: Issued; oldUntil?: string | null; onKept: () => void }) {
  const { issued, oldUntil = null, onKept } = props
  const { clientId, secret } = issued
  const { access: texts } = useTexts(operatorTexts)
  const format = useFormat()
  return (
    <Stack gap="md">
      <Alert color="orange">
        {texts.secretText} {oldUntil && texts.secretUntil(format.dateTime(oldUntil))}
      </Alert>
      <TextInput label={texts.clientId} value={clientId} readOnly />
      <Textarea label={texts.secret} value={secret} readOnly autosize minRows={1} autoComplete="off" data-autofocus />
      <Group justify="flex-end">
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? texts.copied : texts.copy}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onKept}>{texts.done}</Button>
      </Group>
    </Stack>
  )
}
