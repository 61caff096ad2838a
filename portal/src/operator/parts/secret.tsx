/** A secret that is shown this once: it is in the dialog's memory and nowhere else. */
import { Alert, Button, CopyButton, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useTexts } from '../../i18n/preferences.tsx'
import { operatorTexts } from '../texts.ts'

type Issued = { clientId: string; secret: string }

/** Shows it until the person says that it is kept: a slip of the hand beside the dialog does not lose it. */
export function showSecret(title: string, issued: Issued): void {
  modals.open({
    title,
    size: 'lg',
    closeOnClickOutside: false,
    closeOnEscape: false,
    withCloseButton: false,
    children: <Secret {...issued} />,
  })
}

function Secret({ clientId, secret }: Issued) {
  const { access: texts } = useTexts(operatorTexts)
  return (
    <Stack gap="md">
      <Alert color="orange">{texts.secretText}</Alert>
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
        <Button onClick={() => modals.closeAll()}>{texts.done}</Button>
      </Group>
    </Stack>
  )
}
