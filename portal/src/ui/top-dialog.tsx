/**
 * A dialog above an open dialog. `modals` shows only its newest dialog, and its other dialogs lose what the person has
 * typed. The dialog of this module keeps the dialog below unchanged.
 */
import { getDefaultZIndex, Modal } from '@mantine/core'
import { type ReactNode, useSyncExternalStore } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'

type Content = {
  title: string
  children: ReactNode
  /** Called once, when the dialog is closed for any reason. */
  onClose: () => void
}

type State = { content: Content | null; isOpen: boolean }

let state: State = { content: null, isOpen: false }
const listeners = new Set<() => void>()

function set(next: State): void {
  state = next
  for (const listener of listeners) listener()
}

/** Opens the dialog. If it is already open, it is closed first. */
export function openTopDialog(content: Content): void {
  closeTopDialog()
  set({ content, isOpen: true })
}

export function closeTopDialog(): void {
  if (!state.isOpen) return
  const { content } = state
  // The content stays until the dialog has faded out.
  set({ content, isOpen: false })
  content?.onClose()
}

const useDialog = (): State =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )

/** Whether the dialog is open. Then Escape must not close the dialog below it. */
export const useIsTopDialogOpen = (): boolean => useDialog().isOpen

export function TopDialog() {
  const { content, isOpen } = useDialog()
  const { close } = useTexts(uiTexts)
  return (
    <Modal
      opened={isOpen}
      onClose={closeTopDialog}
      title={content?.title}
      centered
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': close }}
      zIndex={getDefaultZIndex('modal') + 2}
      onExitTransitionEnd={() => !state.isOpen && set({ content: null, isOpen: false })}
    >
      {content?.children}
    </Modal>
  )
}
