import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { endSession } from '../api/session-end.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { endOnPlatform } from '../session/session.ts'
import { useNotify } from '../ui/notify.tsx'
import { uiTexts } from '../ui/texts.ts'
import { closeTopDialog } from '../ui/top-dialog.tsx'
import { logInAgainTexts } from './log-in-again-texts.ts'

/**
 * Asks before a new login in a session that has not ended yet. It also ends this session, so that the login page does
 * not leave it open. Drafts stay, as at the end of a session.
 */
export function LogInAgain({ action }: { action: string }) {
  const { lost } = useTexts(logInAgainTexts)
  const { cancel } = useTexts(uiTexts)
  const notify = useNotify()
  const end = useMutation({
    mutationFn: () => endOnPlatform(),
    onSuccess: endSession,
    onError: notify.failed,
  })
  return (
    <Stack>
      <Text>{lost}</Text>
      <Group justify="flex-end">
        {/* The focus is on "Cancel", so pressing Enter without reading does nothing. */}
        <Button variant="default" data-autofocus onClick={closeTopDialog}>
          {cancel}
        </Button>
        <Button color="red" loading={end.isPending} onClick={() => end.mutate()}>
          {action}
        </Button>
      </Group>
    </Stack>
  )
}
