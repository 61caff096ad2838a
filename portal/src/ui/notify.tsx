/** Short notices at the edge of the page: something was done, or failed. */
import { Button, List, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { CancelledError } from '../api/errors.ts'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { errorText } from './error-text.ts'
import { NotLoaded } from './not-loaded.ts'
import { uiTexts } from './texts.ts'

/** Errors of a form belong at its fields (`useFieldErrors`); this is for everything else. */
export function useNotify() {
  const texts = useTexts(uiTexts)
  const { language } = usePreferences()
  return useMemo(() => {
    const closeButtonProps = { 'aria-label': texts.close }
    /** Shows a notice that stays until the person closes it. */
    const stay = (color: string, notice: { id?: string; title?: ReactNode; message: ReactNode }) => {
      const icon = <IconAlertTriangle size={18} />
      notifications.show({ ...notice, color, icon, autoClose: false, closeButtonProps })
    }
    const fail = (error: unknown, id?: string) => {
      if (error instanceof CancelledError) return
      const { title, text, details } = errorText(error, texts, language)
      const message =
        error instanceof NotLoaded ? (
          <Stack gap="xs" align="flex-start">
            {text}
            <Button size="xs" variant="default" onClick={() => location.reload()}>
              {texts.reload}
            </Button>
          </Stack>
        ) : details.length > 1 ? (
          <List size="sm">
            {details.map(detail => (
              <List.Item key={detail}>{detail}</List.Item>
            ))}
          </List>
        ) : (
          (details[0] ?? text)
        )
      stay('red', { ...(id !== undefined && { id }), title, message })
    }
    return {
      /** @param id the id of the notice. While a notice with this id is visible, no second one is shown */
      done(message: string, id?: string) {
        notifications.show({
          ...(id !== undefined && { id }),
          message,
          color: 'perk',
          icon: <IconCheck size={18} />,
          autoClose: 5000,
          closeButtonProps,
        })
      },
      failed: (error: unknown) => fail(error),
      /** @param id to hide the notice later */
      failedAs: (id: string, error: unknown) => fail(error, id),
      hide: (id: string) => void notifications.hide(id),
      /** Shows a warning, which stays until the person closes it. */
      warned: (message: string) => stay('orange', { message }),
      /** @param id to hide the warning later. While a notice with this id is visible, no second one is shown */
      warnedAs: (id: string, title: ReactNode, message: ReactNode) => stay('orange', { id, title, message }),
      /** Shows a refusal in words of the page, when these are clearer than the platform's message. */
      refused: (message: string) => stay('red', { message }),
    }
  }, [texts, language])
}
