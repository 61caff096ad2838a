import { Button, Group, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { type ReactNode, useCallback } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'
import { closeTopDialog, openTopDialog } from './top-dialog.tsx'

/** The second press of a double click must not open the question again. */
let isAsking = false

/**
 * Asks for confirmation before something that cannot be undone. The focus is on "Cancel"; Escape means no. Afterwards
 * the focus returns to where it was.
 *
 *     if (await confirm({ title: t.deleteTitle, text: t.deleteText, action: t.delete, isDangerous: true })) remove.mutate()
 *
 * @returns a function that returns whether the person agrees. It returns false while another question is open. `action`
 *   is the verb on the button, never "OK"
 */
export function useConfirm() {
  const texts = useTexts(uiTexts)
  return useCallback(
    ({
      title,
      text,
      action,
      isDangerous = false,
    }: {
      title: string
      text: ReactNode
      action: string
      isDangerous?: boolean
    }) =>
      new Promise<boolean>(resolve => {
        if (isAsking) return resolve(false)
        isAsking = true
        modals.openConfirmModal({
          title,
          centered: true,
          children: typeof text === 'string' ? <Text>{text}</Text> : text,
          labels: { confirm: action, cancel: texts.cancel },
          // The focus is on "Cancel", so pressing Enter without reading does nothing.
          cancelProps: { 'data-autofocus': true },
          confirmProps: { color: isDangerous ? 'red' : 'perk' },
          onConfirm: () => resolve(true),
          onClose: () => {
            isAsking = false
            resolve(false)
          },
        })
      }),
    [texts],
  )
}

/**
 * Like `useConfirm`, but also for forms in dialogs: the question opens above the dialog, which keeps what the person has
 * typed.
 */
export function useConfirmAbove() {
  const { cancel } = useTexts(uiTexts)
  return useCallback(
    ({ title, text, action }: { title: string; text: string; action: string }) =>
      new Promise<boolean>(resolve => {
        let agrees = false
        const agree = () => {
          agrees = true
          closeTopDialog()
        }
        openTopDialog({
          title,
          onClose: () => resolve(agrees),
          children: (
            <Stack>
              <Text>{text}</Text>
              <Group justify="flex-end">
                <Button variant="default" data-autofocus onClick={closeTopDialog}>
                  {cancel}
                </Button>
                <Button onClick={agree}>{action}</Button>
              </Group>
            </Stack>
          ),
        })
      }),
    [cancel],
  )
}
