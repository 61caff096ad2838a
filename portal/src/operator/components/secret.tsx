/** Shows a secret once. It exists only in the memory of a component. */
import { Alert, Button, CopyButton, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { openKeptDialog } from '../../ui/kept-dialog.ts'
import { uiTexts } from '../../ui/texts.ts'
import { operatorTexts } from '../texts.ts'

export type Issued = { clientId: string; secret: string }

/**
 * Shows a secret in a dialog until the person confirms that it is stored.
 *
 * @param oldUntil the instant at which the previous secret stops working; null: there is none
 */
export function showSecret(title: string, { clientId, secret }: Issued, oldUntil: string | null = null): void {
  modals.closeAll()
  openKeptDialog(title, <Secret issued={{ clientId, secret }} oldUntil={oldUntil} onKept={() => modals.closeAll()} />)
}

/** @param props.onKept called when the person confirms that the secret is stored */
export function Secret(props: { issued: Issued; oldUntil?: string | null; onKept: () => void }) {
  const { issued, oldUntil = null, onKept } = props
  const { clientId, secret } = issued
  const { access: texts } = useTexts(operatorTexts)
  const { kept } = useTexts(uiTexts)
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
        <Button onClick={onKept}>{kept}</Button>
      </Group>
    </Stack>
  )
}
