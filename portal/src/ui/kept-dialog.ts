import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'

/**
 * Opens a dialog for content that is shown only once. Only its own buttons close it: not Escape, not a click outside, and
 * not the browser's Back button (app/dialogs.tsx).
 */
export const openKeptDialog = (title: string, children: ReactNode): string =>
  modals.open({
    title,
    size: 'lg',
    closeOnClickOutside: false,
    closeOnEscape: false,
    withCloseButton: false,
    children,
  })
