import { Alert, Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconHistory } from '@tabler/icons-react'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from '../ui/texts.ts'
import type { Draft } from './draft.ts'

/**
 * Says that a form was filled in from a draft, and offers to start over. Or says that the browser cannot store drafts.
 */
export function DraftNotice({ draft, onDiscard }: { draft: Draft<unknown>; onDiscard: () => void }) {
  const texts = useTexts(uiTexts)
  const format = useFormat()
  if (draft.hasFailed)
    return (
      <Alert color="orange" icon={<IconAlertTriangle />} title={texts.draft.failed} role="alert">
        {texts.draft.failedText}
      </Alert>
    )
  if (!draft.restored) return null
  return (
    <Alert color="blue" icon={<IconHistory />}>
      <Group justify="space-between" gap="sm">
        <Text size="sm">{texts.draft.restored(format.dateTime(draft.restored.at))}</Text>
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            draft.discard()
            onDiscard()
          }}
        >
          {texts.draft.discard}
        </Button>
      </Group>
    </Alert>
  )
}
