/** Shows texts once: a link, a secret, recovery codes. They exist only in the memory of a component. */
import { Alert, Button, CopyButton, Group, Stack, Textarea } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useTexts } from '../i18n/preferences.tsx'
import { openKeptDialog } from './kept-dialog.ts'
import { uiTexts } from './texts.ts'

/** Shows texts in a dialog until the person confirms that they are stored. */
export function showOnce(title: string, hint: string, fields: { label: string; value: string }[]): void {
  modals.closeAll()
  openKeptDialog(title, <OnceShown hint={hint} fields={fields} onKept={() => modals.closeAll()} />)
}

/** @param props.onKept called when the person confirms that the texts are stored */
export function OnceShown(props: { hint: string; fields: { label: string; value: string }[]; onKept: () => void }) {
  const { hint, fields, onKept } = props
  const texts = useTexts(uiTexts)
  return (
    <Stack gap="md">
      <Alert color="orange">{hint}</Alert>
      {fields.map(({ label, value }) => (
        <Textarea key={label} label={label} value={value} readOnly autosize minRows={1} autoComplete="off" />
      ))}
      <Group justify="flex-end">
        <CopyButton value={fields.at(-1)?.value ?? ''}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? texts.copied : texts.copy}
            </Button>
          )}
        </CopyButton>
        <Button data-autofocus onClick={onKept}>
          {texts.kept}
        </Button>
      </Group>
    </Stack>
  )
}
