import { useEffect } from 'react'

/**
 * The browser asks before it unloads the page: on a reload, when the tab is closed, or when Back leads to a page that was
 * loaded before the portal. The browser chooses the words of the question.
 */
export function useAskBeforeUnload(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isOn])
}
