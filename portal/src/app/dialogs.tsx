import { useModals } from '@mantine/modals'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { closeTopDialog } from '../ui/top-dialog.tsx'

/**
 * Closes the open dialogs when their page is left, for example with the browser's Back button. Dialogs are not part of
 * the page, so they would stay and act on something that is no longer visible. A dialog without a close button stays
 * (ui/kept-dialog.ts).
 */
export function DialogsOfPage() {
  const { modals, closeModal } = useModals()
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onBeforeLoad', ({ pathChanged }) => {
        if (!pathChanged) return
        closeTopDialog()
        for (const { id, props } of modals) if (props.withCloseButton !== false) closeModal(id)
      }),
    [router, modals, closeModal],
  )
  return null
}
